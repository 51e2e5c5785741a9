"""The events that the index does not cover yet. They are read again from the store, so that a new event is found at
once, in any process, whoever may be writing the index."""

from __future__ import annotations

import bisect
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.store.interface import EventRecord, Store
from holdfast.store.search_document import QUIET_KINDS, Card, is_dated, place_of, speaker_of, voice_of
from holdfast.store.search_filters import Labels
from holdfast.store.search_scan import ScanText

_BATCH = 500
MOST_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class TailEvent:
    card: Card
    labels: Labels
    text: ScanText

    @property
    def seq(self) -> int:
        return self.card.seq


class Vaults:
    """Which project a session belongs to; sessions are asked for once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, str] = {}

    def of(self, session: str) -> str:
        vault = self._known.get(session)
        if vault is None:
            found = self._store.session(session)
            if found is None:
                return ""
            if len(self._known) > 100_000:
                self._known.clear()
            vault = self._known[session] = found.vault
        return vault


class Tail:
    """Keeps what it has read, so that each search reads only what is new."""

    def __init__(self, store: Store, vaults: Vaults) -> None:
        self._store = store
        self._vaults = vaults
        self._lock = threading.Lock()
        self._kept: list[TailEvent] = []
        self._start = 0
        """Everything between this and `_read` that has text is kept."""
        self._read = 0

    def after(self, covered: int, deadline: float) -> tuple[list[TailEvent], bool]:
        """The events beyond `covered`, oldest first, and whether that is all of them.

        Not all when there are more than `MOST_KEPT`, or when time ran out.
        """
        with self._lock:
            if covered < self._start:  # the index was lost or built anew
                self._kept, self._start, self._read = [], covered, covered
            elif covered > self._start:
                self._start, self._read = covered, max(covered, self._read)
                del self._kept[: bisect.bisect_right(self._kept, covered, key=_seq)]
            whole = self._read_on(deadline)
            return list(self._kept), whole

    def _read_on(self, deadline: float) -> bool:
        while True:
            if len(self._kept) >= MOST_KEPT or time.monotonic() > deadline:
                return not self._store.events_since(self._read, 1)
            batch = self._store.events_since(self._read, _BATCH)
            self._kept += filter(None, map(self._event, batch))
            if batch:
                self._read = batch[-1].seq
            if len(batch) < _BATCH:
                return True

    def beyond(self, seq: int, deadline: float) -> Iterator[TailEvent]:
        """What lies beyond the kept ones, read and let go; ends when time runs out."""
        while time.monotonic() <= deadline and (batch := self._store.events_since(seq, _BATCH)):
            yield from filter(None, map(self._event, batch))
            seq = batch[-1].seq

    def _event(self, record: EventRecord) -> TailEvent | None:
        text = ScanText.of(record.text)
        if not text.words.strip():
            return None
        labels = Labels.of(record, self._vaults.of(record.where.session))
        voice = voice_of(speaker_of(record))
        place = place_of(record.where.session, record.no)
        dated = record.kind not in QUIET_KINDS and is_dated(text.words)
        return TailEvent(Card(record.seq, place, labels.at, voice, dated), labels, text)


def _seq(event: TailEvent) -> int:
    return event.seq
