"""Carries out what a host's installer wants: the diff, the files, the record, and the way back."""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from holdfast.hosts.attach.json_file import AttachError
from holdfast.store.atomic_file import write_atomic
from holdfast.store.attached import ChangedFile, Manifest, digest, encoded
from holdfast.store.home import Home

PRIVATE = 0o600


class WantedFile(Protocol):
    """A settings file with what it is to hold of ours."""

    @property
    def path(self) -> Path: ...

    @property
    def kind(self) -> str: ...

    @property
    def secret(self) -> bool: ...

    def applied(self, text: str | None) -> str: ...

    def stripped(self, text: str, before: str | None) -> str | None: ...


@dataclass(frozen=True, slots=True)
class FileChange:
    """What becomes of one file; equal texts mean that nothing does."""

    path: Path
    before: str | None
    after: str | None
    note: str = ""

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        old = (self.before or "").splitlines(keepends=True)
        new = (self.after or "").splitlines(keepends=True)
        names = (
            (str(self.path) if self.before is not None else "/dev/null"),
            (str(self.path) if self.after is not None else "/dev/null"),
        )
        return "".join(
            line if line.endswith("\n") else line + "\n" for line in difflib.unified_diff(old, new, *names, n=2)
        )


def planned(files: Sequence[WantedFile]) -> list[FileChange]:
    """What attaching would change; raises `AttachError` before anything is written."""
    return [FileChange(wanted.path, text := read(wanted.path), wanted.applied(text)) for wanted in files]


def carry_out(files: Sequence[WantedFile], changes: Sequence[FileChange], known: Manifest | None) -> list[ChangedFile]:
    """Write what changes; on a failure put back what was written already."""
    old = {record.path: record for record in known.files} if known else {}
    done: list[FileChange] = []
    records: list[ChangedFile] = []
    try:
        for wanted, change in zip(files, changes, strict=True):
            records.append(_record(wanted, change, old.get(str(wanted.path))))
            if change.changes and change.after is not None:
                done.append(change)
                _write(change.path, change.after, private=wanted.secret)
    except OSError as error:
        for change in reversed(done):
            with contextlib.suppress(OSError):
                _put(change.path, change.before)
        raise AttachError(
            f"{error.filename or 'a file'} cannot be written: {error.strerror}; nothing was changed"
        ) from None
    there = {record.path for record in records}
    # Where the host's settings lay before a variable moved them: detach has to find our entries there too.
    return records + [one for one in old.values() if one.path not in there and os.path.lexists(one.path)]


def _record(wanted: WantedFile, change: FileChange, old: ChangedFile | None) -> ChangedFile:
    """How the way back looks: to the text before the first attach, as long as nobody else has changed the file."""
    assert change.after is not None
    before, mode, folders = change.before, _mode(wanted.path), tuple(map(str, _missing(wanted.path.parent)))
    if old is not None:
        if change.before is not None and digest(change.before) == old.after:
            before = old.text_before
        elif change.before is not None:
            before = wanted.stripped(change.before, old.text_before)
        mode, folders = old.mode if old.mode is not None else mode, old.folders or folders
    return ChangedFile(
        str(wanted.path), wanted.kind, encoded(before), digest(change.after), mode, wanted.secret, folders
    )


def taken_back(manifest: Manifest, files: Sequence[WantedFile]) -> list[FileChange]:
    """What detaching would change."""
    wanted = {str(one.path): one for one in files}
    latest_first = reversed(manifest.files)
    return [_taken_back(record, wanted.get(record.path) or _alike(record, files)) for record in latest_first]


def _alike(record: ChangedFile, files: Sequence[WantedFile]) -> WantedFile | None:
    """For a file in a place that is no longer wanted: the one of that name that is, moved there."""
    path = Path(record.path)
    like: Any = next((one for one in files if one.kind == record.kind and one.path.stem == path.stem), None)
    return None if like is None else replace(like, path=path)


def _taken_back(record: ChangedFile, wanted: WantedFile | None) -> FileChange:
    path = Path(record.path)
    now = read(path)
    before = record.text_before
    if now is None:
        return FileChange(path, None, None, "it is gone already")
    if digest(now) == record.after:
        return FileChange(path, now, before, "as it was before")
    if wanted is None:
        return FileChange(path, now, now, "changed since, and nothing of ours is known in it")
    left = wanted.stripped(now, before)
    note = "changed since: it is yours and stays" if left == now else "changed since: only our entries go"
    return FileChange(path, now, left, note)


def undo(manifest: Manifest, changes: Sequence[FileChange], home: Home) -> None:
    records = {record.path: record for record in manifest.files}
    for change in changes:
        record = records[str(change.path)]
        if change.changes:
            _put(change.path, change.after)
        if record.mode is not None and change.after is not None:
            change.path.chmod(record.mode)
        for folder in map(Path, record.folders):
            with contextlib.suppress(OSError):
                folder.rmdir()  # only when it is empty
    manifest.remove(home)


def read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def _put(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink(missing_ok=True)
    else:
        _write(path, text, private=False)


def _write(path: Path, text: str, *, private: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text.encode("utf-8", "surrogateescape"), new_mode=PRIVATE if private else 0o644)
    if private:
        path.chmod(PRIVATE)


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None


def _missing(folder: Path) -> Iterator[Path]:
    """The folders that would have to be made, the deepest first."""
    while not os.path.lexists(folder):
        yield folder
        folder = folder.parent
