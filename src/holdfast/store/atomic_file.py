"""Replacing a small file as a whole: readers see the old text or the new one, never a part, also after a crash."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from holdfast.core.messages import Phrase, TellableError

_POLL_SECONDS = 0.01
_HELD = Phrase(
    "lock.held",
    "{path}: another program has held this lock for {seconds} s; try again, and if it stays so look with "
    "`fuser {path}` who it is",
    "{path}：另一个程序占用此锁已有 {seconds} 秒；请重试，若仍如此，用 `fuser {path}` 查看是谁",
)


class LockTimeout(TellableError):
    """Somebody else held the lock for too long."""


def write_atomic(path: Path, data: bytes, *, new_mode: int = 0o600) -> None:
    """Replace what `path` names. A link is followed to the real file; mode and owner stay as they were.

    Raises `OSError` and leaves everything as it was when anything fails (full disk, read-only file system).
    """
    real = Path(os.path.realpath(path))
    try:
        before: os.stat_result | None = real.stat()
    except FileNotFoundError:
        before = None
    if before is not None and not before.st_mode & 0o222:
        # a rename would succeed all the same; whoever made the file read-only does not want that
        raise PermissionError(errno.EACCES, "the file is read-only", str(real))
    temporary = real.with_name(f".{real.name}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    mode = stat.S_IMODE(before.st_mode) if before else new_mode
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode & 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if before is not None and (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):  # not ours to give away: it stays ours
                    os.fchown(stream.fileno(), before.st_uid, before.st_gid)
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
        temporary.rename(real)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(real.parent)


def sweep_temporaries(path: Path) -> None:
    """Remove what writers of `path` left that were killed; to be called by whoever holds its lock."""
    name = re.compile(rf"\.{re.escape(path.name)}\.\d+\.\d+\.tmp")
    for left in path.parent.iterdir():
        if name.fullmatch(left.name):
            left.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot sync a folder; the rename itself is done
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def file_lock(path: Path, *, deadline_seconds: float) -> Iterator[None]:
    """Hold the lock file exclusively, against threads and processes alike. It is never removed: that would race."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        end = time.monotonic() + deadline_seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise LockTimeout(_HELD(path=path, seconds=f"{deadline_seconds:g}")) from None
                time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)  # closing releases


def write_new(path: Path, data: bytes, *, mode: int = 0o600) -> bool:
    """Write a file that is not there yet, whole or not at all; False, and nothing done, when there is one."""
    if os.path.lexists(path):
        return False
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    try:
        write_atomic(temporary, data, new_mode=mode)
        os.link(temporary, path)  # unlike a rename, this never replaces what somebody else made meanwhile
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)
    return True
