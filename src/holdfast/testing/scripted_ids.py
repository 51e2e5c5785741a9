"""Ids that are the same in every run."""

from __future__ import annotations

import threading
from collections.abc import Iterable


class ScriptedIds:
    """Stands in wherever a callable that makes a new id is asked for: `id-1`, `id-2`, ...

    `first` are given out before the numbered ones, for a test that wants to name some itself.
    """

    def __init__(self, prefix: str = "id", *, first: Iterable[str] = ()) -> None:
        self._prefix = prefix
        self._named = list(first)
        self._made = 0
        self._lock = threading.Lock()

    def __call__(self) -> str:
        with self._lock:
            if self._named:
                return self._named.pop(0)
            self._made += 1
            return f"{self._prefix}-{self._made}"
