"""`apply_patch`: a patch over several files, all of it or nothing."""

from __future__ import annotations

import asyncio
import re
import stat
from collections.abc import Mapping
from typing import Any

from holdfast.patch_files import PatchError, patch_files
from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools import versions
from holdfast.runtime.tools.arguments import schema, text_of
from holdfast.runtime.tools.changes import Change, apply_changes, output_of
from holdfast.runtime.tools.files import read_whole, status_of
from holdfast.runtime.tools.patching import FORM, FilePatch, apply, parse
from holdfast.runtime.tools.places import Place, find
from holdfast.runtime.tools.texts import decode, shown

_BROKEN = re.compile("[\ud800-\udc7f\udd00-\udfff]")


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    text = text_of(given, "patch", "input", "patchText", "diff")
    patches = parse(text)
    _require_judged(text, patches)
    return await asyncio.to_thread(_patch, context, patches)


def _require_judged(text: str, patches: list[FilePatch]) -> None:
    """What is changed is what was judged, though two readers read the patch."""
    try:
        judged = {path for path, _ in patch_files(text)}
    except PatchError as error:
        raise ToolFailure(f"{error}. {FORM}") from None
    named = {path for patch in patches for path in (patch.path, patch.move_to) if path}
    if not named <= judged:
        raise ToolFailure(f"The patch is not clear about {', '.join(sorted(named - judged))}. {FORM}")


def _patch(context: ToolContext, patches: list[FilePatch]) -> ToolOutput:
    changes: dict[str, Change] = {}
    for patch in patches:
        place = find(context, patch.path)
        _one(context, changes, patch, place)
    diffs = apply_changes(context, "apply_patch", list(changes.values()))
    return output_of(f"Patched {len(diffs)} files" if len(diffs) != 1 else f"Patched {diffs[0].path}", diffs)


def _one(context: ToolContext, changes: dict[str, Change], patch: FilePatch, place: Place) -> None:
    known = changes.get(str(place.path))
    if patch.kind == "add":
        if known.after is not None if known else status_of(place.path) is not None:
            raise ToolFailure(f"{place.shown} is there already, so it cannot be added. Use `*** Update File:`.")
        data = "".join(f"{line}\n" for line in patch.lines)
        _put(changes, place, known.before if known else None, shown(data).encode("utf-8"))
        return
    before, current, mode = _current(context, place, known)
    if patch.kind == "delete":
        _put(changes, place, before, None, mode)
        return
    text = decode(current)
    after = text.encoded(_without_broken(apply(text.content, patch)))
    if not patch.move_to:
        _put(changes, place, before, after)
        return
    destination = find(context, patch.move_to)
    there = changes.get(str(destination.path))
    if there.after is not None if there else status_of(destination.path) is not None:
        raise ToolFailure(f"{destination.shown} is there already, so {place.shown} cannot be moved to it.")
    _put(changes, place, before, None, mode)
    _put(changes, destination, there.before if there else None, after, mode)


def _without_broken(text: str) -> str:
    """Lone surrogates that stand for bytes of the file are kept; a model's own broken ones are not."""
    return text if text.isascii() else _BROKEN.sub("\ufffd", text)


def _current(context: ToolContext, place: Place, known: Change | None) -> tuple[bytes | None, bytes, int | None]:
    """What was there before the patch, what is there by now, and its mode."""
    if known is not None:
        if known.after is None:
            raise ToolFailure(f"{place.shown} was removed further up in this patch.")
        return known.before, known.after, known.mode
    data, status = read_whole(place)
    # The lines of the patch prove that the model knows the file; only what it knows to be older is refused.
    versions.require_seen(context, place, data, unseen_ok=True)
    return data, data, stat.S_IMODE(status.st_mode)


def _put(
    changes: dict[str, Change], place: Place, before: bytes | None, after: bytes | None, mode: int | None = None
) -> None:
    changes[str(place.path)] = Change(place, before, after, mode)


TOOL = Tool(
    name="apply_patch",
    description=(
        "Change several files with one patch; all of it is applied or nothing. "
        + FORM
        + ". Give about three unchanged "
        "lines around each change, so that its place is clear; line numbers are not needed."
    ),
    parameters=schema(
        {"patch": {"type": "string", "description": "The patch, from *** Begin Patch to *** End Patch."}}, ["patch"]
    ),
    run=run,
)
