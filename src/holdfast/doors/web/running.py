"""Runs the server until it is told to stop: its port, its signals, its traces in the home."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from holdfast.doors.web.app import build_app, start_modules
from holdfast.doors.web.server import Server
from holdfast.store.home import Home
from holdfast.store.page_processes import register, unregister

GRACE_SECONDS = 3
BACKLOG = 256
WARM_UP_AFTER = 1.0
_TRIES = 50


class PortTaken(Exception):
    """Somebody else listens there."""


@dataclass(frozen=True, slots=True)
class Tls:
    certificate: Path
    key: Path


def bind(host: str, port: int, *, exactly: bool) -> socket.socket:
    """A socket at `port`, or at the next one that is free; raises `PortTaken`, or `OSError` for a bad address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last = port + (1 if exactly else _TRIES)
    for number in range(port, min(last, 65_536)):
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(BACKLOG)
        except OSError as error:
            listening.close()
            if error.errno != errno.EADDRINUSE:
                raise
            continue
        return listening
    raise PortTaken(f"port {port} of {host} is taken")


class _Uvicorn(uvicorn.Server):
    """Signals are ours: uvicorn would raise them again when it is done, and the process would die of them."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def run(server: Server, listening: socket.socket, *, tls: Tls | None = None, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is called once it listens."""
    import uvloop

    config = uvicorn.Config(
        build_app(server),
        http="httptools",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE_SECONDS,
        limit_concurrency=500,
        ssl_certfile=tls.certificate if tls else None,
        ssl_keyfile=tls.key if tls else None,
    )
    config.load()
    with _registered(server.home, listening.getsockname()[1]):
        start_modules(server)
        uvloop.run(_serve(_Uvicorn(config), server, listening, ready))


async def _serve(serving: _Uvicorn, server: Server, listening: socket.socket, ready: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.hub.close()  # or every open page would hold the end up
        serving.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    ready()
    loop.call_later(WARM_UP_AFTER, server.desk.warm_up)
    await serving.serve(sockets=[listening])


@contextlib.contextmanager
def _registered(home: Home, port: int) -> Iterator[None]:
    register(home, port, os.getpid())
    try:
        yield
    finally:
        unregister(home, port)


def has_desktop() -> bool:
    """Whether a browser could be opened for the person who started this."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    if sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
