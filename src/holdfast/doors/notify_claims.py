"""Who tells the user of a waiting question: exactly one of the processes that could.

Each question has a note in the store that is only ever changed by compare-and-set. Whoever takes it has until a moment;
if it dies on the way, another may take it then. What could not be delivered is tried again a few times, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.store.interface import Store

PREFIX = "notify:"
MOST_TRIES = 3
LEASE_SECONDS = 60.0
"""Longer than all ways together may take."""
PAUSE_SECONDS = (5.0, 30.0)
"""Before the second and the third try."""
_KEPT_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Claim:
    """This process is the one to tell, by these ways."""

    key: str
    kept: dict[str, Any]

    @property
    def ways(self) -> tuple[str, ...]:
        return tuple(self.kept["left"])


class Claims:
    def __init__(self, store: Store) -> None:
        self._store = store

    def take(self, approval_id: str, ways: Sequence[str], now: float) -> Claim | None:
        """The right to tell now; None when somebody else has it or had it, or when it was tried often enough."""
        key = PREFIX + approval_id
        known: Any = self._store.noted(key)
        if known is None:
            wanted = {"tries": 1, "left": list(ways), "until": now + LEASE_SECONDS, "at": now}
        elif not known["left"] or known["until"] > now or known["tries"] >= MOST_TRIES:
            return None
        else:
            wanted = {**known, "tries": known["tries"] + 1, "until": now + LEASE_SECONDS}
        return Claim(key, wanted) if self._store.swap_note(key, known, wanted) else None

    def done(self, claim: Claim, left: Sequence[str], now: float) -> None:
        """`left`: the ways that did not work; they are tried again, by whoever comes first."""
        pause = PAUSE_SECONDS[min(claim.kept["tries"], len(PAUSE_SECONDS)) - 1]
        self._store.swap_note(claim.key, claim.kept, {**claim.kept, "left": list(left), "until": now + pause})

    def sweep(self, now: float) -> None:
        """Forget questions of which everybody has long been told."""
        for key, kept in self._store.notes(PREFIX).items():
            if now - float(kept["at"]) > _KEPT_SECONDS:
                self._store.swap_note(key, kept, None)
