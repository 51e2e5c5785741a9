"""Touching the disk through directory handles that follow no link, so that a path means what it meant when judged."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from holdfast.runtime.tool import ToolFailure
from holdfast.runtime.tools.places import Place, missing

LARGEST_EDITED = 64 << 20
"""Bytes of a file that is edited as a whole in memory."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
if hasattr(os, "O_PATH"):
    _FOLDER |= os.O_PATH


@contextlib.contextmanager
def opened_folder(path: Path, *, create: bool = False) -> Iterator[int]:
    """A handle on a folder, reached name by name."""
    current = os.open(path.anchor, _FOLDER)
    try:
        for name in path.parts[1:]:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=current)
            following = os.open(name, _FOLDER, dir_fd=current)
            os.close(current)
            current = following
        yield current
    finally:
        os.close(current)


@contextlib.contextmanager
def opened(place: Place) -> Iterator[BinaryIO]:
    """A regular file, for reading. Nothing else is opened: a pipe would wait for ever."""
    try:
        with opened_folder(place.path.parent) as folder:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(place.path.name, flags, dir_fd=folder)
    except OSError as error:
        raise trouble(place, error, "read") from None
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        os.close(descriptor)
        if stat.S_ISDIR(kind):
            raise ToolFailure(f"{place.shown} is a folder. Use `ls` to see what is in it.")
        raise ToolFailure(f"{place.shown} is not a regular file (a device, pipe or socket), so it is not read.")
    with os.fdopen(descriptor, "rb") as stream:
        yield stream


def read_whole(place: Place) -> tuple[bytes, os.stat_result]:
    """The content of a file that is to be changed."""
    with opened(place) as stream:
        status = os.fstat(stream.fileno())
        if status.st_size > LARGEST_EDITED:
            raise ToolFailure(
                f"{place.shown} has {status.st_size} bytes, more than the {LARGEST_EDITED >> 20} MB that are edited "
                "as a whole. Change it with a program (sed, a script) through `bash`."
            )
        return stream.read(), status


def status_of(path: Path) -> os.stat_result | None:
    """What lies there itself, links not followed; None when there is nothing."""
    try:
        with opened_folder(path.parent) as folder:
            return os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


def replace_file(path: Path, data: bytes, mode: int | None = None) -> None:
    """Put new content in place as a whole; mode and owner of what was there stay. Raises `OSError`."""
    with opened_folder(path.parent, create=True) as folder:
        before: os.stat_result | None = None
        with contextlib.suppress(FileNotFoundError):
            before = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        if before is not None and not stat.S_ISREG(before.st_mode):
            raise IsADirectoryError(f"{path} is not a regular file")
        temporary = _temporary(path.name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o600 if before or mode is not None else 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                _adopt(stream.fileno(), before, mode)
                os.fsync(stream.fileno())
            os.rename(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise


def _temporary(name: str) -> str:
    return f".{name[:80]}.{secrets.token_hex(6)}.tmp"


def _adopt(descriptor: int, before: os.stat_result | None, mode: int | None) -> None:
    if before is not None:
        if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):  # not ours to give away: it stays ours
                os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode) if mode is None else mode)
    elif mode is not None:
        os.fchmod(descriptor, mode)


def rename_entry(old: Path, new: Path) -> None:
    """Move within one file system, never replacing; raises `OSError`."""
    with opened_folder(old.parent) as source, opened_folder(new.parent, create=True) as destination:
        try:
            os.stat(new.name, dir_fd=destination, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(old.name, new.name, src_dir_fd=source, dst_dir_fd=destination)
        else:
            raise FileExistsError(f"{new} is there already")


def remove_file(path: Path) -> None:
    with opened_folder(path.parent) as folder:
        os.unlink(path.name, dir_fd=folder)


_DONE = {"read": "read", "write": "written", "move": "moved", "delete": "deleted"}


def trouble(place: Place, error: OSError, verb: str) -> ToolFailure:
    """The system's refusal in words that lead on."""
    if isinstance(error, FileNotFoundError):
        return ToolFailure(missing(place))
    if isinstance(error, PermissionError):
        return ToolFailure(f"The system does not allow to {verb} {place.shown}. Tell the user, or choose another file.")
    if isinstance(error, NotADirectoryError):
        return ToolFailure(f"A part of {place.shown} is a file or a link where a folder is needed. Look with `ls`.")
    return ToolFailure(f"{place.shown} could not be {_DONE[verb]}: {error.strerror or error}. Nothing was changed.")
