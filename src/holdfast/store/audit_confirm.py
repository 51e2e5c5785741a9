"""A moment after audit lines were written: sync their files, then note in the store what they hold.

Until then a line may be written again; from then on a line that is missing was taken away.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from holdfast.store.database import Database

CONFIRM_AFTER = 0.1
_IDLE_SECONDS = 5.0
_JOIN_SECONDS = 5.0
_log = logging.getLogger(__name__)


class Confirmer:
    """One thread that lives while there is something to confirm, so that no caller waits for a second sync."""

    def __init__(self, path_of: Callable[[str], Path], database: Database) -> None:
        self._path_of = path_of
        self._database = database
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._wake = threading.Condition()
        self._closing = threading.Event()
        self._written: dict[str, int] = {}
        self._thread: threading.Thread | None = None

    def add(self, session: str, seq: int) -> None:
        """The session's file holds everything up to `seq`."""
        if os.getpid() != self._pid:
            self._reset()  # a thread does not come along through a fork
        with self._wake:
            idle = not self._written
            self._written[session] = max(seq, self._written.get(session, 0))
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="holdfast-audit", daemon=True)
                self._thread.start()
            elif idle:
                self._wake.notify()  # only then: waking it for every line would cost the callers more than the line

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._written or self._closing.is_set(), timeout=_IDLE_SECONDS)
                if self._closing.is_set() or not self._written:
                    self._thread = None
                    return
            self._closing.wait(CONFIRM_AFTER)  # gather what comes together
            try:
                self.confirm()
            except Exception as error:  # nothing is lost: the next opening writes and confirms what is left
                _log.warning("the audit files could not be confirmed: %s", error)

    def confirm(self) -> None:
        """Now, for all that was added."""
        with self._wake:
            batch, self._written = self._written, {}
        if not batch:
            return
        paths = [self._path_of(session) for session in batch]
        for path in {*paths, *(path.parent for path in paths)}:
            _sync(path)

        def mark(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "UPDATE audit_chains SET written = max(written, ?) WHERE session = ?",
                [(seq, session) for session, seq in batch.items()],
            )

        self._database.write(mark)

    def close(self) -> None:
        if os.getpid() != self._pid:
            return
        with self._wake:
            self._closing.set()
            self._wake.notify()
            thread = self._thread
        if thread is not None:
            thread.join(timeout=_JOIN_SECONDS)
        with contextlib.suppress(Exception):  # what is not confirmed is looked at again at the next opening
            self.confirm()


def _sync(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return  # taken away meanwhile: `verify` tells
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
