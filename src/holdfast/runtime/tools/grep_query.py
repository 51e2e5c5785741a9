"""What is searched for and what is found, whichever program searches."""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.runtime.tool import ToolFailure

SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Query:
    pattern: str
    literal: bool = False
    ignore_case: bool = False
    context: int = 0
    include: str = ""
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    path: str
    """Relative to where the search began; empty when that is the file itself."""
    number: int
    text: str
    matched: bool = True


@dataclass(slots=True)
class Found:
    lines: list[Line] = field(default_factory=list)
    more: bool = False
    """There were further matches."""
    late: bool = False
    """The search did not come to its end."""

    def by_file(self) -> dict[str, list[Line]]:
        files: dict[str, list[Line]] = {}
        for line in self.lines:
            files.setdefault(line.path, []).append(line)
        return files


def bad_pattern(pattern: str, said: str) -> ToolFailure:
    return ToolFailure(
        f"The pattern {pattern!r} is no regular expression that can be searched for: {said.strip()}. "
        "Escape special characters with a backslash, or set `literal` to true."
    )
