"""The right to drive a session: one process at a time, given back by the system when the process dies.

It is what makes "no call is carried out twice" hold between processes: a run is only taken up again by whoever holds
the claim. A file lock, because the kernel releases it on kill -9; several machines need another kind of claim.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from holdfast.core.messages import Phrase, TellableError

_DRIVEN = Phrase(
    "claim.driven",
    "session {session} is being driven by another process ({owner}); wait for it or stop it",
    "会话 {session} 正由另一个进程（{owner}）驱动；请等待它结束或停止它",
)
_PROCESS = Phrase("claim.process", "process {owner}", "进程 {owner}")
_UNKNOWN = Phrase("claim.unknown", "unknown", "未知")


class Busy(TellableError):
    """Another process drives this session."""

    def __init__(self, session: str, owner: str) -> None:
        who = _PROCESS(owner=owner) if owner else _UNKNOWN()
        super().__init__(_DRIVEN(session=repr(session), owner=who))
        self.owner = who.text()


class Claim(Protocol):
    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class FileClaim:
    """A claim by a locked file in `folder`; raises `Busy`."""

    def __init__(self, folder: Path, session: str) -> None:
        self._session = session
        self.path = folder / f"{hashlib.sha256(session.encode()).hexdigest()[:24]}.lock"
        self._file: int | None = None

    def __enter__(self) -> Self:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(file, 64, 0).decode("ascii", "replace").strip()
            os.close(file)
            raise Busy(self._session, owner) from None
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
        self._file = file
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            # The file stays: removing it would let a third process lock a name that is no longer there.
            os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = None


def driver_of(folder: Path, session: str) -> int | None:
    """The process that drives a session now, as far as anybody can tell without taking the claim."""
    try:
        pid = int(FileClaim(folder, session).path.read_bytes())
        os.kill(pid, 0)
    except PermissionError:
        return pid
    except (OSError, ValueError):
        return None
    return pid
