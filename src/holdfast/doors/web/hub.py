"""One stream of events for every page that is open: numbered, kept for a while, and resumed where it broke off.

Events lie in one ring, encoded once; a page is a number in it: nobody's slowness costs memory. An id also says how much
of the store's record had been told by then. So a page that is too slow, was away for long or comes from a process that
has ended since gets what it missed from the record, and then `resumed`: what is not in the record (a reply half
written) it asks for again. Only when the record does not reach that far it is told `reset`, and loads everything anew.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson

RING = 8192
RING_BYTES = 16 << 20
PING_SECONDS = 15.0
MOST_AT_ONCE = 256 << 10
_ID = re.compile(r"([0-9a-f]{8})-(\d{1,15})-(\d{1,15})-(\d{1,11})\Z")


@dataclass(frozen=True, slots=True)
class Place:
    """How far somebody has heard."""

    number: int | None
    """Of the last event; None when another process gave it out."""
    position: int
    """Everything in the store up to here had been told by then."""
    at: float


CatchUp = Callable[[Place, Place], Awaitable[bytes | None]]
"""What a page at the first place needs to stand at the second, as far as the store knows; None when it does not."""


class Hub:
    """`publish` from any thread; `after` tells what came since a number."""

    def __init__(
        self,
        *,
        first: int = 0,
        clock: Callable[[], float] = time.time,
        ring: int = RING,
        ring_bytes: int = RING_BYTES,
    ) -> None:
        self.epoch = secrets.token_hex(4)
        self.first = first
        """Numbers begin behind it; those of a later process lie above those of an earlier one."""
        self._ring: deque[tuple[int, bytes, int]] = deque()
        self._most, self._most_bytes = ring, ring_bytes
        self._bytes = 0
        self._last = first
        self._position = 0
        self._clock = clock
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news: asyncio.Event | None = None
        self._woken = False
        self.closed = False
        self.streams = 0

    @property
    def last(self) -> int:
        return self._last

    def publish(self, name: str, data: Any, *, position: int = 0) -> int:
        """Encoded here, in the thread of whoever has the news; `position` when it tells of the store up to there."""
        body = orjson.dumps(data, default=str)
        with self._lock:
            self._last += 1
            self._position = max(self._position, position)
            entry = encoded(self.id_of(Place(self._last, self._position, self._clock())), name, body)
            self._ring.append((self._last, entry, self._position))
            self._bytes += len(entry)
            while len(self._ring) > self._most or (self._bytes > self._most_bytes and len(self._ring) > 1):
                self._bytes -= len(self._ring.popleft()[1])
            number = self._last
        self._wake()
        return number

    def reached(self, position: int) -> None:
        """The store up to here has been told; whatever of it no page shows needs no event."""
        with self._lock:
            self._position = max(self._position, position)

    def here(self) -> Place:
        """Where somebody stands who has heard everything."""
        with self._lock:
            return Place(self._last, self._position, self._clock())

    def after(self, number: int) -> tuple[int, bytes, int] | None:
        """What came behind `number`, as much as fits one write, the number it reaches, and the store's position there;
        None when it is too old."""
        with self._lock:
            if number > self._last or number < (self._ring[0][0] - 1 if self._ring else self._last):
                return None
            if number == self._last:
                return number, b"", self._position
            parts: list[bytes] = []
            size = 0
            reached, position = number, 0
            # Those that wait are few and at the end; a ring is cheap to enter from there.
            for at in range(number - self._ring[0][0] + 1, len(self._ring)):
                reached, entry, position = self._ring[at]
                parts.append(entry)
                size += len(entry)
                if size > MOST_AT_ONCE:
                    break
            return reached, b"".join(parts), position

    def place_of(self, event_id: str) -> Place | None:
        """The place of an id that a server of this home gave out; None for anything else."""
        match = _ID.match(event_id)
        if match is None:
            return None
        number = int(match[2]) if match[1] == self.epoch else None
        if number is not None and not self.first <= number <= self._last:
            return None
        return Place(number, int(match[3]), float(match[4]))

    def id_of(self, place: Place) -> str:
        return event_id(self.epoch, place.number or 0, place.position, place.at)

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


def event_id(epoch: str, number: int, position: int, at: float) -> str:
    return f"{epoch}-{number}-{position}-{int(at)}"


def encoded(identity: str, name: str, body: bytes) -> bytes:
    return f"id: {identity}\nevent: {name}\ndata: ".encode() + body + b"\n\n"


async def _nothing(seen: Place, here: Place) -> None:
    return None


async def follow(
    hub: Hub, since: Place | None, may_go_on: Callable[[], bool], catch_up: CatchUp = _nothing
) -> AsyncIterator[bytes]:
    """The stream of one page, behind `since`; None: it cannot be known what it has seen."""
    seen = since
    yield b"retry: 1000\n\n" + _ping(hub, seen)
    while not hub.closed and may_go_on():
        found = hub.after(seen.number) if seen is not None and seen.number is not None else None
        if found is None:
            here = hub.here()
            missed = await catch_up(seen, here) if seen is not None else None
            # With an id: a page that loses the connection right now goes on from here.
            said = "reset" if missed is None else "resumed"
            yield (missed or b"") + encoded(hub.id_of(here), said, orjson.dumps({"eventNo": here.number}))
            seen = here
            continue
        number, news, position = found
        seen = Place(number, position, time.time())
        if news:
            yield news
            continue
        await hub.wait(number, PING_SECONDS)
        if hub.last == number and not hub.closed:
            yield _ping(hub, seen)


def _ping(hub: Hub, seen: Place | None) -> bytes:
    """With its place where that is known: a page that has heard nothing else yet can go on from there."""
    body = orjson.dumps({"at": time.time()})
    if seen is None or seen.number is None:
        return b"event: ping\ndata: " + body + b"\n\n"
    return encoded(hub.id_of(seen), "ping", body)
