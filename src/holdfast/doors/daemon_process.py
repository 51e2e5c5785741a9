"""Starting, finding and stopping the user's one daemon."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from holdfast.doors.daemon import AlreadyRunning, Daemon, write_private
from holdfast.store.home import Home

START_SECONDS = 10.0


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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    write_private(path, str(port).encode())
    return port


def is_alive(home: Home, seconds: float = 1.0) -> bool:
    """Whether a daemon answers on this home's socket."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(seconds)
    try:
        link.connect(str(home.run / "daemon.sock"))
        link.sendall(b"GET /alive HTTP/1.1\r\nhost: localhost\r\n\r\n")
        return link.recv(64).startswith(b"HTTP/1.1 200")
    except OSError:
        return False
    finally:
        link.close()


def ensure_running(home: Home, seconds: float = START_SECONDS) -> bool:
    """Start the daemon unless it runs; True when it answers before the time is up."""
    if is_alive(home):
        return True
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
            timeout=seconds,
            check=False,
        )
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_alive(home):
            return True
        time.sleep(0.02)
    return False


def stop(home: Home, seconds: float = 5.0) -> bool:
    """Ask the daemon to end; True when none runs any more."""
    try:
        pid = int((home.run / "daemon.lock").read_text())
    except (FileNotFoundError, ValueError):
        return True
    if not is_alive(home):
        return True
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not is_alive(home, 0.2):
            return True
        time.sleep(0.02)
    return False


def run(home: Home) -> int:
    """Be the daemon until told to stop."""
    from holdfast.control import Control
    from holdfast.hosts.registry import gateway_for

    control = Control.open(home, on_problem=lambda error: print(error, file=sys.stderr, flush=True))
    gateway = gateway_for(control)

    async def serve() -> None:
        daemon = Daemon(home.root, gateway.answer, token=token_of(home), port=port_of(home))
        await daemon.serve()

    try:
        import uvloop

        uvloop.run(serve())
    except AlreadyRunning:
        return 0
    except (OSError, asyncio.CancelledError) as error:
        print(f"the daemon could not serve {home.root}: {error}", file=sys.stderr, flush=True)
        return 1
    finally:
        control.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(run(Home(Path(sys.argv[1]))))
