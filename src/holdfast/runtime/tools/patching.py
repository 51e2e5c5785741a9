"""The `*** Begin Patch` form, read and applied to texts. Pure.

A hunk is found by its old lines: exactly, or but for blanks at the ends of lines. It is looked for behind the hunk
before it, and behind the line that `@@ ...` names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from holdfast.runtime.tool import ToolFailure

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _DELETE, _UPDATE = "*** Add File:", "*** Delete File:", "*** Update File:"
_MOVE, _END_OF_FILE = "*** Move to:", "*** End of File"
FORM = (
    "Expected this form:\n*** Begin Patch\n*** Update File: path\n@@ optional line above the change\n unchanged line\n"
    "-removed line\n+added line\n*** End Patch\n(also `*** Add File: path` with + lines, `*** Delete File: path`, and "
    "`*** Move to: path` below an update)"
)


@dataclass(slots=True)
class Hunk:
    anchors: list[str] = field(default_factory=list)
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    at_end: bool = False


@dataclass(slots=True)
class FilePatch:
    kind: Literal["add", "delete", "update"]
    path: str
    move_to: str = ""
    hunks: list[Hunk] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """Of an added file."""


def parse(text: str) -> list[FilePatch]:
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    lines = _without_fence(lines)
    if not lines or lines[0].strip() != _BEGIN:
        raise ToolFailure(f"The patch does not begin with `{_BEGIN}`. {FORM}")
    if lines[-1].strip() != _END:
        raise ToolFailure(f"The patch does not end with `{_END}`, so a part of it may be missing. {FORM}")
    found: list[FilePatch] = []
    for number, line in enumerate(lines[1:-1], 2):
        _take(found, line, number)
    if not found:
        raise ToolFailure(f"The patch names no file. {FORM}")
    for patch in found:
        if patch.kind == "update" and not patch.move_to and not any(hunk.old or hunk.new for hunk in patch.hunks):
            raise ToolFailure(f"The update of {patch.path} changes nothing. {FORM}")
    return found


def _without_fence(lines: list[str]) -> list[str]:
    """Models put patches into Markdown fences or here-documents."""
    while lines and (not lines[0].strip() or lines[0].strip().startswith(("```", "<<"))):
        lines = lines[1:]
    while lines and (not lines[-1].strip() or lines[-1].strip() in ("```", "EOF")):
        lines = lines[:-1]
    return lines


def _take(found: list[FilePatch], line: str, number: int) -> None:
    for mark, kind in ((_ADD, "add"), (_DELETE, "delete"), (_UPDATE, "update")):
        if line.startswith(mark):
            path = line[len(mark) :].strip()
            if not path:
                raise ToolFailure(f"Line {number} of the patch names no file. {FORM}")
            found.append(FilePatch(kind, path))  # type: ignore[arg-type]
            return
    if not found:
        raise ToolFailure(f"Line {number} of the patch stands before any file: {line[:80]!r}. {FORM}")
    patch = found[-1]
    if patch.kind == "add":
        if not line.startswith("+"):
            raise ToolFailure(
                f"Line {number}: every line of an added file begins with `+`, this does not: {line[:80]!r}."
            )
        patch.lines.append(line[1:])
    elif patch.kind == "delete":
        if line.strip():
            raise ToolFailure(f"Line {number}: nothing may follow `{_DELETE} {patch.path}`, found {line[:80]!r}.")
    else:
        _take_update(patch, line, number)


def _take_update(patch: FilePatch, line: str, number: int) -> None:
    if line.startswith(_MOVE):
        if patch.hunks:
            raise ToolFailure(f"Line {number}: `{_MOVE}` must stand right below `{_UPDATE} {patch.path}`.")
        patch.move_to = line[len(_MOVE) :].strip()
        return
    if line.startswith("@@"):
        anchor = line[2:].removesuffix("@@").strip()
        last = patch.hunks[-1] if patch.hunks else None
        if last is None or last.old or last.new:
            last = Hunk()
            patch.hunks.append(last)
        if anchor and not anchor.startswith("-"):  # `@@ -1,3 +1,4 @@` tells numbers, which models get wrong
            last.anchors.append(anchor)
        return
    if not patch.hunks:
        patch.hunks.append(Hunk())
    hunk = patch.hunks[-1]
    if line.strip() == _END_OF_FILE:
        hunk.at_end = True
    elif line.startswith("+"):
        hunk.new.append(line[1:])
    elif line.startswith("-"):
        hunk.old.append(line[1:])
    elif line.startswith(" ") or line == "":
        hunk.old.append(line[1:])
        hunk.new.append(line[1:])
    else:
        raise ToolFailure(f"Line {number}: a line of a hunk begins with a blank, + or -, not as {line[:80]!r}.")


def apply(content: str, patch: FilePatch) -> str:
    """The text after all hunks of an update."""
    lines = content.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    result: list[str] = []
    position = 0
    for number, hunk in enumerate(patch.hunks, 1):
        if not hunk.old and not hunk.new and not hunk.anchors:
            continue
        start = _locate(lines, hunk, position, f"{patch.path}, hunk {number}")
        result += lines[position:start]
        result += _with_kept_blanks(lines[start : start + len(hunk.old)], hunk)
        position = start + len(hunk.old)
    result += lines[position:]
    return "\n".join(result) + ("\n" if result and (ended or not content) else "")


def _locate(lines: Sequence[str], hunk: Hunk, start: int, where: str) -> int:
    for anchor in hunk.anchors:
        found = _find(lines, [anchor], start, str.strip)
        if found is None:
            raise ToolFailure(f"{where}: the line `@@ {anchor}` was not found. `read` the file and quote a line of it.")
        start = found + 1
    if not hunk.old:
        # Nothing to hold on to: behind the anchor, else at the end.
        return len(lines) if hunk.at_end or not hunk.anchors else start
    for key in (_same, str.rstrip):
        found = _find_at_end(lines, hunk.old, key) if hunk.at_end else None
        if found is None or found < start:
            found = _find(lines, hunk.old, start, key)
        if found is not None:
            return found
    raise ToolFailure(
        f"{where}: these lines were not found (from line {start + 1} on), so nothing was changed:\n"
        + "\n".join(hunk.old[:6])
        + "\n`read` the file again and give its lines exactly, with blanks at the front of unchanged ones."
    )


def _same(text: str) -> str:
    return text


def _find(lines: Sequence[str], wanted: Sequence[str], start: int, key: Callable[[str], str]) -> int | None:
    target = [key(line) for line in wanted]
    first = target[0]
    for index in range(start, len(lines) - len(target) + 1):
        if key(lines[index]) == first and [key(line) for line in lines[index : index + len(target)]] == target:
            return index
    return None


def _find_at_end(lines: Sequence[str], wanted: Sequence[str], key: Callable[[str], str]) -> int | None:
    start = len(lines) - len(wanted)
    return _find(lines, wanted, start, key) if start >= 0 else None


def _with_kept_blanks(there: Sequence[str], hunk: Hunk) -> list[str]:
    """The new lines; unchanged ones as they really stand, also when they matched but for blanks."""
    if list(there) == hunk.old:
        return hunk.new
    real = dict(zip(hunk.old, there, strict=True))
    return [real.get(line, line) for line in hunk.new]
