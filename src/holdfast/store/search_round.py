"""One search over one moment: what the index knows, and the events that it does not cover yet, as one."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from functools import cached_property

import tantivy

from holdfast.store.search_cursor import Mode
from holdfast.store.search_document import Card, Scored, voice_of
from holdfast.store.search_filters import Sieve
from holdfast.store.search_index import Snapshot
from holdfast.store.search_query import Field, Query, Term
from holdfast.store.search_rank import Question, by_recency, for_question, read_question, stem_weights
from holdfast.store.search_scan import ScanText, Statistics, matches, score
from holdfast.store.search_tail import TailEvent

CANDIDATES = 300
"""So many of the index's best are ranked further."""


class Round:
    def __init__(
        self, query: Query, sieve: Sieve, snapshot: Snapshot | None, tail: Sequence[TailEvent], now: float
    ) -> None:
        self._query = query
        self._sieve = sieve
        self._snapshot = snapshot
        self._tail = tail
        self._now = now
        self._measured = snapshot if snapshot is not None and snapshot.events > 0 else None
        self._lengths: dict[Field, float] = {}
        self._counts: dict[tuple[Field, str], int] = {}
        documents = self._measured.documents if self._measured else len(tail)
        self._statistics = Statistics(documents, self._length, self._holding)

    @property
    def top(self) -> int:
        """The newest event that this search knows of."""
        covered = self._snapshot.state.covered if self._snapshot else 0
        return self._tail[-1].seq if self._tail else covered

    def ranked(self, mode: Mode) -> tuple[list[Scored], bool]:
        """The best hits, best first, and whether there may be more."""
        found = self._snapshot.best(self._index_query(mode), CANDIDATES) if self._snapshot else []
        late = [(self.score(mode, event.text), event.card) for event in self._tail_hits(mode)]
        more = len(found) == CANDIDATES or len(late) > CANDIDATES
        found += heapq.nlargest(CANDIDATES, late)
        if mode == "all":
            return by_recency(found, self._now), more
        # Neighbours that hold none of the words are welcome in answer to a question only.
        around = self._at_places if self._query.is_question else _nowhere
        return for_question(found, self._asked[0], around, self._now), more

    def newest(self, mode: Mode, before: int, limit: int) -> list[int]:
        """The newest hits below a number, newest first."""
        late = [event.seq for event in self._tail_hits(mode) if event.seq < before]
        found = late[::-1][:limit]
        if self._snapshot is not None and len(found) < limit:
            found += self._snapshot.newest(self._index_query(mode), limit - len(found), before)
        return found

    def score(self, mode: Mode, text: ScanText) -> float:
        """As the index would have it, without what neighbours and time add."""
        if mode == "all":
            return score(self._query.node, text, self._statistics)
        return sum(weight * score(Term("stems", stem), text, self._statistics) for stem, weight in self._weights)

    # the two halves

    def _index_query(self, mode: Mode) -> tantivy.Query:
        assert self._snapshot is not None
        if mode == "all":
            return self._snapshot.query_of(self._query.node, self._sieve)
        return self._snapshot.weighted(self._weights, self._sieve)

    def _tail_hits(self, mode: Mode) -> list[TailEvent]:
        found = (event for event in self._tail if _meets(self._query, mode, event.text))
        return [event for event in found if self._sieve.accepts(event.labels)]

    def _at_places(self, places: Sequence[int]) -> Iterator[Card]:
        wanted = set(places)
        yield from self._snapshot.at_places(places) if self._snapshot else ()
        yield from (event.card for event in self._tail if event.card.place in wanted)

    # what questions are about

    @cached_property
    def _asked(self) -> tuple[Question, frozenset[str]]:
        voices = {event.card.voice for event in self._tail} - {0}
        return read_question(
            self._query.text,
            lambda word: (
                voice_of(word) in voices or (self._snapshot is not None and self._snapshot.holding("speaker", word) > 0)
            ),
        )

    @cached_property
    def _weights(self) -> list[tuple[str, float]]:
        return stem_weights(self._query, self._asked[1], lambda stem: self._statistics.rarity("stems", stem))

    # statistics: of the index, so that the tail's scores are like its own; of the tail when there is no index

    def _length(self, field: Field) -> float:
        length = self._lengths.get(field)
        if length is None:
            if self._measured is not None:
                length = self._measured.state.tokens(field) / self._measured.documents
            else:
                length = sum(event.text.length(field) for event in self._tail) / max(1, len(self._tail))
            self._lengths[field] = length
        return length

    def _holding(self, field: Field, term: str) -> int:
        count = self._counts.get((field, term))
        if count is None:
            if self._measured is not None:
                count = self._measured.holding(field, term)
            else:
                count = sum(f" {term} " in event.text.field(field) for event in self._tail)
            self._counts[field, term] = count
        return count


def may_match(query: Query, text: ScanText) -> bool:
    return _meets(query, "all", text) or _meets(query, "any", text)


def _meets(query: Query, mode: Mode, text: ScanText) -> bool:
    if mode == "all":
        return matches(query.node, text)
    return any(f" {stem} " in text.stems for stem in query.stems)


def _nowhere(_: Sequence[int]) -> Iterator[Card]:
    return iter(())
