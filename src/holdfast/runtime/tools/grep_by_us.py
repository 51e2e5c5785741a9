"""Searching without ripgrep: a walk of our own and RE2, which takes linear time whatever the expression."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO

import re2  # type: ignore[import-untyped]

from holdfast.runtime.tool import ToolFailure
from holdfast.runtime.tools.files import opened
from holdfast.runtime.tools.glob import PASSED_OVER
from holdfast.runtime.tools.globbing import Glob, walk
from holdfast.runtime.tools.grep_query import SECONDS, Found, Line, Query, bad_pattern
from holdfast.runtime.tools.places import Place
from holdfast.runtime.tools.texts import is_binary

_LONGEST_LINE = 1 << 20
_EVERY_FILE = Glob.parse("**")


def compiled(query: Query) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not query.ignore_case
    options.literal = query.literal
    try:
        return re2.compile(query.pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        raise bad_pattern(query.pattern, said.decode() if isinstance(said, bytes) else str(said)) from None


def search(place: Place, query: Query, limit: int, *, seconds: float = SECONDS) -> Found:
    expression = compiled(query)
    end = time.monotonic() + seconds
    found = Found()
    for path, file in _files(place, query):
        try:
            with opened(file) as stream:
                for line in matching_lines(stream, expression, query.context, path):
                    if time.monotonic() > end:
                        found.late = True
                        return found
                    if line.matched and limit <= 0:
                        found.more = True
                        return found
                    limit -= line.matched
                    found.lines.append(line)
        except ToolFailure:
            continue  # not a regular file, or not ours to read
        if time.monotonic() > end:
            found.late = True
            return found
    return found


def _files(place: Place, query: Query) -> Iterator[tuple[str, Place]]:
    if not place.path.is_dir():
        yield "", place
        return
    include = Glob.parse(query.include if "/" in query.include else f"**/{query.include}") if query.include else None
    passed_over = frozenset((".git",)) if query.everything else PASSED_OVER
    for relative, entry in walk(str(place.path), _EVERY_FILE, passed_over=passed_over):
        if entry.is_file(follow_symlinks=False) and (include is None or include.matches(relative)):
            yield relative, place.below(relative)


def matching_lines(stream: BinaryIO, expression: Any, context: int, path: str) -> Iterator[Line]:
    """Line by line, so that the size of the file does not matter; a binary file has none."""
    start = stream.read(8192)
    if is_binary(start):
        return
    stream.seek(0)
    before: deque[Line] = deque(maxlen=context) if context else deque(maxlen=0)
    after = 0
    number = 0
    while raw := stream.readline(_LONGEST_LINE):
        number += 1
        matched = expression.search(raw.rstrip(b"\r\n")) is not None
        while not raw.endswith(b"\n"):  # an endless line is searched in pieces, but stays one line
            raw_more = stream.readline(_LONGEST_LINE)
            if not raw_more:
                break
            matched = matched or expression.search(raw_more.rstrip(b"\r\n")) is not None
            raw = raw_more if len(raw) >= _LONGEST_LINE else raw + raw_more
        line = Line(path, number, raw[:4096].rstrip(b"\r\n").decode("utf-8", "replace"), matched)
        if matched:
            yield from before
            before.clear()
            yield line
            after = context
        elif after > 0:
            yield line
            after -= 1
        else:
            before.append(line)
