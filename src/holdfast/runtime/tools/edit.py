"""`edit`: replace an exact piece of text in a file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.runtime.tool import Tool, ToolContext, ToolOutput
from holdfast.runtime.tools import versions
from holdfast.runtime.tools.arguments import flag_of, path_of, schema, text_of
from holdfast.runtime.tools.changes import Change, apply_changes, output_of
from holdfast.runtime.tools.files import read_whole
from holdfast.runtime.tools.places import Place, find
from holdfast.runtime.tools.replacing import Replacement, replaced
from holdfast.runtime.tools.texts import decode, shown

EDIT_PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "old_string": {"type": "string", "description": "The text to replace, exactly as it stands in the file."},
    "new_string": {"type": "string", "description": "The text to put in its place; empty removes it."},
    "replace_all": {"type": "boolean", "description": "Replace every occurrence.", "default": False},
}


def replacement_of(given: Mapping[str, Any]) -> Replacement:
    return Replacement(
        text_of(given, "old_string", "oldString", "old", "old_text", empty=True),
        shown(text_of(given, "new_string", "newString", "new", "new_text", empty=True)),
        flag_of(given, "replace_all") or flag_of(given, "replaceAll"),
    )


def edited(context: ToolContext, place: Place, wanted: Sequence[Replacement]) -> tuple[Change, int]:
    """The change of one file, and how many places it touches; nothing is written yet."""
    before, _ = read_whole(place)
    versions.require_seen(context, place, before)
    text = decode(before)
    content = text.content
    count = 0
    if text.crlf:
        wanted = [_with_line_feeds(replacement) for replacement in wanted]
    for number, replacement in enumerate(wanted, 1):
        where = place.shown if len(wanted) == 1 else f"{place.shown}, edit {number}"
        content, made = replaced(content, replacement, where)
        count += made
    return Change(place, before, text.encoded(content)), count


def _with_line_feeds(wanted: Replacement) -> Replacement:
    return Replacement(wanted.old.replace("\r\n", "\n"), wanted.new.replace("\r\n", "\n"), wanted.every)


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    place = find(context, path_of(given))
    wanted = replacement_of(given)
    return await asyncio.to_thread(_edit, context, place, wanted)


def _edit(context: ToolContext, place: Place, wanted: Replacement) -> ToolOutput:
    change, count = edited(context, place, [wanted])
    diffs = apply_changes(context, "edit", [change])
    times = "" if count == 1 else f", {count} places"
    return output_of(f"Edited {place.shown}{times}", diffs)


TOOL = Tool(
    name="edit",
    description=(
        "Replace a piece of text in a file. old_string must match exactly, blanks and line breaks included, and be "
        "unique in the file: quote a line or two around the change, or set replace_all. The file must have been read "
        "in this session and not have changed since. Returns a diff."
    ),
    parameters=schema(
        {"path": {"type": "string", "description": "Path of the file."}, **EDIT_PROPERTIES},
        ["path", "old_string", "new_string"],
    ),
    run=run,
)
