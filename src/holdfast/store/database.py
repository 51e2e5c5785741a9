"""One SQLite file under many threads and processes: connections, transactions, and errors that people understand.

A connection serves one thread at a time. Writers of one process share transactions: whoever holds the pen carries out
the work that waits and makes it durable with a single sync. Writers of several processes take turns by polling with
chance, so that none starves and none ever sees "database is locked".
"""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

from holdfast.store.interface import StoreError
from holdfast.store.migrations import MIGRATIONS, migrate, require_known, version_of

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_BATCH = 64
_IDLE_CONNECTIONS = 8
_CONNECTION_SETTINGS = (
    "PRAGMA synchronous = FULL",  # acknowledged means it survives a power cut
    "PRAGMA fullfsync = ON",  # the same on macOS, where a plain fsync stops at the drive's cache
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA wal_autocheckpoint = 2000",
)
_inherited: list[object] = []
"""Connections that came through a fork: they belong to the parent, and closing them here would disturb it."""


class _Job(Generic[T]):
    __slots__ = ("done", "error", "synced", "value", "work")

    def __init__(self, work: Work[T], synced: bool) -> None:
        self.work: Work[T] | None = work
        self.synced = synced
        self.done = False
        self.value: T | None = None
        self.error: BaseException | None = None


class Database:
    """`read()` lends a connection; `write(work)` runs `work` in a transaction and returns when it is durable."""

    def __init__(self, path: Path, *, patience: float = 30.0) -> None:
        self.path = path
        self.patience = patience
        self._closed = False
        self._reset()
        with self._translated("opened"):
            self._prepare()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._pen = threading.Lock()
        self._waiting: deque[_Job[Any]] = deque()
        self._writer: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._watcher: sqlite3.Connection | None = None
        self._watching = threading.Lock()

    # reading

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        self._check()
        try:
            connection = self._idle.pop()
        except IndexError:
            with self._translated("opened"):
                connection = self._connect()
        try:
            with self._translated("read"):
                yield connection
        finally:
            if len(self._idle) < _IDLE_CONNECTIONS and not self._closed:
                self._idle.append(connection)
            else:
                connection.close()

    def revision(self) -> int:
        """SQLite's own counter of other connections' commits; ours is a connection that never writes."""
        self._check()
        with self._watching, self._translated("read"):
            if self._watcher is None:
                self._watcher = self._connect()
            return int(self._watcher.execute("PRAGMA data_version").fetchone()[0])

    # writing

    def write(self, work: Work[T], *, synced: bool = True) -> T:
        """`work` may be carried out by another thread, next to others' work; it touches the connection only.

        What need not be `synced` is in the log but not forced to the disk; the next transaction that is takes it along.
        """
        self._check()
        job = _Job(work, synced)
        self._waiting.append(job)
        if not self._pen.acquire(timeout=3 * self.patience):
            job.work = None
            raise self._busy()
        try:
            while not job.done:
                self._carry_out(self._next_batch())
        finally:
            self._pen.release()
        if job.error is not None:
            raise job.error
        return job.value  # type: ignore[return-value]

    def _next_batch(self) -> list[_Job[Any]]:
        jobs: list[_Job[Any]] = []
        while self._waiting and len(jobs) < _BATCH:
            jobs.append(self._waiting.popleft())
        return jobs

    def _carry_out(self, jobs: list[_Job[Any]]) -> None:
        try:
            with self._translated("written"):
                self._transact(jobs)
        except Exception as error:
            for job in jobs:
                job.error = job.error or error
        except BaseException:
            for job in jobs:
                job.error = job.error or StoreError(f"{self.path}: the writing thread was interrupted; try again")
            raise
        finally:
            for job in jobs:
                job.done = True

    def _transact(self, jobs: list[_Job[Any]]) -> None:
        connection = self._writer
        if connection is None:
            connection = self._writer = self._connect(wait=0)
        if any(job.synced for job in jobs):
            self._transact_on(connection, jobs)
            return
        connection.execute("PRAGMA synchronous = NORMAL")
        try:
            self._transact_on(connection, jobs)
        finally:
            connection.execute("PRAGMA synchronous = FULL")

    def _transact_on(self, connection: sqlite3.Connection, jobs: list[_Job[Any]]) -> None:
        self._begin(connection)
        try:
            for job in jobs:
                if job.work is not None:
                    self._run(connection, job, alone=len(jobs) == 1)
                    if not connection.in_transaction:
                        break
            if connection.in_transaction:
                connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _run(self, connection: sqlite3.Connection, job: _Job[Any], *, alone: bool) -> None:
        """One job; what it did is undone if it fails, without harm to its neighbours."""
        assert job.work is not None
        if not alone:
            connection.execute("SAVEPOINT job")
        try:
            job.value = job.work(connection)
        except sqlite3.OperationalError:
            raise  # the disk, not the job: the whole transaction fails, and every job in it says so
        except Exception as error:
            job.error = self._explained(error, "written") if isinstance(error, sqlite3.Error) else error
            connection.execute("ROLLBACK" if alone else "ROLLBACK TO job")
        if not alone:
            connection.execute("RELEASE job")

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Take the write lock. SQLite's own waiting sleeps up to 100 ms and is unfair; this is neither."""
        end = time.monotonic() + self.patience
        pause = 0.0002
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if not _is_busy(error):
                    raise
                if time.monotonic() > end:
                    raise self._busy() from error
                time.sleep(pause * (0.5 + random.random()))
                pause = min(pause * 1.5, 0.003)
            else:
                return

    # connections

    def _check(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} was closed by this process; open the store again")
        if os.getpid() != self._pid:
            _inherited.extend((self._writer, self._watcher, *self._idle))
            self._reset()

    def _connect(self, *, wait: float | None = None) -> sqlite3.Connection:
        seconds = self.patience if wait is None else wait
        connection = sqlite3.connect(self.path, timeout=self.patience, isolation_level=None, check_same_thread=False)
        for statement in _CONNECTION_SETTINGS:
            connection.execute(statement)
        connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        return connection

    def _prepare(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileExistsError):
            # SQLite would create it readable to all; its companion files take over the mode.
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        connection = self._connect()
        try:
            version = version_of(connection)
            require_known(self.path, version)
            if version < len(MIGRATIONS):
                self._switch_to_wal(connection, new=version == 0)
                connection.execute("PRAGMA busy_timeout = 0")
                self._begin(connection)  # wait for our turn fairly, then let each step take it again
                connection.execute("ROLLBACK")
                connection.execute(f"PRAGMA busy_timeout = {int(self.patience * 1000)}")
                migrate(connection, self.path)
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    def _switch_to_wal(self, connection: sqlite3.Connection, *, new: bool) -> None:
        if new:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        end = time.monotonic() + self.patience
        while True:
            try:
                mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                break
            except sqlite3.OperationalError as error:
                # Two processes that create the database at once: this switch does not wait by itself.
                if not _is_busy(error) or time.monotonic() > end:
                    raise
                time.sleep(0.005)
        if mode != "wal":
            raise StoreError(
                f"{self.path}: this file system cannot hold the database (no shared memory); "
                "choose a local disk by HOLDFAST_HOME"
            )

    def close(self) -> None:
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        with self._pen, self._watching:
            for connection in (self._writer, self._watcher, *self._idle):
                if connection is not None:
                    connection.close()
            self._writer = self._watcher = None
            self._idle = []

    # errors

    @contextlib.contextmanager
    def _translated(self, what: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeEncodeError) as error:
            raise self._explained(error, what) from error

    def _explained(self, error: Exception, what: str) -> StoreError:
        text = str(error)
        folder = self.path.parent
        if _is_busy(error):
            return self._busy()
        if "disk is full" in text or "No space left" in text or "File too large" in text:
            hint = f"the disk is full; nothing written before is lost. Free space where {folder} lies and try again"
        elif "readonly" in text or "Read-only" in text or "Permission denied" in text:
            hint = f"it is read-only; nothing written before is lost. Make {folder} writable, or set HOLDFAST_HOME"
        elif "unable to open" in text:
            hint = f"it cannot be opened; check that {folder} exists and is writable, or set HOLDFAST_HOME"
        elif "malformed" in text or "not a database" in text:
            hint = (
                f"it is damaged ({text}). Move it away and restore the newest copy {self.path.name}.bak-v*, "
                "or keep it for `sqlite3 .recover` and start anew"
            )
        elif "disk I/O error" in text:
            hint = f"the disk failed; nothing acknowledged is lost. Free space where {folder} lies, or check the disk"
        else:
            hint = f"{text}; run `holdfast doctor`"
        return StoreError(f"{self.path} could not be {what}: {hint}")

    def _busy(self) -> StoreError:
        return StoreError(
            f"{self.path}: another process has been writing for more than {self.patience:g} s; nothing was written. "
            "Look for a stopped holdfast process (`holdfast doctor`) and try again"
        )


def _is_busy(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
