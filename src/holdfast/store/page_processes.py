"""Which processes serve the page of a home, written down so that no agent may talk to them or end them (PE10).

One small file each in `run/page`, named by its port: the folder changes when one comes or goes, and only then.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from holdfast.store.atomic_file import write_atomic
from holdfast.store.home import Home


def folder_of(home: Home) -> Path:
    return home.run / "page"


def register(home: Home, port: int, pid: int) -> None:
    """Say that `pid` serves the page on `port`; what processes that are gone have left is taken away."""
    folder = folder_of(home)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for known_port, known_pid in _known(home):
        if not _is_alive(known_pid):
            unregister(home, known_port)
    write_atomic(folder / str(port), str(pid).encode())


def unregister(home: Home, port: int) -> None:
    with contextlib.suppress(OSError):
        (folder_of(home) / str(port)).unlink()


def page_ports(home: Home) -> tuple[int, ...]:
    return tuple(port for port, _ in _known(home))


def page_pids(home: Home) -> tuple[int, ...]:
    return tuple(pid for _, pid in _known(home))


def _known(home: Home) -> Iterator[tuple[int, int]]:
    try:
        files = sorted(folder_of(home).iterdir())
    except OSError:
        return
    for file in files:
        with contextlib.suppress(OSError, ValueError):
            yield int(file.name), int(file.read_text())


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
