"""`delete`: into a trash from which it can be taken back."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from typing import Any

from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools import changes
from holdfast.runtime.tools.arguments import flag_of, path_of, schema
from holdfast.runtime.tools.files import status_of
from holdfast.runtime.tools.places import Place, find_entry, missing, vault_root

_MOST_COUNTED = 10_000


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    place = find_entry(context, path_of(given))
    return await asyncio.to_thread(_delete, context, place, flag_of(given, "recursive"))


def _delete(context: ToolContext, place: Place, recursive: bool) -> ToolOutput:
    root = vault_root(context)
    if root == place.path or root.is_relative_to(place.path):
        raise ToolFailure("The vault itself cannot be deleted. Name what is in it.")
    status = status_of(place.path)
    if status is None:
        raise ToolFailure(missing(place))
    count = 1
    if stat.S_ISDIR(status.st_mode):
        count = _files_in(place)
        if count and not recursive:
            raise ToolFailure(
                f"{place.shown} is a folder with {count} files. Set `recursive` to true to delete it with all of them."
            )
    changes.to_trash(context, place)
    what = f"{place.shown} ({count} files)" if stat.S_ISDIR(status.st_mode) else place.shown
    return ToolOutput(f"Deleted {what}. It can be undone.", display={"deleted": place.shown, "files": count})


def _files_in(place: Place) -> int:
    count = 0
    for _, _, names in os.walk(place.path):
        count += len(names)
        if count > _MOST_COUNTED:
            break
    return count


TOOL = Tool(
    name="delete",
    description=(
        "Delete a file, or a folder with `recursive`. It goes to a trash, from which the user can take it back. Prefer "
        "this to `rm`."
    ),
    parameters=schema(
        {
            "path": {"type": "string", "description": "The file or folder."},
            "recursive": {"type": "boolean", "description": "Delete a folder with what is in it.", "default": False},
        },
        ["path"],
    ),
    run=run,
)
