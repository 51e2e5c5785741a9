"""Starting, finding and stopping the user's one daemon.

Two processes: a small keeper, which holds the lock and the doors, and a worker, which answers. When the worker dies
the keeper starts another on the same doors.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from holdfast._version import __version__
from holdfast.doors.daemon_doors import (
    SOCKET_NAME,
    AlreadyRunning,
    Doors,
    open_doors,
    write_pids,
    write_private,
)
from holdfast.doors.process_name import take_name
from holdfast.store.home import Home, own_pids

START_SECONDS = 10.0
_SPAWN_AGAIN_SECONDS = 3.0
_PORTS = range(20_000, 32_000)
"""Below what systems hand out by themselves, so that a port is still free after a restart."""
_MOST_DEATHS = 5
_DEATHS_WITHIN = 60.0


def token_of(home: Home) -> str:
    """The secret of the loopback port, made once; only the user can read it."""
    path = home.run / "token"
    with contextlib.suppress(FileNotFoundError):
        if kept := path.read_text().strip():
            return kept
    home.create()
    write_private(path, secrets.token_urlsafe(32).encode())
    return path.read_text().strip()


def port_of(home: Home) -> int:
    """The loopback port that hosts' settings name: chosen once, then kept."""
    path = home.run / "port"
    with contextlib.suppress(FileNotFoundError, ValueError):
        return int(path.read_text())
    home.create()
    for _ in range(50):
        port = secrets.choice(_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            break
    write_private(path, str(port).encode())
    return port


def greeting(home: Home, seconds: float = 1.0) -> dict[str, Any] | None:
    """What the daemon on this home's socket says of itself; None when nobody answers."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(seconds)
    try:
        link.connect(str(home.run / SOCKET_NAME))
        link.sendall(b"GET /alive HTTP/1.1\r\nhost: localhost\r\n\r\n")
        answer = link.recv(4096)
        if not answer.startswith(b"HTTP/1.1 200"):
            return None
        said = json.loads(answer.partition(b"\r\n\r\n")[2])
        return said if isinstance(said, dict) else None
    except (OSError, ValueError):
        return None
    finally:
        link.close()


def is_alive(home: Home, seconds: float = 1.0) -> bool:
    """Whether a daemon answers on this home's socket."""
    return greeting(home, seconds) is not None


def spawn(home: Home) -> None:
    """Have a daemon started, unless one runs, and do not wait for it."""
    home.create()
    with (home.logs / "daemon.log").open("ab") as log:
        # By way of a shell that ends at once: the daemon is nobody's child and outlives whoever asked for it.
        program = [sys.executable, "-m", "holdfast.doors.daemon_process", str(home.root)]
        subprocess.run(
            ["/bin/sh", "-c", '"$@" &', "sh", *program],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
            timeout=START_SECONDS,
            check=False,
        )


def ensure_running(home: Home, seconds: float = START_SECONDS) -> bool:
    """Start the daemon unless it runs; True when it answers before the time is up. One of another version is changed
    for ours: it was started before the program was updated."""
    said = greeting(home)
    if said is not None and said.get("holdfast") == __version__:
        return True
    if said is not None and not stop(home):
        return True  # an old one that will not go is better than none
    end = time.monotonic() + seconds
    while True:
        spawn(home)
        # One that has just been told to go may hold the lock for a moment longer: who finds it held ends at once.
        if _wait(lambda: is_alive(home), min(_SPAWN_AGAIN_SECONDS, max(0.0, end - time.monotonic()))):
            return True
        if time.monotonic() >= end:
            return False


def start_for_hook(home: str, *, wait: bool) -> bool:
    """For a hook that found no daemon; True when one answers now."""
    where = Home(Path(home))
    if wait:
        return ensure_running(where)
    spawn(where)
    return False


def stop(home: Home, seconds: float = 5.0) -> bool:
    """Ask the daemon to end; True when none runs any more."""
    if not is_alive(home):
        return True
    for pid in own_pids(home):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    return _wait(lambda: not is_alive(home, 0.2), seconds)


def _wait(condition: Any, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(0.02)
    return True


def run(home: Home) -> int:
    """Keep a worker alive until told to stop."""
    take_name()
    home.create()
    token = token_of(home)
    try:
        doors = open_doors(home.run, port_of(home))
    except AlreadyRunning:
        return 0
    except OSError as error:
        print(f"the daemon could not open its doors in {home.run}: {error}", file=sys.stderr, flush=True)
        return 1
    try:
        return _keep(home, doors, token)
    finally:
        with contextlib.suppress(FileNotFoundError):
            (home.run / SOCKET_NAME).unlink()


def _keep(home: Home, doors: Doors, token: str) -> int:
    deaths: list[float] = []
    worker = 0

    def pass_on(number: int, frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGTERM)

    while True:
        worker = os.fork()
        if worker == 0:
            os._exit(_work(home, doors, token))
        write_pids(doors, os.getpid(), worker)
        signal.signal(signal.SIGTERM, pass_on)
        signal.signal(signal.SIGINT, pass_on)
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        if code == 0:
            return 0
        now = time.monotonic()
        deaths = [*(at for at in deaths if now - at < _DEATHS_WITHIN), now]
        print(f"the worker ended with {code}; deaths in a minute: {len(deaths)}", file=sys.stderr, flush=True)
        if len(deaths) >= _MOST_DEATHS:
            return 1


def _work(home: Home, doors: Doors, token: str) -> int:
    from holdfast.doors.daemon_worker import work

    try:
        return work(home, doors, token)
    except Exception as error:
        print(f"the daemon could not serve {home.root}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return 1


if __name__ == "__main__":
    raise SystemExit(run(Home(Path(sys.argv[1]))))
