"""The plane, asked from asyncio.

On the local store a judgement takes about a millisecond, less than handing it to a thread and back, so it is made at
once. A door that serves many, or a store behind a network, asks `in_thread`: one thread, so that events are judged in
the order in which they were asked.
"""

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
    def __init__(self, plane: Plane, *, in_thread: bool = False) -> None:
        self._plane = plane
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judge") if in_thread else None

    async def __call__(self, event: Event) -> Outcome:
        return await self.do(self._plane.handle, event)

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
        """At once, for the last word of something that is being cancelled."""
        return self._plane.handle(event)

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
