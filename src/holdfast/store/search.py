"""Searching everything that was said and done.

    search = open_search(store, home)
    page = search.find("connection refused", Scope.chain(key), Filters(tools=("bash",)))

`find` reads the index, adds the events that the index does not cover yet, and shows what the store holds now: a new
event is found at once, a deleted session never. Whoever has time calls `refresh` from a thread of its own (`KeepFresh`
does that); without it, a search that meets too long a tail refreshes by itself.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holdfast.core.messages import Message, Phrase
from holdfast.store.home import Home
from holdfast.store.interface import EventRecord, Store
from holdfast.store.meaning import Meaning, Near
from holdfast.store.meaning_embedder import Source, nobody
from holdfast.store.meaning_file import MeaningFile
from holdfast.store.search_cursor import Cursor, Mode, decode, encode, fingerprint
from holdfast.store.search_document import IndexState
from holdfast.store.search_filters import EVERYTHING, NO_FILTERS, Filters, Labels, Scope, Sieve
from holdfast.store.search_folder import IndexFolder, IndexReader
from holdfast.store.search_fusion import fused
from holdfast.store.search_index import Snapshot
from holdfast.store.search_query import Query, SearchError, read_query
from holdfast.store.search_round import Round, may_match
from holdfast.store.search_scan import ScanText
from holdfast.store.search_snippet import Marker
from holdfast.store.search_tail import Tail, TailEvent, Vaults
from holdfast.store.search_writer import IndexWriter, Progress, Refreshed

MOST_HITS = 200
_RANKED = 60
"""So many hits at least come in the order of their rank; the others newest first."""
_LONG_TAIL = 3_000
_TAIL_BUDGET = 4.0

Match = Literal["auto", "all", "any"]
"""`all`: every word; `any`: the best of those with some of them; `auto`: by whether it reads as a question."""

_LIMIT = Phrase(
    "search.limit", "limit must be between 1 and {most}, got {got}", "limit 须在 1 与 {most} 之间，实际为 {got}"
)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One event that was found, and where to read it."""

    session: str
    thread: str
    event_no: int
    invocation: str
    kind: str
    at: float
    tool: str
    snippet: str
    score: float
    agent: str = ""
    user: str = ""
    subagent: str = ""
    event_id: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    """Where the snippet matches: from, to."""

    def marked(self, before: str = "«", after: str = "»") -> str:
        """The snippet with its matches between two signs."""
        pieces, at = [], 0
        for low, high in self.marks:
            pieces += [self.snippet[at:low], before, self.snippet[low:high], after]
            at = high
        return "".join([*pieces, self.snippet[at:]])


@dataclass(frozen=True, slots=True)
class SearchPage:
    hits: tuple[SearchHit, ...]
    cursor: str | None = None
    """For the next page; None when this is the last."""
    match: Mode = "all"
    order: Literal["best", "newest"] = "best"
    complete: bool = True
    """False when time ran out before everything was looked at."""
    notice: Message | None = None
    """Why a search that should also go by meaning went by words only."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """For `holdfast status` and the doctor."""

    documents: int
    """Events with text in the index."""
    covered: int
    """The number of the last event that it has read."""
    behind: bool
    bytes: int
    removed: int
    """Events of deleted sessions whose terms may still lie in its files."""
    trouble: str
    """Why an index that is there is not used."""


def open_search(store: Store, home: Home) -> Search:
    """The search of a home by words, with its index where every other process looks for it.

    `chain.embeddings.search_of` opens one that also goes by meaning, where the configuration says so.
    """
    return Search(store, home.data / "search")


class Search:
    """Safe under threads and under several processes on one store. `folder` is the index's own."""

    def __init__(
        self, store: Store, folder: Path, *, clock: Callable[[], float] = time.time, meaning: Source = nobody
    ) -> None:
        self._store = store
        self._clock = clock
        self._source = meaning
        self._folder = IndexFolder(Path(folder))
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._vaults = Vaults(self._store)
        self._reader = IndexReader(self._store, self._folder)
        self._writer = IndexWriter(self._store, self._folder)
        self._tail = Tail(self._store, self._vaults)
        self._meaning = Meaning(self._store, MeaningFile(self._folder.root), self._source, self._vaults)

    def _check(self) -> None:
        if os.getpid() != self._process:  # after a fork: threads and locks stayed with the parent
            self._reset()

    # searching

    def find(
        self,
        query: str,
        scope: Scope = EVERYTHING,
        filters: Filters = NO_FILTERS,
        limit: int = 20,
        cursor: str | None = None,
        *,
        match: Match = "auto",
        patience: float = 10.0,
        by_meaning: bool = True,
    ) -> SearchPage:
        """One page of hits, the best first. Raises `SearchError` for what cannot be searched for.

        Paging with `cursor` gives every hit once: ranked ones, then the others from the newest on. Without
        `by_meaning` no endpoint is asked, whatever is configured.
        """
        self._check()
        if not 1 <= limit <= MOST_HITS:
            raise SearchError(_LIMIT(most=MOST_HITS, got=repr(limit)))
        asked = read_query(query)
        sieve = Sieve(scope, filters)
        search = fingerprint(asked.text, [sieve.identity, match])
        position = None if cursor is None else decode(cursor, search)
        deadline = time.monotonic() + patience
        near = Near()
        if position is None and by_meaning and match != "all" and not asked.is_literal:
            near = self._meaning.near(asked.text, sieve, patience / 2)
        this, complete = self._round(asked, sieve, deadline)
        scores: dict[int, float] = {}
        if position is None:
            position, scores = _begin(this, asked, match, limit)
            if near.events:
                position, scores = fused(position, near.events)
        page = _Page(position.mode, Marker(asked, by_stem=position.mode == "any"), scores)
        following = self._fill(page, this, sieve, position, limit)
        return SearchPage(
            tuple(page.hits),
            None if following is None else encode(following, search),
            position.mode,
            "best" if position.pending else "newest",
            complete,
            near.notice,
        )

    def _round(self, query: Query, sieve: Sieve, deadline: float) -> tuple[Round, bool]:
        """Index and tail at this moment, and whether that is everything."""
        snapshot, tail, whole = self._look(deadline)
        if len(tail) > _LONG_TAIL or not whole:
            budget = min(_TAIL_BUDGET, max(0.0, deadline - time.monotonic()) / 2)
            if not self._writer.refresh(budget).busy:
                snapshot, tail, whole = self._look(deadline)
        if not whole:
            last = tail[-1].seq if tail else 0
            tail += [event for event in self._tail.beyond(last, deadline) if may_match(query, event.text)]
            whole = time.monotonic() <= deadline
        return Round(query, sieve, snapshot, tail, self._clock()), whole

    def _look(self, deadline: float) -> tuple[Snapshot | None, list[TailEvent], bool]:
        snapshot = self._reader.snapshot()
        return snapshot, *self._tail.after(snapshot.state.covered if snapshot else 0, deadline)

    def _fill(self, page: _Page, this: Round, sieve: Sieve, position: Cursor, limit: int) -> Cursor | None:
        """Put hits on the page; returns where the next one begins."""
        pending = deque(position.pending)
        while pending and len(page.hits) < limit:
            self._show(page, this, sieve, pending.popleft())
        before, shown = position.before, frozenset(position.shown)
        while before and not pending and len(page.hits) < limit:
            wanted = limit - len(page.hits) + len(shown)
            found = this.newest(position.mode, before, wanted)
            for seq in found:
                if len(page.hits) == limit:
                    break
                before = seq
                if seq not in shown:
                    self._show(page, this, sieve, seq)
            else:
                if len(found) < wanted:
                    before = 0
        left = tuple(seq for seq in shown if seq < before)
        if not pending and (not before or set(this.newest(position.mode, before, len(left) + 1)) <= set(left)):
            return None
        return Cursor(position.mode, before, tuple(pending), left)

    def _show(self, page: _Page, this: Round, sieve: Sieve, seq: int) -> None:
        """Read the event itself: what is gone, or outside, is not shown."""
        found = self._store.events_since(seq - 1, 1)
        if not found or found[0].seq != seq:
            return
        record = found[0]
        if not sieve.accepts(Labels.of(record, self._vaults.of(record.where.session))):
            return
        score = page.scores.get(seq)
        page.add(record, this.score(page.mode, ScanText.of(record.text)) if score is None else score)

    # keeping the index

    def refresh(self, budget_seconds: float | None = None, progress: Progress | None = None) -> Refreshed:
        """Take into the index what is new, for about so many seconds; returns at once when another is at it.

        For a background thread. After the last call, `close` gives the writers' lock back.
        """
        self._check()
        if not self._writer.is_open and not self._has_news():
            return Refreshed()
        return self._writer.refresh(budget_seconds, progress)

    def _has_news(self) -> bool:
        snapshot = self._reader.snapshot()
        state = snapshot.state if snapshot else IndexState()
        return bool(self._store.events_since(state.covered, 1) or self._store.deletions(state.deletions, 1))

    def unindexed(self, most: int = 1000) -> int:
        """How many events the index does not cover yet; counted up to `most`."""
        self._check()
        snapshot = self._reader.snapshot()
        return len(self._store.events_since(snapshot.state.covered if snapshot else 0, most))

    def rebuild(self, progress: Progress | None = None) -> Refreshed:
        """Build the index anew from the store; searches go on with the old one until it is done."""
        self._check()
        return self._writer.rebuild(progress)

    def scrub(self, progress: Progress | None = None) -> bool:
        """After a deletion: leave nothing of it in the index's files. False when another process was at work."""
        self._check()
        forgotten = self._meaning.forget_deleted()
        if self._writer.refresh().busy:
            return False
        snapshot = self._reader.snapshot()
        if snapshot is None or not snapshot.state.removed:
            return forgotten
        return not self._writer.rebuild(progress).busy and forgotten

    @property
    def meaning(self) -> Meaning:
        """The vectors: making them, throwing them away, and how far they have come."""
        self._check()
        return self._meaning

    def status(self) -> IndexStatus:
        self._check()
        snapshot = self._reader.snapshot()
        state = snapshot.state if snapshot else IndexState()
        behind = bool(self._store.events_since(state.covered, 1))
        trouble = self._reader.trouble
        events = snapshot.events if snapshot else 0
        return IndexStatus(events, state.covered, behind, self._folder.size(), state.removed, trouble)

    def close(self) -> None:
        self._check()
        self._writer.close()


class _Page:
    """A page while it is being filled."""

    def __init__(self, mode: Mode, marker: Marker, scores: Mapping[int, float]) -> None:
        self.mode = mode
        self.scores = scores
        self.hits: list[SearchHit] = []
        self._marker = marker

    def add(self, record: EventRecord, score: float) -> None:
        snippet, marks = self._marker.snippet(record.text)
        where = record.where
        self.hits.append(
            SearchHit(
                session=where.session,
                thread=where.thread,
                event_no=record.no,
                invocation=record.invocation,
                kind=record.kind,
                at=record.at,
                tool=record.tool,
                snippet=snippet,
                score=score,
                agent=where.agent,
                user=where.user,
                subagent=where.subagent,
                event_id=record.id,
                marks=marks,
            )
        )


def _begin(this: Round, query: Query, match: Match, limit: int) -> tuple[Cursor, dict[int, float]]:
    """The ranked hits, and how to go on after them."""
    mode: Mode = match if match != "auto" else "any" if query.is_question else "all"
    if mode == "any" and not query.stems:
        mode = "all"
    found, more = this.ranked(mode)
    if not found and match == "auto" and mode == "all" and query.stems:
        mode = "any"
        found, more = this.ranked(mode)
    size = max(_RANKED, limit)
    scores = {card.seq: score for score, card in found[:size]}
    head = tuple(scores)
    if more or len(found) > size:
        return Cursor(mode, this.top + 1, head, head), scores
    return Cursor(mode, 0, head), scores
