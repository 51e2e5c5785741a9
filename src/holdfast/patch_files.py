"""Which files a patch touches: the `*** Begin Patch` form and unified diffs.

What names no file is refused: a patch that cannot be read cannot be judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.core.targets import Verb

_HEADER = re.compile(r"\*\*\* (Add|Update|Delete) File:[ \t]*(\S.*?)[ \t]*\Z")
_MOVE = re.compile(r"\*\*\* Move to:[ \t]*(\S.*?)[ \t]*\Z")
_GIT = re.compile(r"diff --git (?P<old>\"(?:[^\"\\]|\\.)*\"|\S+) (?P<new>\"(?:[^\"\\]|\\.)*\"|\S+)\Z")
_RENAME = re.compile(r"(rename|copy) (from|to) (.+?)\Z")
_FILE_LINE = re.compile(r"(---|\+\+\+) (.+?)(?:\t.*)?\Z")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")


class PatchError(ValueError):
    """The text is no patch that names its files."""


def patch_files(text: str) -> list[tuple[str, Verb]]:
    """Each file and what happens to it, in the order of the patch."""
    lines = text.replace("\r\n", "\n").split("\n")
    begin = next((i for i, line in enumerate(lines) if line.strip() == "*** Begin Patch"), None)
    found = list(_envelope(lines[begin:])) if begin is not None else list(_unified(lines))
    if not found:
        raise PatchError("the patch names no file; expected `*** Update File: path` or `--- a/path` lines")
    # Blanks at a name's ends belong to it for git and not for other programs: both names count.
    trimmed = [(path.strip(), verb) for path, verb in found if path.strip()]
    return list(dict.fromkeys([*found, *trimmed]))


def _envelope(lines: list[str]) -> Iterator[tuple[str, Verb]]:
    updated = ""
    for line in lines:
        header = _HEADER.match(line.strip())
        if header is not None:
            kind, path = header[1], header[2]
            updated = path
            yield path, "delete" if kind == "Delete" else "write"
            continue
        move = _MOVE.match(line.strip())
        if move is not None:
            if updated:
                yield updated, "delete"
            yield move[1], "write"


def _unified(lines: list[str]) -> Iterator[tuple[str, Verb]]:
    old = ""
    left_old = left_new = 0
    for line in lines:
        if left_old > 0 or left_new > 0:  # inside a hunk `--- x` is a removed line, not a header
            if line.startswith("\\"):
                continue
            left_old -= not line.startswith("+")
            left_new -= not line.startswith("-")
            continue
        hunk = _HUNK.match(line)
        if hunk is not None:
            left_old, left_new = (int(count) if count is not None else 1 for count in hunk.groups())
            continue
        if line.startswith("diff --git "):
            yield from ((path, "write") for path in _git_header(line) if path)
            continue
        rename = _RENAME.match(line)
        if rename is not None:
            yield _unquoted(rename[3]), "delete" if rename[1] == "rename" and rename[2] == "from" else "write"
            continue
        header = _FILE_LINE.match(line)
        if header is None:
            continue
        path = _named(header[2])
        if header[1] == "---":
            old = path
        elif path:
            yield path, "write"
            if old and old != path:
                yield old, "write"
        elif old:
            yield old, "delete"


def _git_header(line: str) -> tuple[str, str]:
    match = _GIT.match(line)
    if match is not None:
        return _named(match["old"]), _named(match["new"])
    # Names with blanks are not quoted; then both halves are the same name, or later lines tell.
    rest = line.removeprefix("diff --git ")
    middle = len(rest) // 2
    old, new = rest[:middle], rest[middle + 1 :]
    if rest[middle : middle + 1] == " " and _named(old) == _named(new):
        return _named(old), ""
    return "", ""


def _named(text: str) -> str:
    """A path of a diff header without the `a/` or `b/` that git puts before it; empty for /dev/null."""
    path = _unquoted(text)
    if path == "/dev/null":
        return ""
    return path[2:] if path.startswith(("a/", "b/")) else path


def _unquoted(line: str) -> str:
    text = line.strip()
    if not (text.startswith('"') and text.endswith('"') and len(text) >= 2):
        return line
    raw = bytearray()
    plain = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
    position = 1
    end = len(text) - 1
    while position < end:
        escape = _ESCAPE.match(text, position, end)
        if escape is None:
            raw += text[position].encode("utf-8", "surrogatepass")
            position += 1
            continue
        code = escape[1]
        raw += bytes([int(code, 8) & 255]) if code.isdigit() else plain.get(code, code).encode("utf-8", "surrogatepass")
        position = escape.end()
    return raw.decode("utf-8", "surrogateescape")
