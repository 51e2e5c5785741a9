"""The signs of all vectors, in memory: they choose which events are compared with a query at all."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence

from holdfast.store.meaning_vectors import nearest_signs
from holdfast.store.search_filters import Sieve

_CANDIDATES = 400
"""So many, chosen by their signs, are compared exactly."""
Wanted = Sequence[tuple[str, tuple[str, ...]]]
_OF_SESSION = frozenset({"user", "agent", "thread", "vault", "session"})


class Signs:
    """As columns, one place an event."""

    def __init__(self) -> None:
        self.edition = 0
        self._numbers = array("q")
        self._times = array("q")
        self._labels = array("i")
        self._known: dict[tuple[str, str], int] = {}
        self._signs: list[int] = []

    @property
    def last(self) -> int:
        return self._numbers[-1] if self._numbers else 0

    def add(self, seq: int, session: str, kind: str, at: int, signs: int) -> None:
        self._numbers.append(seq)
        self._times.append(at)
        self._labels.append(self._known.setdefault((session, kind), len(self._known)))
        self._signs.append(signs)

    def nearest(self, query: int, sieve: Sieve, sees: Callable[[str, Wanted], bool]) -> list[int]:
        """Numbers of the events whose signs are most like the query's, of those that may pass the sieve."""
        places = nearest_signs(query, self._signs, self._chosen(sieve, sees), _CANDIDATES)
        return [self._numbers[place] for place in places]

    def _chosen(self, sieve: Sieve, sees: Callable[[str, Wanted], bool]) -> list[int] | None:
        """None: all of them. Decided before anything is compared, or a small scope would be crowded out."""
        outer = [(name, values) for name, values in sieve.wanted if name in _OF_SESSION]
        kinds = [values for name, values in sieve.wanted if name == "kind"]
        if not outer and not kinds and sieve.since is None and sieve.until is None:
            return None
        seen = {session: sees(session, outer) for session in {session for session, _ in self._known}}
        passing = [seen[session] and all(kind in values for values in kinds) for session, kind in self._known]
        low = -math.inf if sieve.since is None else sieve.since
        high = math.inf if sieve.until is None else sieve.until
        rows = enumerate(zip(self._labels, self._times, strict=True))
        return [place for place, (label, at) in rows if passing[label] and low <= at < high]
