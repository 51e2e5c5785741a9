"""Full outputs of tools, kept beside the work and taken away when they are old (TR3, TR5).

They lie in `<vault>/.agent-output/`, or in the app data directory when that fails. Every file is noted in the store
before it has content, and only what is noted, and still is what was written, is ever removed. All access goes through
directory handles that follow no link, so a planted `.agent-output` leads nowhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote_from_bytes, unquote_to_bytes

from holdfast.store.file_names import file_name
from holdfast.store.interface import StoreError
from holdfast.store.output_writer import KeptOutput, OutputWriter

FOLDER = ".agent-output"
UPLOADS = "uploads"
_NOTE = "output:"
_DRAFT = ".part"
_DAY = 86_400.0
_NAME = re.compile(r"[^/]+-[^/]+-[^/]+\.(?:txt|json)\Z")
_MOST_OF_ONE_CALL = 1000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Notes(Protocol):
    """What of the store is needed here."""

    def note(self, key: str, value: Any) -> None: ...

    def noted(self, key: str) -> Any: ...

    def notes(self, prefix: str) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did."""

    removed: int = 0
    freed: int = 0
    """Bytes."""
    left: int = 0
    """Files that are no longer what was written: from now on they are the user's."""


class OutputStore:
    """`folder` is the app data directory's place for outputs; `notes` is the store."""

    def __init__(self, folder: Path, notes: Notes, *, clock: Callable[[], float] = time.time) -> None:
        self.folder = Path(folder)
        self._notes = notes
        self._clock = clock

    # keeping

    def keep(
        self,
        content: str | bytes | Iterable[str | bytes],
        vault: str | Path | None,
        date: str,
        tool: str,
        call_id: str,
        suffix: str = ".txt",
    ) -> KeptOutput | None:
        """Keep an output whole; None when it could be written neither in the vault nor in the app data directory."""
        writer = self.open_stream(vault, date, tool, call_id, suffix)
        if writer is None:
            return None
        try:
            for piece in _pieces(content):
                writer.write(piece)
        except BaseException:
            writer.abandon()
            raise
        return writer.finish()

    def open_stream(
        self, vault: str | Path | None, date: str, tool: str, call_id: str, suffix: str = ".txt"
    ) -> OutputWriter | None:
        """A file to write to as the output comes; it gets its name when it is finished."""
        stem = f"{file_name(date, longest=40)}-{file_name(tool, longest=60)}-{file_name(call_id, longest=100)}"
        places = [Path(vault)] if vault else []
        for place in (*(place / FOLDER for place in places), self.folder):
            try:
                return self._begin(place, stem, suffix)
            except (OSError, StoreError):
                continue
        return None

    def _begin(self, place: Path, stem: str, suffix: str) -> OutputWriter:
        with self._opened(place, create=True) as folder:
            name, draft = _reserve(folder, stem, suffix)
            path = place / name
            try:
                self._notes.note(_key(path), {"at": self._clock(), "draft": True})
                return OutputWriter(
                    path,
                    draft,
                    done=self._done,
                    hashed=self._hashed,
                    failed=self._failed,
                    elsewhere=lambda: self._elsewhere(place, stem, suffix),
                )
            except BaseException:
                os.close(draft)
                os.unlink(name + _DRAFT, dir_fd=folder)
                raise

    def _elsewhere(self, failed: Path, stem: str, suffix: str) -> OutputWriter | None:
        """The app data directory, once the vault's disk has failed in the middle of an output."""
        if failed == self.folder:
            return None
        try:
            return self._begin(self.folder, stem, suffix)
        except (OSError, StoreError):
            return None

    def _done(self, writer: OutputWriter) -> bool:
        """Give a finished draft its name; whatever stands under that name by now is not replaced."""
        try:
            with self._opened(writer.path.parent) as folder:
                draft = os.fstat(writer.descriptor)
                record = {"at": self._clock(), "size": draft.st_size, "mtime": draft.st_mtime_ns}
                self._notes.note(_key(writer.path), record)
                _rename_without_replacing(folder, writer.path.name + _DRAFT, writer.path.name)
        except (OSError, StoreError):
            self._failed(writer)
            return False
        return True

    def _hashed(self, path: Path, digest: str) -> None:
        """Add the hash to the note: it tells an output that somebody changed from one that was only touched."""
        with contextlib.suppress(StoreError):
            record = self._notes.noted(_key(path))
            if record is not None:
                self._notes.note(_key(path), {**record, "sha256": digest})

    def _failed(self, writer: OutputWriter) -> None:
        with contextlib.suppress(OSError, StoreError):
            with self._opened(writer.path.parent) as folder:
                os.unlink(writer.path.name + _DRAFT, dir_fd=folder)
            self._notes.note(_key(writer.path), None)

    @contextlib.contextmanager
    def _opened(self, place: Path, *, create: bool = False) -> Iterator[int]:
        """A handle on the directory; in a vault, where anybody may plant things, no link is followed into it."""
        if create and place.name != FOLDER:
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
        parent = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(place.name, 0o700, dir_fd=parent)
            follow = 0 if place.name == FOLDER else os.O_NOFOLLOW
            folder = os.open(place.name, _DIRECTORY & ~follow, dir_fd=parent)
        finally:
            os.close(parent)
        try:
            if create and place.name == FOLDER:
                _ignore_itself(folder)
            yield folder
        finally:
            os.close(folder)

    # giving back

    def open_kept(self, path: str | Path) -> int:
        """A handle on an output that was kept; raises `FileNotFoundError` when it is gone or never was one.

        A path that somebody wrote into a tool's output is nothing: only what is noted is opened, and no link followed.
        """
        record = self._notes.noted(_key(Path(path)))
        if record is None or not _NAME.match(Path(path).name):
            raise FileNotFoundError(f"{path} is no output of ours, or it has expired")
        with self._opened(Path(path).parent) as folder:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(Path(path).name, flags, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise PermissionError(f"{path} is no file any more")
        return descriptor

    @contextlib.contextmanager
    def uploads(self, vault: str | Path | None) -> Iterator[tuple[Path, int]]:
        """Where a person's own files go, beside the outputs: the folder, and a handle that no planted link misleads."""
        place = Path(vault) / FOLDER if vault else self.folder
        with self._opened(place, create=True) as parent:
            with contextlib.suppress(FileExistsError):
                os.mkdir(UPLOADS, 0o700, dir_fd=parent)
            folder = os.open(UPLOADS, _DIRECTORY, dir_fd=parent)
            try:
                yield place / UPLOADS, folder
            finally:
                os.close(folder)

    # taking away

    def sweep(self, ttl_days: float) -> Swept:
        """Remove what is older, wherever it was ever kept; 0 days keeps everything."""
        if ttl_days <= 0:
            return Swept()
        oldest = self._clock() - ttl_days * _DAY
        removed = freed = left = 0
        for key, record in self._notes.notes(_NOTE).items():
            if record["at"] >= oldest:
                continue
            size = self._remove(_path(key), record)
            if size is None:
                left += 1
            elif size >= 0:
                removed, freed = removed + 1, freed + size
        return Swept(removed, freed, left)

    def forget(self, path: str | Path) -> bool:
        """Remove one output now, if it is ours and still what was written."""
        record = self._notes.noted(_key(Path(path)))
        size = self._remove(Path(path), record) if record is not None else None
        return size is not None and size >= 0

    def _remove(self, path: Path, record: Mapping[str, Any]) -> int | None:
        """Bytes freed; -1 when there was nothing, None when it is not ours any more."""
        if not _NAME.match(path.name):
            return None
        try:
            with self._opened(path.parent) as folder:
                remove = _unlink_draft if record.get("draft") else _unlink_ours
                freed = remove(folder, path.name, record)
        except OSError:
            return -1  # the directory is not there now (a disk unplugged?): look again another time
        self._notes.note(_key(path), None)
        return freed


def _pieces(content: str | bytes | Iterable[str | bytes]) -> Iterator[bytes]:
    step = 1 << 20
    if isinstance(content, str):
        # In steps, so that a large text is not held twice.
        for start in range(0, len(content), step):
            yield content[start : start + step].encode("utf-8", "replace")
    elif isinstance(content, bytes):
        yield content
    else:
        for piece in content:
            yield piece.encode("utf-8", "replace") if isinstance(piece, str) else piece


def _reserve(folder: int, stem: str, suffix: str) -> tuple[str, int]:
    """A name that is free. Whoever makes its draft owns it; one call may leave several outputs."""
    for number in range(1, _MOST_OF_ONE_CALL):
        name = f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}"
        if _exists(folder, name):
            continue
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            draft = os.open(name + _DRAFT, flags, 0o600, dir_fd=folder)
        except FileExistsError:
            continue
        if not _exists(folder, name):
            return name, draft
        os.close(draft)
        os.unlink(name + _DRAFT, dir_fd=folder)
    raise FileExistsError(f"{stem} has been used {_MOST_OF_ONE_CALL} times")


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _rename_without_replacing(folder: int, old: str, new: str) -> None:
    try:
        os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links; the draft has kept the name free against our own kind.
        os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(old, dir_fd=folder)


def _ignore_itself(folder: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(".gitignore", flags, 0o644, dir_fd=folder)
        try:
            os.write(descriptor, b"*\n")
        finally:
            os.close(descriptor)


def _unlink_draft(folder: int, name: str, record: Mapping[str, Any]) -> int | None:
    """An output that was never finished: its process died."""
    try:
        size = os.stat(name + _DRAFT, dir_fd=folder, follow_symlinks=False).st_size
        os.unlink(name + _DRAFT, dir_fd=folder)
    except FileNotFoundError:
        return -1
    return size


def _unlink_ours(folder: int, name: str, record: Mapping[str, Any]) -> int | None:
    """Remove a file only if it is, byte for byte, what was written."""
    try:
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return _unlink_draft(folder, name, record)
    if not stat.S_ISREG(there.st_mode) or there.st_size != record.get("size"):
        return None
    if there.st_mtime_ns != record.get("mtime") and _sha256(folder, name) != record.get("sha256"):
        return None
    os.unlink(name, dir_fd=folder)
    return there.st_size


def _sha256(folder: int, name: str) -> str:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with open(descriptor, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _key(path: Path) -> str:
    # A path may hold bytes that are no UTF-8; the store's keys are text.
    return _NOTE + quote_from_bytes(os.fsencode(path), safe="/ ~+,=@^!#")


def _path(key: str) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(key[len(_NOTE) :])))
