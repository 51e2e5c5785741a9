"""What is wrong with a configuration, as one line each: `file:line:column: key: what was expected, what was found`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    source: str
    """The file, or the name of the option or variable that brought the value."""
    message: str
    key: str = ""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = self.source + "".join(f":{number}" for number in (self.line, self.column) if number is not None)
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


class ConfigError(Exception):
    """A configuration that must not be used; nothing was written."""

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
