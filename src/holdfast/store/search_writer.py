"""Bringing the index up to date with the store.

Whoever holds the lock does it; everybody else is told at once that it is taken, and searches what is there plus the
events that are not indexed yet. Each commit holds a whole number of the store's events together with the number of
the last one: a process that dies at any moment leaves an index that is merely a little behind.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import tantivy

from holdfast.store.interface import EventRecord, Store
from holdfast.store.search_document import IndexState, create_index, document_of, open_index, replace_state
from holdfast.store.search_folder import IndexFolder, follows
from holdfast.store.search_index import Snapshot
from holdfast.store.search_text import analyse

_BATCH = 500
_COMMIT_EVERY = 100_000
"""Adding waits while a commit is written, but merging goes on beside it: with fewer of them it begins too late to be
done when the last event is in."""
_HEAP_BYTES = 128_000_000
_IDLE_SECONDS = 5.0
_SHARE_FOR_ADDING = 0.6
"""Of a budget; the rest is for the commit."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did."""

    indexed: int = 0
    behind: bool = False
    """There is more to do: call again."""
    busy: bool = False
    """Somebody else is at it, and nothing was done here."""


BUSY = Refreshed(busy=True)
Progress = Callable[[int], None]
"""Is told how many events have been taken in."""


class IndexWriter:
    """Follows the store. One thread at a time does the work; the others get `BUSY`."""

    def __init__(self, store: Store, folder: IndexFolder) -> None:
        self._store = store
        self._folder = folder
        self._turn = threading.Lock()
        self._open: _OpenIndex | None = None

    @property
    def is_open(self) -> bool:
        """Whether this process holds the writers' lock."""
        return self._open is not None

    def refresh(self, budget_seconds: float | None = None, progress: Progress | None = None) -> Refreshed:
        """Take in what is new, for about that long. The index stays open for the next call while there is work."""
        if not self._turn.acquire(blocking=False):
            return BUSY
        try:
            if self._open is None:
                self._open = self._begin()
            if self._open is None:
                return BUSY
            end = None if budget_seconds is None else time.monotonic() + budget_seconds * _SHARE_FOR_ADDING
            done = self._open.follow(end, progress)
            if not done.indexed and not done.behind and self._open.idle_for() > _IDLE_SECONDS:
                self._release()
            return done
        except BaseException:
            self._abandon()
            raise
        finally:
            self._turn.release()

    def rebuild(self, progress: Progress | None = None) -> Refreshed:
        """Build a new index from nothing and put it in the place of the old one."""
        if not self._turn.acquire(blocking=False):
            return BUSY
        try:
            self._release()
            lock = self._folder.try_lock()
            if lock is None:
                return BUSY
            self._folder.sweep(self._folder.current())
            opened = self._open = self._empty(lock)
            opened.commit()
            done = opened.follow(None, progress)
            opened.finish_merges()
            self._folder.switch(opened.generation)
            self._release()
            return done
        except BaseException:
            self._abandon()
            raise
        finally:
            self._turn.release()

    def close(self, patience: float = 5.0) -> None:
        """Let merges that are under way come to their end, but not for ever: without them nothing is lost."""
        if not self._turn.acquire(timeout=patience):
            return
        try:
            waiting = threading.Thread(target=self._release, name="holdfast-search-close", daemon=True)
            waiting.start()
            waiting.join(patience)
        finally:
            self._turn.release()

    # opening

    def _begin(self) -> _OpenIndex | None:
        lock = self._folder.try_lock()
        if lock is None:
            return None
        generation = self._folder.current()
        self._folder.sweep(generation)
        known = self._known(generation)
        if generation is not None and known is not None:
            try:
                return _OpenIndex(self._store, lock, generation, *known)
            except ValueError as error:
                if "LockBusy" in str(error):  # a writer of this process that is still on its way out
                    return None
                raise
        opened = self._empty(lock)
        opened.commit()
        self._folder.switch(opened.generation)
        return opened

    def _known(self, generation: Path | None) -> tuple[tantivy.Index, IndexState] | None:
        """An index to go on with; None when it is not there, damaged, or of another store."""
        if generation is None:
            return None
        try:
            index = open_index(generation)
            state = Snapshot(index).state
        except (OSError, ValueError):
            return None
        return (index, state) if follows(self._store, state) else None

    def _empty(self, lock: int) -> _OpenIndex:
        """A new generation. It starts behind the deletions so far: what they removed is not in the store to be read."""
        generation = self._folder.fresh()
        position = 0
        while deletions := self._store.deletions(position):
            position = deletions[-1].position
        state = IndexState(deletions=position)
        return _OpenIndex(self._store, lock, generation, create_index(generation), state)

    def _release(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            opened.close()

    def _abandon(self) -> None:
        """After an error: what was not committed is dropped."""
        opened, self._open = self._open, None
        if opened is not None:
            opened.drop()


class _OpenIndex:
    """A generation that this process writes."""

    def __init__(self, store: Store, lock: int, generation: Path, index: tantivy.Index, state: IndexState) -> None:
        self._store = store
        self._lock = lock
        self._vaults: dict[str, str] = {}
        self._used = time.monotonic()
        self.generation = generation
        self.state = state
        try:
            self._writer: tantivy.IndexWriter | None = index.writer(_HEAP_BYTES, 1)
        except BaseException:
            os.close(lock)
            raise

    def follow(self, end: float | None, progress: Progress | None) -> Refreshed:
        changed = self._carry_out_deletions()
        indexed = uncommitted = 0
        behind = False
        for batch in self._batches():
            self._add(batch)
            indexed += len(batch)
            uncommitted += len(batch)
            if uncommitted >= _COMMIT_EVERY:
                self.commit()
                uncommitted = 0
            if progress is not None:
                progress(indexed)
            if end is not None and time.monotonic() >= end:
                behind = bool(self._store.events_since(self.state.covered, 1))
                break
        if uncommitted or changed:
            self.commit()
        return Refreshed(indexed, behind)

    def _batches(self) -> Iterator[list[EventRecord]]:
        while batch := self._store.events_since(self.state.covered, _BATCH):
            yield list(batch)

    def _add(self, batch: list[EventRecord]) -> None:
        assert self._writer is not None
        words = parts = stems = 0
        for record in batch:
            text = analyse(record.text)
            if not text.words:
                continue
            self._writer.add_document(document_of(record, self._vault(record.where.session), text))
            words += text.words.count(" ") + 1
            parts += text.parts.count(" ") + 1 if text.parts else 0
            stems += text.stems.count(" ") + 1 if text.stems else 0
        state, last = self.state, batch[-1]
        self.state = replace(
            state,
            covered=max(state.covered, last.seq),
            last_event=last.id if last.seq >= state.covered else state.last_event,
            last_session=last.where.session if last.seq >= state.covered else state.last_session,
            words=state.words + words,
            parts=state.parts + parts,
            stems=state.stems + stems,
        )

    def _carry_out_deletions(self) -> bool:
        assert self._writer is not None
        changed = False
        while deletions := self._store.deletions(self.state.deletions):
            for deletion in deletions:
                session = deletion.where.session
                self._writer.delete_documents_by_term("session", session)
                self._vaults.pop(session, None)
                self._add_again(session)
                removed = self.state.removed + deletion.events
                self.state = replace(self.state, deletions=deletion.position, removed=removed)
            changed = True
        return changed

    def _add_again(self, session: str) -> None:
        """A session of the same name that began after the deletion: what was indexed of it has just gone, too."""
        after = 0
        while self._store.session(session) and (batch := self._store.events(session, after=after, limit=_BATCH)):
            known = [record for record in batch if record.seq <= self.state.covered]
            if known:
                self._add(known)
            after = batch[-1].no

    def _vault(self, session: str) -> str:
        vault = self._vaults.get(session)
        if vault is None:
            found = self._store.session(session)
            vault = self._vaults[session] = found.vault if found else ""
        return vault

    def commit(self) -> None:
        assert self._writer is not None
        replace_state(self._writer, self.state)
        self._writer.commit()
        self._used = time.monotonic()

    def idle_for(self) -> float:
        return time.monotonic() - self._used

    def finish_merges(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.wait_merging_threads()

    def close(self) -> None:
        try:
            self.finish_merges()
        finally:
            os.close(self._lock)

    def drop(self) -> None:
        writer, self._writer = self._writer, None
        with contextlib.suppress(ValueError):
            if writer is not None:
                writer.rollback()
        del writer
        os.close(self._lock)
