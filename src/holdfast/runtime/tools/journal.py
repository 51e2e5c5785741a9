"""Every change that a file tool makes, written down so that it can be undone, also after a restart.

Each call has a folder of its own under the home's trash: `entry.json` says what it did, beside it lies what was there
before. The entry stands before the change begins, so that a crash in the middle can be undone too. Undoing touches only
what still is as the tool left it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from holdfast.runtime.tool import ToolContext
from holdfast.runtime.tools import versions
from holdfast.runtime.tools.files import opened_folder, remove_file, rename_entry, replace_file
from holdfast.store.file_names import file_name
from holdfast.store.home import Home

KEPT_DAYS = 30.0
_FORMAT = 1
_ENTRY = "entry.json"
_SWEPT = "journal.swept"

StepKind = Literal["write", "create", "remove", "delete", "move"]
"""`remove` keeps a copy of the content, `delete` moves the thing itself away."""


@dataclass(frozen=True, slots=True)
class Step:
    """One change of one path."""

    kind: StepKind
    path: str
    to: str = ""
    """Of a move."""
    backup: str = ""
    """Name, inside the entry's folder, of what was there before."""
    mode: int | None = None
    after: str = ""
    """Version that the tool left; empty for folders, deletions and moves."""
    made: tuple[str, ...] = ()
    """Folders that had to be made for it, the deepest first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one call did."""

    folder: Path
    tool: str
    call_id: str
    at: float
    steps: tuple[Step, ...]
    state: Literal["begun", "done", "undone"] = "begun"

    def save(self) -> None:
        data = {"format": _FORMAT, **asdict(self), "folder": None, "steps": [asdict(step) for step in self.steps]}
        del data["folder"]
        temporary = self.folder / f"{_ENTRY}.tmp"
        temporary.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8", errors="surrogatepass")
        temporary.replace(self.folder / _ENTRY)


@dataclass(frozen=True, slots=True)
class Undone:
    """What `undo_last` did."""

    tool: str
    restored: tuple[str, ...]
    left: tuple[str, ...]
    """Paths that were changed again by somebody else, each with the reason why it was left."""

    @property
    def text(self) -> str:
        done = f"Undid {self.tool}: {', '.join(self.restored)}." if self.restored else f"Nothing of {self.tool} undone."
        return done + "".join(f"\nLeft as it is: {reason}." for reason in self.left)


class Journal:
    """The changes of one session."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self.trash = Home(context.home).trash
        self.root = self.trash / file_name(context.where.session, longest=100)

    def begin(self, tool: str) -> Entry:
        """A new, empty entry with a folder to keep things in."""
        self._sweep_once()
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        call = file_name(self._context.call_id or "call", longest=60)
        number = 1 + max((_number(path) for path in self._folders()), default=0)
        while True:
            folder = self.root / f"{number:06d}-{call}"
            # The number alone makes it unique: parallel calls must not share one.
            try:
                (self.root / f"{number:06d}.lock").touch(exist_ok=False)
                folder.mkdir(mode=0o700)
                break
            except FileExistsError:
                number += 1
        return Entry(folder, tool, self._context.call_id, time.time(), ())

    def abandon(self, entry: Entry) -> None:
        """The call changed nothing after all."""
        shutil.rmtree(entry.folder, ignore_errors=True)

    def finish(self, entry: Entry) -> None:
        replace(entry, state="done").save()

    def last(self) -> Entry | None:
        """The latest change that has not been undone."""
        for folder in sorted(self._folders(), key=_number, reverse=True):
            entry = _load(folder)
            if entry is not None and entry.state != "undone":
                return entry
        return None

    def undo(self, entry: Entry) -> Undone:
        restored: list[str] = []
        left: list[str] = []
        for step in reversed(entry.steps):
            try:
                reason = _undo_step(entry, step)
            except OSError as error:
                reason = f"{step.path}: {error.strerror or error}"
            if reason:
                left.append(reason)
                continue
            restored.append(step.path)
            remove_made(step.made)
            for path in (step.path, step.to):
                if path:
                    versions.forget(self._context, Path(path))
        replace(entry, state="undone").save()
        return Undone(entry.tool, tuple(restored), tuple(left))

    def _folders(self) -> Iterator[Path]:
        with contextlib.suppress(FileNotFoundError):
            yield from (path for path in self.root.iterdir() if path.is_dir())

    def _sweep_once(self) -> None:
        if not self._context.memory.setdefault(_SWEPT, False):
            self._context.memory[_SWEPT] = True
            sweep(self.trash, KEPT_DAYS)


def undo_last(context: ToolContext) -> Undone | None:
    """Undo the latest change of this session; None when there is none left."""
    journal = Journal(context)
    entry = journal.last()
    return journal.undo(entry) if entry is not None else None


def sweep(trash: Path, days: float) -> int:
    """Remove what nobody has wanted back for so long; returns how many sessions' trash went."""
    oldest = time.time() - days * 86_400
    removed = 0
    with contextlib.suppress(FileNotFoundError):
        for folder in list(trash.iterdir()):
            with contextlib.suppress(OSError):
                if folder.is_dir() and not folder.is_symlink() and _latest(folder) < oldest:
                    shutil.rmtree(folder)
                    removed += 1
    return removed


def _latest(folder: Path) -> float:
    return max([folder.stat().st_mtime, *(entry.stat().st_mtime for entry in os.scandir(folder))])


def missing_folders(path: Path) -> tuple[str, ...]:
    """The folders that will have to be made for a path, the deepest first."""
    return tuple(str(folder) for folder in path.parents if not os.path.lexists(folder))


def remove_made(folders: Sequence[str]) -> None:
    """Folders that were made for a change which is taken back; one that is used by now stays."""
    for folder in map(Path, folders):
        with contextlib.suppress(OSError), opened_folder(folder.parent) as parent:
            os.rmdir(folder.name, dir_fd=parent)


def keep_bytes(entry: Entry, data: bytes, number: int) -> str:
    """What was in a file, beside the entry."""
    name = f"{number}.before"
    descriptor = os.open(entry.folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
    return name


def move_tree(old: Path, new: Path) -> None:
    """Move a file or a whole folder, also to another file system; the old one goes last."""
    try:
        rename_entry(old, new)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        new.parent.mkdir(parents=True, exist_ok=True)
        try:
            if old.is_dir() and not old.is_symlink():
                shutil.copytree(old, new, symlinks=True)
            else:
                shutil.copy2(old, new, follow_symlinks=False)
        except OSError:
            _remove_tree(new)
            raise
        _remove_tree(old)


def _remove_tree(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        remove_file(path)


def _undo_step(entry: Entry, step: Step) -> str:
    """Empty when undone, else why not."""
    path = Path(step.path)
    if step.kind == "move":
        if not os.path.lexists(step.to):
            return "" if os.path.lexists(path) else f"{step.to}: it is no longer there"
        if os.path.lexists(path):
            return f"{step.path}: something else stands there now"
        move_tree(Path(step.to), path)
        return ""
    if step.kind == "delete":
        kept = entry.folder / step.backup
        if not os.path.lexists(kept):
            return ""  # a crash came before it was taken away
        if os.path.lexists(path):
            return f"{step.path}: something else stands there now; the old one is {kept}"
        move_tree(kept, path)
        return ""
    there = _content(path)
    if step.kind == "remove" and there is not None:
        return f"{step.path}: something else stands there now; the old one is {entry.folder / step.backup}"
    if step.kind == "create":
        if there is None:
            return ""
        if versions.version_of(there) != step.after:
            return f"{step.path}: it was changed after this call"
        remove_file(path)
        return ""
    before = (entry.folder / step.backup).read_bytes()
    if there == before:
        return ""
    if there is not None and versions.version_of(there) != step.after:
        return f"{step.path}: it was changed after this call; what was there before is {entry.folder / step.backup}"
    replace_file(path, before, step.mode)
    return ""


def _content(path: Path) -> bytes | None:
    try:
        with opened_folder(path.parent) as folder:
            descriptor = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


def _number(folder: Path) -> int:
    digits = folder.name.partition("-")[0]
    return int(digits) if digits.isdigit() else 0


def _load(folder: Path) -> Entry | None:
    try:
        data: dict[str, Any] = json.loads((folder / _ENTRY).read_text(encoding="utf-8", errors="surrogatepass"))
        steps = tuple(Step(**{**step, "made": tuple(step.get("made", ()))}) for step in data["steps"])
        return Entry(folder, data["tool"], data["call_id"], data["at"], steps, data["state"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # a crash while it was written: nothing had been changed yet


def added(entry: Entry, steps: Sequence[Step]) -> Entry:
    """The entry with its steps, durable before any of them is made."""
    full = replace(entry, steps=tuple(steps))
    full.save()
    return full
