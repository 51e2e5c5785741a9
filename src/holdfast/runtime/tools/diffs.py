"""A change as people and models read it: a unified diff, in bounded time whatever the size."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from holdfast.runtime.tools.texts import decode, is_binary, shown

_MOST_COMPARED = 4000
"""Lines on one side that are compared line by line; difflib takes quadratic time."""
_CONTEXT = 3
MOST_TOLD = 120
"""Lines of a diff that the model gets; it wrote them itself."""
MOST_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Diff:
    """One file's change."""

    path: str
    text: str
    added: int
    removed: int

    @property
    def told(self) -> str:
        """For the model: the beginning is enough."""
        lines = self.text.splitlines()
        if len(lines) <= MOST_TOLD:
            return self.text
        return "\n".join([*lines[:MOST_TOLD], f"[... {len(lines) - MOST_TOLD} more lines of this diff ...]"])


def diff_of(path: str, before: bytes | None, after: bytes | None) -> Diff:
    """`None` stands for no file."""
    if (before is not None and is_binary(before)) or (after is not None and is_binary(after)):
        sizes = " -> ".join("none" if data is None else f"{len(data)} bytes" for data in (before, after))
        return Diff(path, f"Binary file {path}: {sizes}", 0, 0)
    old = _lines(before)
    new = _lines(after)
    start, old_end, new_end = _middle(old, new)
    removed, added = old_end - start, new_end - start
    heads = [f"--- {'/dev/null' if before is None else path}", f"+++ {'/dev/null' if after is None else path}"]
    if removed > _MOST_COMPARED or added > _MOST_COMPARED:
        body = [f"@@ from line {start + 1} on: {removed} lines replaced by {added} @@"]
        return Diff(path, "\n".join([*heads, *body]), added, removed)
    low = max(0, start - _CONTEXT)
    old_part = old[low : old_end + _CONTEXT]
    new_part = new[low : new_end + _CONTEXT]
    body = []
    added = removed = 0
    matcher = difflib.SequenceMatcher(None, old_part, new_part, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        body.append(_hunk_head(group, low))
        for kind, a, b, c, d in group:
            if kind == "equal":
                body.extend(f" {line}" for line in old_part[a:b])
                continue
            body.extend(f"-{line}" for line in old_part[a:b])
            body.extend(f"+{line}" for line in new_part[c:d])
            removed += b - a
            added += d - c
    if len(body) > MOST_SHOWN:
        body = [*body[:MOST_SHOWN], f"[... {len(body) - MOST_SHOWN} more lines ...]"]
    return Diff(path, "\n".join([*heads, *body]), added, removed)


def _lines(data: bytes | None) -> list[str]:
    if not data:
        return []
    content = shown(decode(data).content)
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines[-1] += "\n\\ No newline at end of file"
    return lines


def _middle(old: list[str], new: list[str]) -> tuple[int, int, int]:
    """Where the two begin and cease to differ."""
    most = min(len(old), len(new))
    start = 0
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, len(old) - end, len(new) - end


def _hunk_head(group: list[tuple[str, int, int, int, int]], offset: int) -> str:
    old = _range(group[0][1] + offset, group[-1][2] + offset)
    new = _range(group[0][3] + offset, group[-1][4] + offset)
    return f"@@ -{old} +{new} @@"


def _range(start: int, end: int) -> str:
    length = end - start
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"
