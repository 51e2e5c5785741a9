"""One stream of events for every page that is open: numbered, kept for a while, and resumed where it broke off.

Events lie in one ring, encoded once; a page is a number in it. A page that is too slow, was away for too long or comes
from another process's numbering is told `reset` and loads what it shows anew: nobody's slowness costs memory.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
from starlette.responses import StreamingResponse

from holdfast.doors.web.routes import ApiError, Call, Route

RING = 8192
RING_BYTES = 16 << 20
PING_SECONDS = 15.0
MOST_STREAMS = 100
MOST_AT_ONCE = 256 << 10
_ID = re.compile(r"([0-9a-f]{8})-(\d{1,15})\Z")


class Hub:
    """`publish` from any thread; `after` tells what came since a number."""

    def __init__(self, *, ring: int = RING, ring_bytes: int = RING_BYTES) -> None:
        self.epoch = secrets.token_hex(4)
        self._ring: deque[tuple[int, bytes]] = deque()
        self._most, self._most_bytes = ring, ring_bytes
        self._bytes = 0
        self._last = 0
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news: asyncio.Event | None = None
        self._woken = False
        self.closed = False
        self.streams = 0

    @property
    def last(self) -> int:
        return self._last

    def publish(self, name: str, data: Any) -> int:
        """Encoded here, in the thread of whoever has the news."""
        body = orjson.dumps(data, default=str)
        with self._lock:
            self._last += 1
            entry = f"id: {self.epoch}-{self._last}\nevent: {name}\ndata: ".encode() + body + b"\n\n"
            self._ring.append((self._last, entry))
            self._bytes += len(entry)
            while len(self._ring) > self._most or (self._bytes > self._most_bytes and len(self._ring) > 1):
                self._bytes -= len(self._ring.popleft()[1])
            number = self._last
        self._wake()
        return number

    def after(self, number: int) -> tuple[int, bytes] | None:
        """What came behind `number`, as much as fits one write, and the number it reaches; None when it is too old."""
        with self._lock:
            if number > self._last or (self._ring and number < self._ring[0][0] - 1):
                return None
            if not self._ring or number == self._last:
                return number, b""
            parts: list[bytes] = []
            size = 0
            reached = number
            # Those that wait are few and at the end; a ring is cheap to enter from there.
            for at in range(number - self._ring[0][0] + 1, len(self._ring)):
                reached, entry = self._ring[at]
                parts.append(entry)
                size += len(entry)
                if size > MOST_AT_ONCE:
                    break
            return reached, b"".join(parts)

    def place_of(self, event_id: str) -> int | None:
        """The number of an id that this process gave out; None for any other."""
        match = _ID.match(event_id)
        if match is None or match[1] != self.epoch or int(match[2]) > self._last:
            return None
        return int(match[2])

    async def wait(self, number: int, seconds: float) -> None:
        """Until something comes behind `number`, or the time is up."""
        if self._news is None:
            self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        news = self._news
        if self._last > number or self.closed:
            return
        try:
            await asyncio.wait_for(news.wait(), seconds)
        except TimeoutError:
            return

    def close(self) -> None:
        """End every stream; pages find their way back to the next process."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        loop = self._loop
        if loop is None or self._woken:
            return
        self._woken = True
        try:
            loop.call_soon_threadsafe(self._tell)
        except RuntimeError:  # the loop has ended: there is nobody left to tell
            self._woken = False

    def _tell(self) -> None:
        self._woken = False
        if self._news is not None:
            self._news.set()
            self._news = asyncio.Event()


async def follow(hub: Hub, since: int | None, may_go_on: Callable[[], bool]) -> AsyncIterator[bytes]:
    """The stream of one page, behind `since`; None: it cannot be known what it has seen."""
    at = hub.last if since is None else since
    yield b"retry: 1000\n\n" + (_reset(hub) if since is None else _ping())
    while not hub.closed and may_go_on():
        found = hub.after(at)
        if found is None:
            at = hub.last
            yield _reset(hub)
            continue
        at, news = found
        if news:
            yield news
            continue
        await hub.wait(at, PING_SECONDS)
        if hub.last == at and not hub.closed:
            yield _ping()


def _reset(hub: Hub) -> bytes:
    # With an id: a page that loses the connection right now goes on from here.
    body = orjson.dumps({"eventNo": hub.last})
    return f"id: {hub.epoch}-{hub.last}\nevent: reset\ndata: ".encode() + body + b"\n\n"


def _ping() -> bytes:
    return b"event: ping\ndata: " + orjson.dumps({"at": time.time()}) + b"\n\n"


async def events(call: Call) -> StreamingResponse:
    hub, devices, device = call.server.hub, call.server.devices, call.device
    if hub.streams >= MOST_STREAMS:
        raise ApiError(503, "too_many_streams", f"{MOST_STREAMS} pages are open already; close one")
    last_id = call.request.headers.get("last-event-id") or call.text("since")
    since = hub.place_of(last_id) if last_id else hub.last

    async def body() -> AsyncIterator[bytes]:
        hub.streams += 1
        try:
            async for part in follow(hub, since, lambda: devices.is_known(device.id)):
                yield part
        finally:
            hub.streams -= 1

    headers = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}
    return StreamingResponse(body(), headers=headers)


ROUTES = (
    Route(
        "GET",
        "/api/events",
        events,
        "The stream of events; goes on behind Last-Event-ID, or says `reset`.",
        query={"since": str},
        returns=None,
        content="text/event-stream",
    ),
)
