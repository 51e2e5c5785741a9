"""`search_in_file`: where something stands in one file, with the lines around it, however large the file is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools.arguments import flag_of, number_of, path_of, schema, text_of
from holdfast.runtime.tools.files import opened
from holdfast.runtime.tools.grep_by_us import compiled, matching_lines
from holdfast.runtime.tools.grep_query import SECONDS, Query
from holdfast.runtime.tools.places import Place, find
from holdfast.runtime.tools.texts import is_binary

_LONGEST_LINE = 1000


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    place = find(context, path_of(given))
    query = Query(
        pattern=text_of(given, "pattern", "query"),
        literal=flag_of(given, "literal"),
        ignore_case=flag_of(given, "ignore_case"),
        context=number_of(given, "context", 2, least=0, most=100),
    )
    limit = number_of(given, "limit", 50, least=1, most=2000)
    return await asyncio.to_thread(_search, place, query, limit)


def _search(place: Place, query: Query, limit: int) -> ToolOutput:
    expression = compiled(query)
    end = time.monotonic() + SECONDS
    lines: list[str] = []
    matches = last = 0
    note = ""
    with opened(place) as stream:
        if is_binary(stream.read(8192)):
            raise ToolFailure(f"{place.shown} is a binary file. Use a program through `bash` (strings, xxd).")
        stream.seek(0)
        for line in matching_lines(stream, expression, query.context, ""):
            if time.monotonic() > end:
                note = f"[stopped after {SECONDS:g} s at line {line.number}]"
                break
            if line.matched and matches >= limit:
                note = f"[only the first {limit} matches; raise `limit` or narrow the pattern]"
                break
            matches += line.matched
            if last and line.number > last + 1:
                lines.append("--")
            last = line.number
            text = line.text if len(line.text) <= _LONGEST_LINE else f"{line.text[:_LONGEST_LINE]} [...]"
            lines.append(f"{line.number}{':' if line.matched else '-'}{text}")
    if not matches:
        lines = [f"No matches for {query.pattern!r} in {place.named}."]
    if note:
        lines.append(note)
    return ToolOutput("\n".join(lines), display={"path": place.shown, "matches": matches})


TOOL = Tool(
    name="search_in_file",
    description=(
        "Find an expression in one file and show each match with its line number and the lines around it. Works on "
        "files of any size, such as logs and full outputs. Then `read` with an offset to see more."
    ),
    parameters=schema(
        {
            "path": {"type": "string", "description": "Path of the file."},
            "pattern": {"type": "string", "description": "Regular expression, or plain text with `literal`."},
            "literal": {"type": "boolean", "default": False},
            "ignore_case": {"type": "boolean", "default": False},
            "context": {"type": "integer", "description": "Lines to show around each match.", "default": 2},
            "limit": {"type": "integer", "description": "Most matches to show.", "default": 50},
        },
        ["path", "pattern"],
    ),
    run=run,
)
