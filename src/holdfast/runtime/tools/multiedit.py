"""`multiedit`: several exact replacements, in one file or in several, all of them or none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools.arguments import PATH_KEYS, optional_text, schema
from holdfast.runtime.tools.changes import apply_changes, output_of
from holdfast.runtime.tools.edit import EDIT_PROPERTIES, edited, replacement_of
from holdfast.runtime.tools.places import Place, find
from holdfast.runtime.tools.replacing import Replacement


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    default = optional_text(given, *PATH_KEYS)
    edits = given.get("edits")
    if not isinstance(edits, list) or not edits:
        raise ToolFailure("'edits' must be a list with at least one edit: {old_string, new_string}.")
    by_file: dict[str, tuple[Place, list[Replacement]]] = {}
    for number, edit in enumerate(edits, 1):
        if not isinstance(edit, Mapping):
            raise ToolFailure(f"Edit {number} must be an object with old_string and new_string.")
        path = optional_text(edit, "path", "file_path", "filePath") or default
        if not path:
            raise ToolFailure(f"Edit {number} names no file: give `path` for all edits, or `path` in each.")
        place = find(context, path)
        by_file.setdefault(str(place.path), (place, []))[1].append(replacement_of(edit))
    return await asyncio.to_thread(_edit, context, list(by_file.values()))


def _edit(context: ToolContext, files: Sequence[tuple[Place, list[Replacement]]]) -> ToolOutput:
    made = [edited(context, place, wanted) for place, wanted in files]
    diffs = apply_changes(context, "multiedit", [change for change, _ in made])
    places = sum(count for _, count in made)
    where = files[0][0].shown if len(files) == 1 else f"{len(files)} files"
    return output_of(f"Edited {where}, {places} places", diffs)


TOOL = Tool(
    name="multiedit",
    description=(
        "Make several replacements at once, in one file or in several. Each edit sees the result of those before it in "
        "the same file. If one does not match exactly and uniquely, none is made and the failure says which."
    ),
    parameters=schema(
        {
            "path": {"type": "string", "description": "The file, when all edits are in one."},
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": schema(
                    {"path": {"type": "string", "description": "The file of this edit."}, **EDIT_PROPERTIES},
                    ["old_string", "new_string"],
                ),
            },
        },
        ["edits"],
    ),
    run=run,
)
