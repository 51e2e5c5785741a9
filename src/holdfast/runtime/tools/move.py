"""`move`: rename or move a file or a folder."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Mapping
from typing import Any

from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools import changes
from holdfast.runtime.tools.arguments import schema, text_of
from holdfast.runtime.tools.files import status_of
from holdfast.runtime.tools.places import Place, find, find_entry, missing, vault_root


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    source = find_entry(context, text_of(given, "source", "from", "src", "old_path", "oldPath"))
    destination = find(context, text_of(given, "destination", "to", "dest", "dst", "new_path", "newPath"))
    return await asyncio.to_thread(_move, context, source, destination)


def _move(context: ToolContext, source: Place, destination: Place) -> ToolOutput:
    if source.path == vault_root(context):
        raise ToolFailure("The vault itself cannot be moved. Name what is in it.")
    if status_of(source.path) is None:
        raise ToolFailure(missing(source))
    there = status_of(destination.path)
    if there is not None:
        hint = f"{destination.shown}/{source.path.name}" if stat.S_ISDIR(there.st_mode) else "another name"
        raise ToolFailure(f"{destination.shown} is there already, and nothing is replaced. Move to {hint}.")
    if destination.path.is_relative_to(source.path):
        raise ToolFailure(f"{source.shown} cannot be moved into itself.")
    changes.move(context, source, destination)
    return ToolOutput(
        f"Moved {source.shown} to {destination.shown}",
        display={"moved": {"from": source.shown, "to": destination.shown}},
    )


TOOL = Tool(
    name="move",
    description=(
        "Rename or move a file or a folder. `destination` is the new path, name included; missing folders are made. "
        "Nothing is ever replaced. It can be undone."
    ),
    parameters=schema(
        {
            "source": {"type": "string", "description": "What to move."},
            "destination": {"type": "string", "description": "The new path, name included."},
        },
        ["source", "destination"],
    ),
    run=run,
)
