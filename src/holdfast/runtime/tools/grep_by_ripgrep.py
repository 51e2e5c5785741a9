"""Searching with ripgrep, started in the folder's own handle, so that no link can lead it elsewhere."""

from __future__ import annotations

import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from holdfast.runtime.tool import ToolFailure
from holdfast.runtime.tools.files import opened_folder
from holdfast.runtime.tools.grep_query import SECONDS, Found, Line, Query, bad_pattern
from holdfast.runtime.tools.places import Place

_LINE = re.compile(rb"(?P<path>[^\0]*)\0(?P<number>\d+)(?P<kind>[:-])(?P<text>.*)", re.DOTALL)
_MOST_BYTES = 16 << 20


def search(program: str, place: Place, query: Query, limit: int, *, seconds: float = SECONDS) -> Found:
    folder, name = (place.path, "") if place.path.is_dir() else (place.path.parent, place.path.name)
    end = time.monotonic() + seconds
    with tempfile.TemporaryFile() as complaint:
        try:
            with opened_folder(folder) as handle:
                process = subprocess.Popen(
                    [program, *_arguments(query, name)],
                    cwd=f"/proc/self/fd/{handle}" if Path("/proc/self/fd").is_dir() else folder,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=complaint,
                )
        except OSError as error:
            raise ToolFailure(f"{place.shown} could not be searched: {error.strerror or error}.") from None
        found = Found()
        with process:
            try:
                _collect(process, found, limit, end, single=bool(name))
            finally:
                if found.more or found.late:
                    process.kill()
        if not found.lines and process.returncode == 2:
            complaint.seek(0)
            raise bad_pattern(query.pattern, complaint.read(500).decode("utf-8", "replace"))
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


def _collect(process: subprocess.Popen[bytes], found: Found, limit: int, end: float, *, single: bool) -> None:
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    rest = b""
    size = 0
    while True:
        if not ready.poll(max(0.0, (end - time.monotonic()) * 1000)):
            found.late = True
            return
        data = os.read(pipe, 1 << 16)
        *lines, rest = (rest + data).split(b"\n")
        size += len(data)
        for raw in lines if data else [rest]:
            match = _LINE.match(raw)
            if match is None:
                continue
            matched = match["kind"] == b":"
            if matched and (limit <= 0 or size > _MOST_BYTES):
                found.more = True
                return
            limit -= matched
            path = "" if single else os.fsdecode(match["path"]).removeprefix("./")
            text = match["text"].rstrip(b"\r").decode("utf-8", "replace")
            found.lines.append(Line(path, int(match["number"]), text, matched))
        if not data:
            return
