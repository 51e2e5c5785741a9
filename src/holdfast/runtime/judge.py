"""The plane, asked from asyncio.

On the local store a judgement takes about a millisecond, less than handing it to a thread and back, so it is made at
once. A door that serves many, or a store behind a network, asks `in_thread`: one thread, so that events are judged in
the order in which they were asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from holdfast.core.events import Event
from holdfast.core.keys import SessionId
from holdfast.core.messages import Message
from holdfast.core.outcome import Outcome
from holdfast.plane import Plane

_T = TypeVar("_T")


Heed = Callable[[Event, Outcome], Sequence[Message]]
"""Takes note of what an answer means elsewhere; what the user should be told besides."""


Tell = Callable[[Outcome], None]


class Judge:
    def __init__(self, plane: Plane, *, heed: Heed = lambda event, outcome: (), in_thread: bool = False) -> None:
        self._plane = plane
        self._heed = heed
        self._reports: dict[SessionId, list[tuple[Event, Tell]]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judge") if in_thread else None

    async def __call__(self, event: Event) -> Outcome:
        reports = self._reports.pop(event.where, [])
        return _told(await self.do(self._judged, [*(report for report, _ in reports), event]), reports)

    def later(self, event: Event, tell: Tell = lambda outcome: None) -> None:
        """A report that nobody waits for: it goes with the agent's next event, in the same transaction."""
        self._reports.setdefault(event.where, []).append((event, tell))

    async def flush(self, where: SessionId) -> None:
        """No event is to follow: make what was left for later durable now."""
        while reports := self._reports.pop(where, []):  # telling of one may bring the next
            _told(await self.do(self._judged, [report for report, _ in reports]), reports)

    def now(self, event: Event) -> Outcome:
        """At once, for the last word of something that is being cancelled."""
        reports = self._reports.pop(event.where, [])
        return _told(self._judged([*(report for report, _ in reports), event]), reports)

    async def do(self, work: Callable[..., _T], *args: Any) -> _T:
        """Work on the store. A cancelled caller waits until it is settled: then it is known what stands there."""
        if self._thread is None:
            return work(*args)
        future = asyncio.get_running_loop().run_in_executor(self._thread, work, *args)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)

    def _judged(self, events: Sequence[Event]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for event, outcome in zip(events, self._plane.handle_all(events), strict=True):
            said = self._heed(event, outcome)
            outcomes.append(replace(outcome, warnings=(*outcome.warnings, *said)) if said else outcome)
        return outcomes


def _told(outcomes: Sequence[Outcome], reports: Sequence[tuple[Event, Tell]]) -> Outcome:
    for outcome, (_, tell) in zip(outcomes, reports, strict=False):
        tell(outcome)
    return outcomes[-1]
