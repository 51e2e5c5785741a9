"""Search by meaning: vectors of what was said, made by a model of the user's choice, as an addition to the words.

Nothing happens here unless the user has named a model and an endpoint. Vectors follow the store as the index does, but
in a file of their own: they cost a request each few events, and the index must not wait for that. Only what somebody
said gets a vector; commands and their outputs are found by their words, and are not sent anywhere.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.core.messages import Message, Phrase, message_of
from holdfast.store.interface import EventRecord, Store
from holdfast.store.meaning_embedder import Embedder, EmbeddingError, Source, embedded
from holdfast.store.meaning_file import MeaningFile, MeaningState, Row
from holdfast.store.meaning_signs import Signs, Wanted
from holdfast.store.meaning_vectors import Packed, cosines, pack
from holdfast.store.search_document import QUIET_KINDS, IndexState
from holdfast.store.search_filters import Labels, Sieve, microseconds
from holdfast.store.search_folder import follows
from holdfast.store.search_tail import Vaults
from holdfast.store.search_writer import BUSY, Progress, Refreshed

_WORDS_ONLY = Phrase("search.words_only", "searched by words only: {why}", "仅按词语搜索：{why}")
_NO_VECTORS = Phrase(
    "search.no_vectors",
    "no vectors yet (`holdfast search --semantic` makes them)",
    "尚无向量（`holdfast search --semantic` 会生成）",
)
_NO_DIRECTION = Phrase(
    "search.no_direction",
    "the endpoint gave a vector without a direction for this query",
    "端点为此查询给出了没有方向的向量",
)
_OTHER_LENGTH = Phrase(
    "search.other_length",
    "the endpoint gives vectors of {now} numbers now, those that are kept have {kept}; `holdfast search --rebuild "
    "--semantic` makes them anew",
    "端点现在给出 {now} 维向量，而保存的为 {kept} 维；`holdfast search --rebuild --semantic` 会重新生成",
)
_FAILED_JUST_NOW = Phrase(
    "search.failed_just_now", "the endpoint failed a moment ago; it is asked again soon", "端点刚刚失败；稍后会再次请求"
)
_FILE_FAILED = Phrase(
    "search.file_failed",
    "{path} failed: {error}; `holdfast search --rebuild --semantic` makes a new one",
    "{path} 失败：{error}；`holdfast search --rebuild --semantic` 会重新生成",
)
_TWO_LENGTHS = Phrase(
    "search.two_lengths",
    "the endpoint gives vectors of {one} and {other} numbers",
    "端点给出的向量有 {one} 维和 {other} 维",
)
_MIXED_LENGTHS = Phrase(
    "search.mixed_lengths", "the endpoint gives vectors of different lengths", "端点给出的向量长度不一"
)

MOST_CHARACTERS = 2000
"""Of a text; its beginning mostly says what it is about, and small models read no more."""
_BATCH = 32
_READ = 256
MOST_NEAR = 30
_SHARE_OF_BEST = 0.75
"""What is less like the query than this share of the best is not near."""
_QUIET_SECONDS = 30.0
"""So long the endpoint is not asked again after it failed a search: not every search waits for its deadline."""


@dataclass(frozen=True, slots=True)
class Near:
    """Events like a query, the nearest first, or why there are none."""

    events: tuple[int, ...] = ()
    notice: Message | None = None


@dataclass(frozen=True, slots=True)
class MeaningStatus:
    model: str
    vectors: int
    bytes: int
    behind: bool


class Meaning:
    """Safe under threads and several processes; one of them makes vectors."""

    def __init__(self, store: Store, file: MeaningFile, source: Source, vaults: Vaults) -> None:
        self._store = store
        self._file = file
        self._source = source
        self._vaults = vaults
        self._turn = threading.Lock()
        self._loading = threading.Lock()
        self._loaded = Signs()
        self._labels: dict[str, dict[str, str]] = {}
        """Of sessions that have vectors, asked for once; what is shown is held against the store all the same."""
        self._quiet_until = 0.0

    @property
    def is_on(self) -> bool:
        return self._source() is not None

    # searching

    def near(self, text: str, sieve: Sieve, seconds: float) -> Near:
        """Events that the sieve lets through; whatever fails here is told, and the search goes on without it."""
        try:
            embedder = self._source()
            if embedder is None:
                return Near()
            return self._near(embedder, text, sieve, min(seconds, embedder.query_seconds))
        except (EmbeddingError, sqlite3.Error, OSError) as error:
            return Near(notice=_WORDS_ONLY(why=message_of(error)))

    def _near(self, embedder: Embedder, text: str, sieve: Sieve, seconds: float) -> Near:
        state = self._file.state()
        if state is None or state.model != embedder.identity or not self._follows(state):
            return Near(notice=_WORDS_ONLY(why=_NO_VECTORS()))
        if not state.dimensions:
            return Near()
        query = pack(self._asked(embedder, text, seconds))
        if query is None:
            raise EmbeddingError(_NO_DIRECTION())
        if query.size != state.dimensions:
            raise EmbeddingError(_OTHER_LENGTH(now=query.size, kept=state.dimensions))
        with self._loading:
            self._load()
            numbers = self._loaded.nearest(query.signs, sieve, self._sees)
        return Near(tuple(self._in_order(query, numbers, sieve)))

    def _asked(self, embedder: Embedder, text: str, seconds: float) -> list[float]:
        if time.monotonic() < self._quiet_until:
            raise EmbeddingError(_FAILED_JUST_NOW())
        try:
            (vector,) = embedder.embed([text[:MOST_CHARACTERS]], seconds)
        except EmbeddingError:
            self._quiet_until = time.monotonic() + _QUIET_SECONDS
            raise
        return vector

    def _load(self) -> None:
        state, rows = self._file.signs_after(self._loaded.last)
        if state is None or state.edition != self._loaded.edition:
            self._loaded, self._labels = Signs(), {}
            state, rows = self._file.signs_after(0)
        if state is not None:
            self._loaded.edition = state.edition
        for row in rows:
            self._loaded.add(*row)

    def _sees(self, session: str, wanted: Wanted) -> bool:
        labels = self._labels.get(session)
        if labels is None:
            row = self._store.session(session)
            if row is None:
                return False
            labels = {"user": row.id.user, "agent": row.id.agent, "thread": row.id.thread}
            labels |= {"vault": row.vault, "session": session}
            self._labels[session] = labels
        return all(labels[name] in values for name, values in wanted)

    def _in_order(self, query: Packed, numbers: Sequence[int], sieve: Sieve) -> list[int]:
        """By likeness; each is read from the store, for what is gone there, or outside, is no hit."""
        kept = {seq: one for seq, one in self._file.vectors(numbers).items() if one.size == query.size}
        scored = sorted(zip(cosines(query, list(kept.values())), kept, strict=True), reverse=True)
        found: list[int] = []
        floor = 0.0
        for likeness, seq in scored:
            if likeness <= floor or len(found) == MOST_NEAR:
                break
            if self._passes(seq, sieve):
                floor = floor or likeness * _SHARE_OF_BEST
                found.append(seq)
        return found

    def _passes(self, seq: int, sieve: Sieve) -> bool:
        record = self._record(seq)
        return record is not None and sieve.accepts(Labels.of(record, self._vaults.of(record.where.session)))

    def _record(self, seq: int) -> EventRecord | None:
        found = self._store.events_since(seq - 1, 1)
        return found[0] if found and found[0].seq == seq else None

    # making vectors

    def follow(self, budget_seconds: float | None = None, progress: Progress | None = None) -> Refreshed:
        """Make vectors of what is new, for about so long; `BUSY` when another is at it.

        What was deleted is taken away also when search by meaning is off. Raises `EmbeddingError`.
        """
        if not self._turn.acquire(blocking=False):
            return BUSY
        try:
            embedder = self._source()
            if embedder is None and not self._file.exists:
                return Refreshed()
            lock = self._file.try_lock()
            if lock is None:
                return BUSY
            try:
                end = None if budget_seconds is None else time.monotonic() + budget_seconds
                return self._followed(embedder, end, progress)
            except (sqlite3.Error, OSError) as error:
                raise EmbeddingError(_FILE_FAILED(path=self._file.path, error=error)) from error
            finally:
                os.close(lock)
        finally:
            self._turn.release()

    def forget_deleted(self) -> bool:
        """Only take away what was deleted. False when another is at work, who will do it."""
        if not self._file.exists:
            return True
        lock = self._file.try_lock()
        if lock is None:
            return False
        try:
            state = self._file.state()
            if state is None:
                self._file.remove()
            else:
                self._carry_out_deletions(state)
            return True
        except sqlite3.OperationalError:
            return False
        except sqlite3.DatabaseError:  # nothing of the deleted may stay, and the rest can be made again
            self._file.remove()
            return True
        finally:
            os.close(lock)

    def clear(self) -> bool:
        """Throw all vectors away. False when another is at work."""
        if not self._file.exists:
            return True
        lock = self._file.try_lock()
        if lock is None:
            return False
        try:
            self._file.remove()
            return True
        finally:
            os.close(lock)

    def status(self) -> MeaningStatus | None:
        """None when it is off and nothing is kept."""
        try:
            embedder = self._source()
        except EmbeddingError:
            embedder = None
        try:
            state = self._file.state()
            vectors = self._file.count() if state else 0
        except sqlite3.Error:
            state, vectors = None, 0
        if state is None:
            return MeaningStatus(embedder.identity, 0, self._file.size(), True) if embedder else None
        behind = bool(self._store.events_since(state.covered, 1))
        return MeaningStatus(state.model, vectors, self._file.size(), behind)

    def _followed(self, embedder: Embedder | None, end: float | None, progress: Progress | None) -> Refreshed:
        state = self._file.state()
        if embedder is None:
            if state is not None:
                self._carry_out_deletions(state)
            return Refreshed()
        if state is None or state.model != embedder.identity or not self._follows(state):
            state = self._file.begin(embedder.identity)
        made, restarted = 0, False
        while True:
            state = self._carry_out_deletions(state)
            batch = self._store.events_since(state.covered, _READ)
            if not batch:
                return Refreshed(made)
            for said, last in _portions(batch):
                rows = self._rows(embedder, said)
                dimensions = rows[0].vector.size if rows else 0
                if state.dimensions and dimensions and dimensions != state.dimensions:
                    if restarted:
                        raise EmbeddingError(_TWO_LENGTHS(one=state.dimensions, other=dimensions))
                    state, restarted = self._file.begin(embedder.identity), True
                    break
                state = replace(
                    state,
                    dimensions=state.dimensions or dimensions,
                    covered=last.seq,
                    last_event=last.id,
                    last_session=last.where.session,
                )
                self._file.add(rows, state)
                made += len(rows)
                if progress is not None:
                    progress(made)
                if end is not None and time.monotonic() >= end:
                    return Refreshed(made, bool(self._store.events_since(state.covered, 1)))

    def _rows(self, embedder: Embedder, said: Sequence[EventRecord]) -> list[Row]:
        texts = [record.text.strip()[:MOST_CHARACTERS] for record in said]
        rows = []
        for record, vector in zip(said, embedded(embedder, texts), strict=True):
            packed = pack(vector) if vector is not None else None
            if packed is not None:
                at = microseconds(record.at)
                rows.append(Row(record.seq, record.where.session, record.kind, at, packed))
        if len({row.vector.size for row in rows}) > 1:
            raise EmbeddingError(_MIXED_LENGTHS())
        return rows

    def _carry_out_deletions(self, state: MeaningState) -> MeaningState:
        while deletions := self._store.deletions(state.deletions):
            sessions = {deletion.where.session for deletion in deletions}
            # A session of the same name may have begun since: only what the store no longer holds goes.
            numbers = [seq for name in sessions for seq in self._file.of_session(name) if self._record(seq) is None]
            state = self._file.take_away(numbers, replace(state, deletions=deletions[-1].position))
        return state

    def _follows(self, state: MeaningState) -> bool:
        return follows(
            self._store,
            IndexState(covered=state.covered, last_event=state.last_event, last_session=state.last_session),
        )


def has_meaning(record: EventRecord) -> bool:
    """Whether an event gets a vector: somebody said something."""
    return record.kind not in QUIET_KINDS and not record.text.isspace() and bool(record.text)


def _portions(batch: Sequence[EventRecord]) -> list[tuple[list[EventRecord], EventRecord]]:
    """What one request carries, each with the last event that it covers; the last portion covers the batch."""
    said = [record for record in batch if has_meaning(record)]
    portions = [said[start : start + _BATCH] for start in range(0, len(said), _BATCH)]
    covering = [(portion, portion[-1]) for portion in portions[:-1]]
    return [*covering, (portions[-1] if portions else [], batch[-1])]
