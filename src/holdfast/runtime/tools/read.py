"""`read`: lines of a text file, streamed; what is no text is named, not dumped."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools import versions
from holdfast.runtime.tools.arguments import flag_of, number_of, path_of, schema
from holdfast.runtime.tools.files import opened
from holdfast.runtime.tools.places import Place, find
from holdfast.runtime.tools.texts import decode, is_binary, kind_of, shown

_NOTE_ROOM = 1024
"""Bytes of the limit that are left for the closing note, so that the note never makes it too much."""
_LONGEST_LINE = 16_384
_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class _Lines:
    """A stretch of a file."""

    lines: list[str]
    first: int
    total: int | None
    """None when the file is too large to be counted."""
    full: bool
    """There was no room for more."""
    clipped: bool


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    place = find(context, path_of(given))
    limits = context.settings.runtime.truncation
    offset = number_of(given, "offset", 1, least=0) or 1
    limit = number_of(given, "limit", limits.max_lines, least=1)
    numbered = flag_of(given, "line_numbers")
    room = max(64, limits.max_bytes - _NOTE_ROOM)
    return await asyncio.to_thread(_read, context, place, offset, min(limit, limits.max_lines - 2), room, numbered)


def _read(context: ToolContext, place: Place, offset: int, limit: int, room: int, numbered: bool) -> ToolOutput:
    with opened(place) as stream:
        size = os.fstat(stream.fileno()).st_size
        start = stream.read(8192)
        if is_binary(start):
            return _named(place, start, size)
        if size <= versions.LARGEST_HASHED:
            stream.seek(0)
            versions.note_seen(context, place, hashlib.file_digest(stream, "sha256").hexdigest())  # type: ignore[arg-type]
        stream.seek(0)
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            found = _of_text(stream.read(versions.LARGEST_HASHED), offset, limit, room)
        else:
            found = _of_stream(stream, offset, limit, room, count=size <= versions.LARGEST_HASHED)
    if not size:
        return ToolOutput(f"[{place.shown} is empty]")
    if not found.lines:
        raise ToolFailure(
            f"{place.shown} has {found.total} lines, so there is none from {offset} on. Use a smaller offset."
        )
    return ToolOutput(_told(place, found, numbered), display={"path": place.shown, "lines": len(found.lines)})


def _of_stream(stream: BinaryIO, offset: int, limit: int, room: int, *, count: bool) -> _Lines:
    """Only the wanted lines are held, however large the file is."""
    number = _skip(stream, offset - 1)
    lines: list[str] = []
    used = 0
    full = clipped = False
    while number == offset - 1 + len(lines):
        raw = stream.readline(_LONGEST_LINE + 1)
        if not raw:
            break
        if len(lines) >= limit or used + min(len(raw), _LONGEST_LINE) > room:
            full = True
            stream.seek(-len(raw), os.SEEK_CUR)
            break
        if len(raw) > _LONGEST_LINE and not raw.endswith(b"\n"):
            raw = raw[:_LONGEST_LINE]
            rest = _skip_rest_of_line(stream)
            clipped = True
            lines.append(f"{_line_text(raw)} [line clipped: {rest} more bytes]")
        else:
            lines.append(_line_text(raw))
        used += len(raw)
        number += 1
    total = number + _count_lines(stream) if count else None
    if not full and not count:
        total = number
    return _Lines(lines, offset, total, full, clipped)


def _line_text(raw: bytes) -> str:
    return raw.removesuffix(b"\n").removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def _skip(stream: BinaryIO, lines: int) -> int:
    """Go behind so many lines; how many there were."""
    passed = 0
    while passed < lines:
        position = stream.tell()
        chunk = stream.read(_CHUNK)
        if not chunk:
            break
        found = chunk.count(b"\n")
        if passed + found < lines:
            passed += found
            if len(chunk) < _CHUNK and not chunk.endswith(b"\n"):
                passed += 1
            continue
        at = -1
        for _ in range(lines - passed):
            at = chunk.index(b"\n", at + 1)
        stream.seek(position + at + 1)
        return lines
    return passed


def _skip_rest_of_line(stream: BinaryIO) -> int:
    passed = 1  # one byte more than is kept was read already
    while True:
        raw = stream.readline(_CHUNK)
        passed += len(raw)
        if not raw or raw.endswith(b"\n"):
            return passed - len(raw[-1:])


def _count_lines(stream: BinaryIO) -> int:
    count = 0
    last = b"\n"
    while chunk := stream.read(_CHUNK):
        count += chunk.count(b"\n")
        last = chunk[-1:]
    return count + (last != b"\n")


def _of_text(data: bytes, offset: int, limit: int, room: int) -> _Lines:
    """UTF-16 and its like: decoded as a whole."""
    content = shown(decode(data).content)
    every = content.split("\n")
    if every[-1] == "":
        every.pop()
    lines: list[str] = []
    for line in every[offset - 1 : offset - 1 + limit]:
        if len(line.encode()) > room:
            break
        room -= len(line.encode())
        lines.append(line[:_LONGEST_LINE])
    full = offset - 1 + len(lines) < len(every)
    return _Lines(lines, offset, len(every), full, any(len(line) > _LONGEST_LINE for line in every))


def _told(place: Place, found: _Lines, numbered: bool) -> str:
    last = found.first + len(found.lines) - 1
    lines = found.lines
    if numbered:
        width = len(str(last))
        lines = [f"{number:>{width}}\t{line}" for number, line in enumerate(lines, found.first)]
    text = "\n".join(lines) + "\n"
    if found.full:
        of = f" of {found.total}" if found.total is not None else ""
        return f"{text}[{place.shown}: lines {found.first}-{last}{of}; go on with offset={last + 1}]"
    if found.first > 1:
        return f"{text}[{place.shown}: lines {found.first}-{last}, the end]"
    return text


def _named(place: Place, start: bytes, size: int) -> ToolOutput:
    kind = kind_of(start) or "binary file"
    use = "It cannot be shown as text."
    if "image" not in kind:
        use += " Use a program through `bash` that understands it (file, strings, unzip -l, pdftotext, xxd)."
    return ToolOutput(f"[{place.shown}: {kind}, {size} bytes. {use}]", display={"path": place.shown, "kind": kind})


TOOL = Tool(
    name="read",
    description=(
        "Read a text file. Returns its lines as they are, so you can quote them in `edit`. A large file comes in "
        "parts: the closing note says which lines you got and the offset to go on with. Images and other binary "
        "files are named with their type and size. Read a file before you change it."
    ),
    parameters=schema(
        {
            "path": {
                "type": "string",
                "description": "Path of the file, relative or absolute.",
            },
            "offset": {"type": "integer", "description": "First line to return, counted from 1."},
            "limit": {"type": "integer", "description": "Most lines to return."},
            "line_numbers": {"type": "boolean", "description": "Put each line's number and a tab before it."},
        },
        ["path"],
    ),
    run=run,
)
