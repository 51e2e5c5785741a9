"""Changing files for the tools: all of a call or nothing of it, atomically, with a journal and a diff."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.runtime.tool import ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools import versions
from holdfast.runtime.tools.diffs import Diff, diff_of
from holdfast.runtime.tools.files import remove_file, replace_file, status_of, trouble
from holdfast.runtime.tools.journal import (
    Entry,
    Journal,
    Step,
    StepKind,
    added,
    keep_bytes,
    missing_folders,
    move_tree,
    remove_made,
)
from holdfast.runtime.tools.places import Place


@dataclass(frozen=True, slots=True)
class Change:
    """One file: what was there (None: nothing) and what is to be there (None: nothing)."""

    place: Place
    before: bytes | None
    after: bytes | None
    mode: int | None = None


def apply_changes(context: ToolContext, tool: str, changes: Sequence[Change]) -> tuple[Diff, ...]:
    """Make the changes in order; if one fails, those before it are taken back and nothing has changed."""
    real = [change for change in changes if change.before != change.after]
    if not real:
        return ()
    journal = Journal(context)
    try:
        entry = journal.begin(tool)
    except OSError as error:
        raise ToolFailure(
            f"Nothing was changed: the undo journal cannot be written ({error}). Tell the user."
        ) from None
    done: list[Change] = []
    try:
        entry = added(entry, [_step(change, _kept(entry, change, number)) for number, change in enumerate(real)])
        for change in real:
            _still_as_read(change)
            _make(change)
            done.append(change)
    except (OSError, ToolFailure) as error:
        for change in reversed(done):
            with contextlib.suppress(OSError):
                _make(Change(change.place, change.after, change.before, change.mode))
        for step in reversed(entry.steps):
            remove_made(step.made)
        journal.abandon(entry)
        if isinstance(error, OSError):
            raise trouble(real[len(done)].place, error, "write") from None
        raise
    journal.finish(entry)
    for change in real:
        if change.after is None:
            versions.forget(context, change.place.path)
        else:
            versions.note_seen(context, change.place, versions.version_of(change.after))
    return tuple(diff_of(change.place.shown, change.before, change.after) for change in real)


def move(context: ToolContext, source: Place, destination: Place) -> None:
    """Rename a file or a folder; what was seen of a file stays seen."""
    made = missing_folders(destination.path)
    step = Step("move", str(source.path), to=str(destination.path), made=made)
    _journalled(context, "move", step, source, destination.path)


def to_trash(context: ToolContext, place: Place) -> Path:
    """Take a file or a folder away; where it lies now."""
    return _journalled(context, "delete", Step("delete", str(place.path), backup="deleted"), place, None)


def _journalled(context: ToolContext, tool: str, step: Step, place: Place, destination: Path | None) -> Path:
    journal = Journal(context)
    entry = None
    try:
        entry = added(journal.begin(tool), [step])
        target = destination or entry.folder / step.backup
        move_tree(place.path, target)
    except OSError as error:
        if entry is not None:
            journal.abandon(entry)
        raise trouble(place, error, tool) from None
    journal.finish(entry)
    versions.forget(context, place.path)
    return target


def output_of(said: str, diffs: Sequence[Diff]) -> ToolOutput:
    """A tool's answer about changed files: one sentence, then the diff."""
    if not diffs:
        return ToolOutput("Nothing to change: the file is already like that.")
    counts = f"+{sum(diff.added for diff in diffs)} -{sum(diff.removed for diff in diffs)}"
    text = "\n".join([f"{said} ({counts})", *(diff.told for diff in diffs)])
    display = {"diff": "\n".join(diff.text for diff in diffs), "files": [diff.path for diff in diffs], "counts": counts}
    return ToolOutput(text, display=display)


def _kept(entry: Entry, change: Change, number: int) -> str:
    return keep_bytes(entry, change.before, number) if change.before is not None else ""


def _step(change: Change, backup: str) -> Step:
    kind: StepKind = "create" if change.before is None else "remove" if change.after is None else "write"
    after = versions.version_of(change.after) if change.after is not None else ""
    made = missing_folders(change.place.path) if change.before is None else ()
    return Step(kind, str(change.place.path), backup=backup, mode=change.mode, after=after, made=made)


def _still_as_read(change: Change) -> None:
    """Somebody may have written while the change was prepared."""
    status = status_of(change.place.path)
    if change.before is None:
        if status is not None:
            raise ToolFailure(f"{change.place.shown} has just been made by somebody else. `read` it, then decide.")
    elif status is None or status.st_size != len(change.before):
        raise ToolFailure(f"{change.place.shown} has just changed. `read` it again, then repeat.")


def _make(change: Change) -> None:
    if change.after is None:
        remove_file(change.place.path)
    else:
        replace_file(change.place.path, change.after, change.mode)
