"""A clock that stands still until a test moves it."""

from __future__ import annotations

import threading

DEFAULT_NOW = 1_700_000_000.0


class FixedClock:
    """Stands in wherever a callable that gives seconds since the epoch is asked for."""

    def __init__(self, now: float = DEFAULT_NOW) -> None:
        self._now = now
        self._lock = threading.Lock()

    def __call__(self) -> float:
        with self._lock:
            return self._now

    def advance(self, seconds: float) -> float:
        """Moves the clock on and gives the new time; going back is an error, as real time does not."""
        if seconds < 0:
            raise ValueError(f"a clock only goes forward, not by {seconds!r} s; make a new FixedClock instead")
        with self._lock:
            self._now += seconds
            return self._now
