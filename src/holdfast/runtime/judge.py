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
from holdfast.core.messages import Message
from holdfast.core.outcome import Outcome
from holdfast.plane import Plane

_T = TypeVar("_T")


Heed = Callable[[Event, Outcome], Sequence[Message]]
"""Takes note of what an answer means elsewhere; what the user should be told besides."""


class Judge:
    def __init__(self, plane: Plane, *, heed: Heed = lambda event, outcome: (), in_thread: bool = False) -> None:
        self._plane = plane
        self._heed = heed
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judge") if in_thread else None

    async def __call__(self, event: Event) -> Outcome:
        return await self.do(self.now, event)

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

    def now(self, event: Event) -> Outcome:
        """At once: on the local store, and for the last word of something that is being cancelled."""
        outcome = self._plane.handle(event)
        told = self._heed(event, outcome)
        return replace(outcome, warnings=(*outcome.warnings, *told)) if told else outcome

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
