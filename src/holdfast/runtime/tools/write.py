"""`write`: a whole file, new or replaced."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Mapping
from typing import Any

from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools import versions
from holdfast.runtime.tools.arguments import path_of, schema, text_of
from holdfast.runtime.tools.changes import Change, apply_changes, output_of
from holdfast.runtime.tools.files import read_whole, status_of
from holdfast.runtime.tools.places import Place, find


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    place = find(context, path_of(given))
    content = text_of(given, "content", "text", "contents", empty=True)
    return await asyncio.to_thread(_write, context, place, content)


def _write(context: ToolContext, place: Place, content: str) -> ToolOutput:
    status = status_of(place.path)
    before: bytes | None = None
    if status is not None:
        if stat.S_ISDIR(status.st_mode):
            raise ToolFailure(f"{place.shown} is a folder. Name a file in it.")
        before, _ = read_whole(place)
        versions.require_seen(context, place, before)
    after = content.encode("utf-8", "replace")
    diffs = apply_changes(context, "write", [Change(place, before, after)])
    verb = "Created" if before is None else "Replaced"
    return output_of(f"{verb} {place.shown}", diffs)


TOOL = Tool(
    name="write",
    description=(
        "Write a whole file. Creates it with the folders it needs, or replaces it: an existing file must have been "
        "read in this session. For a change to a part of a file use `edit`, which is safer and shorter."
    ),
    parameters=schema(
        {
            "path": {"type": "string", "description": "Path of the file."},
            "content": {"type": "string", "description": "The complete content."},
        },
        ["path", "content"],
    ),
    run=run,
)
