"""The plane, asked from asyncio: off the event loop, in order, and never abandoned half-way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from holdfast.core.events import Event
from holdfast.core.outcome import Outcome
from holdfast.plane import Plane

_T = TypeVar("_T")


class Judge:
    """One thread, so that events are judged in the order in which they were asked."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judge")

    async def __call__(self, event: Event) -> Outcome:
        return await self.do(self._plane.handle, event)

    async def do(self, work: Callable[..., _T], *args: Any) -> _T:
        """Run work on the store. A cancelled caller waits until it is settled: then it is known what stands there."""
        future = asyncio.get_running_loop().run_in_executor(self._thread, work, *args)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise

    def now(self, event: Event) -> Outcome:
        """At once, for the last word of something that is being cancelled."""
        return self._plane.handle(event)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
