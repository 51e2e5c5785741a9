"""Searching with ripgrep, started in the folder's own handle, so that no link can lead it elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from holdfast.runtime.tool import ToolFailure
from holdfast.runtime.tools.files import opened_folder
from holdfast.runtime.tools.grep_query import SECONDS, Found, Line, Query, bad_pattern
from holdfast.runtime.tools.places import Place

_LINE = re.compile(rb"(?P<path>[^\0]*)\0(?P<number>\d+)(?P<kind>[:-])(?P<text>.*)", re.DOTALL)
_MOST_BYTES = 16 << 20


async def search(program: str, place: Place, query: Query, limit: int, *, seconds: float = SECONDS) -> Found:
    folder, name = (place.path, "") if place.path.is_dir() else (place.path.parent, place.path.name)
    with contextlib.ExitStack() as stack:
        try:
            handle = stack.enter_context(opened_folder(folder))
        except OSError as error:
            raise ToolFailure(f"{place.shown} could not be searched: {error.strerror or error}.") from None
        cwd = f"/proc/self/fd/{handle}" if Path("/proc/self/fd").is_dir() else str(folder)
        process = await asyncio.create_subprocess_exec(
            program,
            *_arguments(query, name),
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=1 << 20,
        )
    found = Found()
    said = b""
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(seconds):
            said = await _collect(process.stdout, process.stderr, found, limit, bool(name))
    except TimeoutError:
        found.late = True
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if not found.lines and process.returncode == 2 and said:
        raise bad_pattern(query.pattern, said.decode("utf-8", "replace")[:500])
    return found


def _arguments(query: Query, name: str) -> Iterator[str]:
    yield from ("--no-config", "--no-messages", "--no-follow", "--line-number", "--with-filename", "--null")
    yield from ("--color=never", "--no-heading", "--hidden", "--glob=!.git/", "--glob=!.agent-output/")
    yield from ("--max-columns=4096", "--max-columns-preview", "--sort=path")
    if query.literal:
        yield "--fixed-strings"
    if query.ignore_case:
        yield "--ignore-case"
    if query.everything:
        yield "--no-ignore"
    if query.context:
        yield f"--context={query.context}"
    if query.include:
        yield f"--glob={query.include.lstrip('!')}"
    yield from ("--regexp", query.pattern, "--", f"./{name}")


async def _collect(
    stdout: asyncio.StreamReader, stderr: asyncio.StreamReader, found: Found, limit: int, single: bool
) -> bytes:
    complaint = asyncio.ensure_future(stderr.read(64 << 10))
    try:
        size = 0
        while raw := await _line(stdout):
            size += len(raw)
            match = _LINE.match(raw.rstrip(b"\n"))
            if match is None:
                continue
            matched = match["kind"] == b":"
            if matched and (limit <= 0 or size > _MOST_BYTES):
                found.more = True
                break
            limit -= matched
            path = "" if single else os.fsdecode(match["path"]).removeprefix("./")
            text = match["text"].rstrip(b"\r").decode("utf-8", "replace")
            found.lines.append(Line(path, int(match["number"]), text, matched))
        return await complaint if not found.more else b""
    finally:
        complaint.cancel()


async def _line(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as rest:
        return rest.partial
    except asyncio.LimitOverrunError as error:
        return await stream.readexactly(error.consumed)
