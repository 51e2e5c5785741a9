"""The file of vectors beside the search index. It is derived: it may be thrown away, and is made again from the store.

Vectors are grouped by nothing but the store's own numbers. What was deleted is overwritten, not only forgotten
(`secure_delete`, and no log beside the file that would keep it).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from holdfast.store.meaning_vectors import Packed

_FORMAT = 1
_BUSY_SECONDS = 5.0
_SCHEMA = """
CREATE TABLE vectors (
    seq INTEGER PRIMARY KEY, session TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
    signs BLOB NOT NULL, numbers BLOB NOT NULL, length REAL NOT NULL
);
CREATE INDEX vectors_by_session ON vectors (session);
CREATE TABLE state (
    model TEXT NOT NULL, dimensions INTEGER NOT NULL, covered INTEGER NOT NULL, last_event TEXT NOT NULL,
    last_session TEXT NOT NULL, deletions INTEGER NOT NULL, edition INTEGER NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class MeaningState:
    """What the vectors were made with, and how far they have followed the store."""

    model: str = ""
    dimensions: int = 0
    """0 until the first vector is there."""
    covered: int = 0
    last_event: str = ""
    last_session: str = ""
    deletions: int = 0
    edition: int = 0
    """Another one when vectors were taken away: what was read of the file before is then out of date."""


class Row(NamedTuple):
    seq: int
    session: str
    kind: str
    at: int
    """In microseconds."""
    vector: Packed


class Sign(NamedTuple):
    """What is held in memory of a vector."""

    seq: int
    session: str
    kind: str
    at: int
    signs: int


class MeaningFile:
    """Opened anew for each use, so that threads, forks and other processes never share a connection."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "meaning.sqlite"
        self._lock = folder / "meaning.lock"

    @property
    def exists(self) -> bool:
        return self.path.exists()

    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def try_lock(self) -> int | None:
        """The writers' lock as an open file, or None when it is taken. The kernel frees it when its holder dies."""
        self._lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

    # reading

    def state(self) -> MeaningState | None:
        """None when there is no file, or none that this program made. Raises `sqlite3.OperationalError` when it
        cannot be read just now, which is no reason to make everything anew."""
        if not self.exists:
            return None
        try:
            with self._opened() as database:
                return _state(database)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            return None

    def count(self) -> int:
        with self._opened() as database:
            return int(database.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def signs_after(self, seq: int) -> tuple[MeaningState | None, list[Sign]]:
        """The state, and the signs of all vectors beyond a number, of one moment."""
        with self._opened() as database:
            database.execute("BEGIN")
            state = _state(database)
            if state is None:
                return None, []
            found = database.execute(
                "SELECT seq, session, kind, at, signs FROM vectors WHERE seq > ? ORDER BY seq", (seq,)
            )
            return state, [
                Sign(seq, session, kind, at, int.from_bytes(signs)) for seq, session, kind, at, signs in found
            ]

    def vectors(self, numbers: Sequence[int]) -> dict[int, Packed]:
        """By event; those that are gone are missing."""
        marks = ",".join("?" * len(numbers))
        query = f"SELECT seq, signs, numbers, length FROM vectors WHERE seq IN ({marks})"
        with self._opened() as database:
            found = database.execute(query, tuple(numbers))
            return {seq: Packed(int.from_bytes(signs), bytes(data), length) for seq, signs, data, length in found}

    def of_session(self, session: str) -> list[int]:
        with self._opened() as database:
            found = database.execute("SELECT seq FROM vectors WHERE session = ?", (session,))
            return [int(row[0]) for row in found]

    # writing, under the lock

    def begin(self, model: str) -> MeaningState:
        """An empty file for this model in the place of whatever was there."""
        self.remove()
        descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        os.close(descriptor)
        state = MeaningState(model, edition=time.time_ns())
        with self._opened() as database:
            database.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_FORMAT}; COMMIT;")
            _put_state(database, state)
        return state

    def add(self, rows: Iterable[Row], state: MeaningState) -> None:
        with self._opened() as database:
            database.execute("BEGIN IMMEDIATE")
            size = (state.dimensions + 7) // 8
            database.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*row[:4], row.vector.signs.to_bytes(size), row.vector.numbers, row.vector.length) for row in rows],
            )
            _put_state(database, state)
            database.execute("COMMIT")

    def take_away(self, numbers: Iterable[int], state: MeaningState) -> MeaningState:
        """Vectors, for good."""
        changed = replace(state, edition=max(time.time_ns(), state.edition + 1))
        with self._opened() as database:
            database.execute("BEGIN IMMEDIATE")
            database.executemany("DELETE FROM vectors WHERE seq = ?", [(seq,) for seq in numbers])
            _put_state(database, changed)
            database.execute("COMMIT")
        return changed

    def remove(self) -> None:
        for path in (self.path, self.path.with_name(self.path.name + "-journal")):
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Never makes a file: a reader must not leave an empty one behind."""
        database = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rw", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
        )
        try:
            database.execute("PRAGMA secure_delete = ON")
            yield database
        finally:
            database.close()


def _state(database: sqlite3.Connection) -> MeaningState | None:
    if database.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
        return None
    found = database.execute("SELECT * FROM state").fetchone()
    return None if found is None else MeaningState(*found)


def _put_state(database: sqlite3.Connection, state: MeaningState) -> None:
    values = (
        state.model, state.dimensions, state.covered, state.last_event, state.last_session, state.deletions,
        state.edition,
    )  # fmt: skip
    if database.execute("UPDATE state SET (model, dimensions, covered, last_event, last_session, deletions, edition)"
                        " = (?, ?, ?, ?, ?, ?, ?)", values).rowcount == 0:  # fmt: skip
        database.execute("INSERT INTO state VALUES (?, ?, ?, ?, ?, ?, ?)", values)
