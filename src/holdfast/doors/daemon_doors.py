"""What a daemon listens on, and the lock that makes it the only one of its home.

Kept apart from the daemon itself, because the process that holds them stays small: it opens the doors once and hands
them to a worker, and to the next one if that dies, so that hooks which come in between wait instead of failing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from dataclasses import dataclass
from pathlib import Path

SOCKET_NAME = "daemon.sock"
LOCK_NAME = "daemon.lock"
BACKLOG = 512
_LOCK_SIZE = 40


class AlreadyRunning(Exception):
    """Another daemon of this user holds the lock."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What a daemon listens on; opened once and handed on when its worker has to be started anew."""

    local: socket.socket
    web: socket.socket
    lock: int

    @property
    def port(self) -> int:
        return int(self.web.getsockname()[1])


def open_doors(run: Path, port: int = 0) -> Doors:
    """Lock and bind; raises `AlreadyRunning` when this home has a daemon. A taken port is changed for another."""
    run.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(run / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise AlreadyRunning(f"a daemon already serves {run}") from None
    path = run / SOCKET_NAME
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    local.bind(str(path))
    path.chmod(0o600)
    local.listen(BACKLOG)
    web = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    web.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        web.bind(("127.0.0.1", port))
    except OSError:
        web.bind(("127.0.0.1", 0))
    web.listen(BACKLOG)
    doors = Doors(local, web, lock)
    write_private(run / "port", str(doors.port).encode())
    return doors


def is_still_ours(run: Path, doors: Doors) -> bool:
    """Whether the lock file in the home is the one we hold; a home that was removed has no daemon."""
    try:
        return os.path.samestat((run / LOCK_NAME).stat(), os.fstat(doors.lock))
    except OSError:
        return False


def write_pids(doors: Doors, *pids: int) -> None:
    """Who serves this home, for `stop` and for the limits that guard these processes."""
    # In one write, and always as long: whoever reads it never sees half of it.
    os.pwrite(doors.lock, " ".join(map(str, pids)).ljust(_LOCK_SIZE).encode(), 0)


def write_private(path: Path, data: bytes) -> None:
    """A file that only its owner can read, replaced as a whole."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)
    temporary.replace(path)
