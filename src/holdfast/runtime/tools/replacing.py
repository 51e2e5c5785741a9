"""Exact replacement in a text, for `edit` and `multiedit`. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.runtime.tool import ToolFailure

_MOST_PLACES = 8


@dataclass(frozen=True, slots=True)
class Replacement:
    old: str
    new: str
    every: bool = False


def replaced(content: str, wanted: Replacement, where: str) -> tuple[str, int]:
    """The text after the replacement, and how often it was made; `where` names it in a failure."""
    if not wanted.old:
        raise ToolFailure(f"{where}: old_string is empty. Quote the text to replace; use `write` for a new file.")
    if wanted.old == wanted.new:
        raise ToolFailure(f"{where}: old_string and new_string are the same, so there is nothing to change.")
    count = content.count(wanted.old)
    if count == 0:
        raise ToolFailure(f"{where}: old_string was not found. {_nearest(content, wanted.old)}")
    if count > 1 and not wanted.every:
        raise ToolFailure(
            f"{where}: old_string occurs {count} times, at lines {_lines_of(content, wanted.old)}. "
            "Quote more of the text around it so that it is unique, or set replace_all to true."
        )
    return content.replace(wanted.old, wanted.new), count


def _lines_of(content: str, old: str) -> str:
    lines: list[str] = []
    start = content.find(old)
    while start >= 0 and len(lines) < _MOST_PLACES:
        lines.append(str(content.count("\n", 0, start) + 1))
        start = content.find(old, start + len(old))
    return ", ".join(lines) + (", ..." if start >= 0 else "")


def _nearest(content: str, old: str) -> str:
    """Where the text stands but for its blanks, which is the usual mistake."""
    words = old.split()
    if words:
        loose = re.compile(r"\s+".join(re.escape(word) for word in words[:200]))
        found = loose.search(content)
        if found is not None:
            line = content.count("\n", 0, found.start()) + 1
            return f"At line {line} it stands with other blanks or line ends: `read` it and quote it exactly."
    first = next((line.strip() for line in old.splitlines() if line.strip()), "")
    if first and first in content:
        line = content.count("\n", 0, content.find(first)) + 1
        return f"Its first line stands at line {line}, but what follows differs: `read` it and quote it exactly."
    return "`read` the file again and quote the text exactly as it is, without line numbers."
