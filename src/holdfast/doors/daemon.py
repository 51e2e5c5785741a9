"""One process per user that answers hooks quickly and keeps the page live. It is for speed, never for correctness.

It speaks two small protocols on two doors: `HOOK host size deadline surroundings` lines and HTTP, on a socket that only
its owner can open, and HTTP with a token on a loopback port, because Claude Code's http hooks know no sockets. The
plane runs in worker threads: a question to a person may hold one of them for minutes while the others go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from holdfast._version import __version__
from holdfast.doors.daemon_doors import Doors
from holdfast.hosts.gateway import Asked, environment_of
from holdfast.hosts.host import Reply

MAX_BODY = 64 * 1024 * 1024
READ_SECONDS = 30.0
WORKERS = 128
"""Waiting for a person holds a worker; this many questions can be open at once before hooks queue."""


Answer = Callable[[str, bytes, Asked], Reply]
"""`(host, payload, how it came) -> Reply`; never raises, always ends before the host's own deadline."""


class Daemon:
    """Serves hooks until stopped."""

    def __init__(self, doors: Doors, answer: Answer, *, token: str) -> None:
        self._doors = doors
        self._answer = answer
        self._token = token.encode()
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="hook")
        self._stopping = asyncio.Event()
        self.handled = 0

    async def serve(self) -> None:
        """Run until `stop`."""
        local = await asyncio.start_unix_server(self._on_local, sock=self._doors.local, limit=1 << 20)
        web = await asyncio.start_server(self._on_web, sock=self._doors.web, limit=1 << 20)
        try:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                    loop.add_signal_handler(number, self.stop)
            async with local, web:
                await self._stopping.wait()
        finally:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def stop(self) -> None:
        self._stopping.set()

    async def _run_answer(self, host: str, payload: bytes, asked: Asked) -> Reply:
        self.handled += 1
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._answer, host, payload, asked)

    def _afterwards(self, reply: Reply) -> None:
        """The host has its answer; what is left of the work holds nobody up."""
        if reply.after is not None and not self._stopping.is_set():
            asyncio.get_running_loop().run_in_executor(self._pool, _quietly, reply.after)

    async def _on_local(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not _same_user(writer.get_extra_info("socket")):
            writer.close()
            return
        await self._serve_link(reader, writer, trusted=True)

    async def _on_web(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._serve_link(reader, writer, trusted=False)

    async def _serve_link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, trusted: bool) -> None:
        try:
            while line := await reader.readline():
                if line.startswith(b"HOOK ") and trusted:
                    await self._hook(line, reader, writer)
                    break
                if not await self._http(line, reader, writer, trusted=trusted):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ValueError):
            pass  # the peer went away or spoke nonsense; its own deadline or onFailure decides what that means
        finally:
            writer.close()

    async def _hook(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, host, size, deadline, surroundings = line.split()
        payload = await _body(reader, int(size))
        asked = Asked(float(deadline), environment_of(surroundings.decode("ascii", "replace")))
        reply = await self._run_answer(host.decode(), payload, asked)
        writer.write(b"%d %d %d\n" % (reply.code, len(reply.out), len(reply.err)) + reply.out + reply.err)
        await writer.drain()
        self._afterwards(reply)

    async def _http(
        self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, trusted: bool
    ) -> bool:
        """One request; returns whether the link stays open."""
        method, path, _ = line.split()
        async with asyncio.timeout(READ_SECONDS):
            headers = _headers(await reader.readuntil(b"\r\n\r\n"))
        payload = await _body(reader, int(headers.get(b"content-length", b"0")))
        if not trusted and not self._may_enter(headers):
            return await _respond(writer, b"403 Forbidden", b'{"error":"wrong or missing token"}')
        if method == b"GET" and path == b"/alive":
            greeting = b'{"holdfast":"%s","pid":%d}' % (__version__.encode(), os.getpid())
            return await _respond(writer, b"200 OK", greeting)
        if method != b"POST" or not path.startswith(b"/hook/"):
            return await _respond(writer, b"404 Not Found", b'{"error":"no such path"}')
        host, _, query = path[len(b"/hook/") :].decode("ascii", "replace").partition("?")
        deadline = query.removeprefix("deadline=")
        asked = Asked(float(deadline) if deadline.isdigit() else None)
        reply = await self._run_answer(host, payload, asked)
        status = b"200 OK" if reply.code == 0 else b"500 Internal Server Error"
        open_still = await _respond(writer, status, reply.out or b"{}")
        self._afterwards(reply)
        return open_still

    def _may_enter(self, headers: dict[bytes, bytes]) -> bool:
        host = headers.get(b"host", b"").rsplit(b":", 1)[0]
        if host not in (b"127.0.0.1", b"localhost") or b"origin" in headers:
            return False  # a page in a browser, or a name rebound to loopback: neither is a hook
        return hmac.compare_digest(headers.get(b"authorization", b""), b"Bearer " + self._token)


def _headers(head: bytes) -> dict[bytes, bytes]:
    parts = (header.partition(b":") for header in head.split(b"\r\n", 100)[:100])
    return {name.strip().lower(): value.strip() for name, colon, value in parts if colon}


async def _body(reader: asyncio.StreamReader, size: int) -> bytes:
    if not 0 <= size <= MAX_BODY:
        raise ValueError(f"a body of {size} bytes is refused")
    async with asyncio.timeout(READ_SECONDS):
        return await reader.readexactly(size)


async def _respond(writer: asyncio.StreamWriter, status: bytes, body: bytes) -> bool:
    writer.write(
        b"HTTP/1.1 " + status + b"\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    )
    await writer.drain()
    return True


def _same_user(link: socket.socket) -> bool:
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the socket's own folder is 0700; that has to do where the kernel tells no more
    _, uid, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return uid in (os.getuid(), 0)


def _quietly(work: Callable[[], None]) -> None:
    try:
        work()
    except Exception:
        traceback.print_exc(file=sys.stderr)
