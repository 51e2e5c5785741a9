"""Starting commands so that all of them can be ended, fork bombs and runaways too.

A command's sandbox dies with the thread that started it (`--die-with-parent` means the thread, not the process), so one
thread that lives as long as the process starts them all. Where a pids cgroup can be made it bounds how many processes
there can be, which is the only bound that holds for root.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

MOST_PROCESSES = 1024
_V1 = Path("/sys/fs/cgroup/pids")
_V2 = Path("/sys/fs/cgroup")
_counter = itertools.count(1)
_ENTER = 'echo $$ > "$0/cgroup.procs" 2>/dev/null; exec "$@"'


class _Starter:
    """The one thread whose children our commands are."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._pid = os.getpid()
        threading.Thread(target=self._run, name="holdfast starts commands", daemon=True).start()

    def __call__(self, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        done: Future[subprocess.Popen[bytes]] = Future()
        self._work.put((start, done))
        return done.result(timeout=30)

    def _run(self) -> None:
        while True:
            work, done = self._work.get()
            try:
                done.set_result(work())
            except BaseException as error:
                done.set_exception(error)


_starter: _Starter | None = None
_starter_lock = threading.Lock()


def _the_starter() -> _Starter:
    global _starter  # noqa: PLW0603 - one for a process, and a new one after a fork
    with _starter_lock:
        if _starter is None or _starter._pid != os.getpid():
            _starter = _Starter()
        return _starter


class Running:
    """A command that was started: wait for it, or end it and all it started.

    Its leader is not reaped before the whole group was killed, so that no number can have come to mean somebody else.
    """

    def __init__(self, process: subprocess.Popen[bytes], group: Path | None) -> None:
        self._process = process
        self._group = group
        self._closed = threading.Lock()
        self.pid = process.pid
        self.code: int | None = None
        """Exit code, once `close` was called."""

    @property
    def ended(self) -> bool:
        """Whether the command itself has ended; what it started may still run."""
        if self.code is not None:
            return True
        if not hasattr(os, "waitid"):  # macOS: it cannot be looked at without reaping it
            return self._process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def wait(self, seconds: float) -> bool:
        """Whether it ended in time."""
        end = time.monotonic() + seconds
        pause = 0.001
        while not self.ended:
            left = end - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(pause * 2, 0.05)
        return True

    def close(self, *, grace: float = 0.0) -> int:
        """End it and everything it started, whether or not it has ended by itself; its exit code.

        With some `grace` it is asked first.
        """
        with self._closed:
            if self.code is not None:
                return self.code
            if grace and not self.ended:
                self._signal(signal.SIGTERM)
                self.wait(grace)
            self._signal(signal.SIGKILL)
            if self._group is not None:
                _empty(self._group)
            self.wait(10.0)
            try:
                self.code = self._process.wait(timeout=1.0)
            except subprocess.TimeoutExpired:  # stuck in the kernel: it cannot run any more
                self.code = -signal.SIGKILL
            if self._group is not None:
                _remove(self._group)
            return self.code

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    output: int,
    pass_fds: Sequence[int] = (),
    most_processes: int = MOST_PROCESSES,
) -> Running:
    """Start a command in a process group of its own, its output and errors going to `output`."""
    group = make_group(most_processes)
    full = ["/bin/sh", "-c", _ENTER, str(group), *argv] if group is not None else list(argv)

    def spawn() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            full,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            pass_fds=tuple(pass_fds),
        )

    try:
        return Running(_the_starter()(spawn), group)
    except BaseException:
        if group is not None:
            with contextlib.suppress(OSError):
                group.rmdir()
        raise


def make_group(most: int) -> Path | None:
    """A pids cgroup of our own, None where none can be made."""
    if not sys.platform.startswith("linux"):
        return None
    number = next(_counter)
    for parent in _parents():
        if number == 1:
            _remove_abandoned(parent)
        group = parent / f"holdfast-{os.getpid()}-{number}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / "pids.max").write_text(str(most))
        except OSError:
            with contextlib.suppress(OSError):
                group.rmdir()
            continue
        return group
    return None


def _remove_abandoned(parent: Path) -> None:
    """Groups of processes that were killed before they could clean up; one that is in use cannot be removed."""
    for group in parent.glob("holdfast-*-*"):
        if not Path(f"/proc/{group.name.split('-')[1]}").exists():
            with contextlib.suppress(OSError):
                group.rmdir()


def _parents() -> list[Path]:
    """Where our own groups are; a subgroup of it is ours to make."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if "pids" in controllers.split(","):
            found.append(_V1 / path.lstrip("/"))
        elif not controllers and (_V2 / "cgroup.controllers").exists():
            found.append(_V2 / path.lstrip("/"))
    return found


def _empty(group: Path) -> None:
    """Kill everything in the group, also what is just being born."""
    end = time.monotonic() + 5.0
    while _kill_all(group) and time.monotonic() < end:
        time.sleep(0.005)


def _remove(group: Path) -> None:
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        try:
            group.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:  # its last processes are still on their way out
            _kill_all(group)
            time.sleep(0.01)


def _kill_all(group: Path) -> bool:
    """Kill what is in the group now; False when it is empty."""
    try:
        pids = [int(pid) for pid in (group / "cgroup.procs").read_text().split()]
    except (OSError, ValueError):
        return False
    with contextlib.suppress(OSError):
        (group / "pids.max").write_text("0")  # nothing new is born meanwhile
    if pids:
        with contextlib.suppress(OSError):
            (group / "cgroup.kill").write_text("1")
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(pids)
