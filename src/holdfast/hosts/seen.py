"""When a host was last heard of: the one proof that its hooks are really called."""

from __future__ import annotations

import threading
from collections.abc import Callable

from holdfast.store.interface import Store

_NOTE = "host-seen:"
_EVERY_SECONDS = 30.0


class Seen:
    """Writes it down now and then, not at every hook."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._last: dict[str, float] = {}
        self._lock = threading.Lock()

    def __call__(self, host: str) -> None:
        now = self._clock()
        with self._lock:
            if now - self._last.get(host, 0.0) < _EVERY_SECONDS:
                return
            self._last[host] = now
        self._store.note(_NOTE + host, now)


def last_seen(store: Store, host: str) -> float | None:
    at = store.noted(_NOTE + host)
    return float(at) if isinstance(at, int | float) else None
