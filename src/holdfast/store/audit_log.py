"""The audit log: one file of JSON Lines per session, chained by hashes, in step with the store (AU1, AU2).

An entry is chained and stored in the transaction of the step that it tells of; the file is written right after. Where
each line stands in its file is fixed by that transaction, so any process may write it, twice if need be, and the file
comes out the same. The store also keeps up to where the file is known to hold the chain (`written`): what lies beyond
may be missing after a crash and is written again; what lies before and is missing was taken away, and `verify` says so.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.store.audit_confirm import Confirmer
from holdfast.store.database import Database
from holdfast.store.file_names import file_name
from holdfast.store.json_text import from_json, to_json_bytes
from holdfast.store.redact import has_trace, redact_entry

FIRST_PREVIOUS = "0" * 64
_LOCK_PATIENCE = 2.0
_RETRY_AFTER = 1.0
_PAGE = 500
_TAIL = 1 << 20
_NAMED = "SELECT position, line FROM audit_entries WHERE"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Appended:
    """Lines that a transaction has added, and where they stand in the file."""

    session: str
    start: int
    data: bytes
    last: int


def chained_line(entry: Mapping[str, Any], seq: int, previous: str) -> tuple[bytes, str]:
    """The entry as a line without its end, and its hash, which covers everything that stands before it."""
    links = {"seq": seq, "prev": previous}
    body = to_json_bytes({**entry, **links} if "hash" not in entry else {**_without_hash(entry), **links})
    if has_trace(body):
        kept, kinds = redact_entry(_without_hash(entry))
        body = to_json_bytes({**kept, **({"redacted": sorted(kinds)} if kinds else {}), **links})
    digest = hashlib.sha256(body).hexdigest()
    return b'%s,"hash":"%s"}' % (body[:-1], digest.encode()), digest


def _without_hash(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in entry.items() if name != "hash"}


class AuditLog:
    def __init__(self, directory: Path, database: Database) -> None:
        self.directory = directory
        self._database = database
        self._confirmer = Confirmer(self.path, database)
        self.trouble = ""
        """Why the files are behind the store, when they are."""
        self._not_before = 0.0

    def path(self, session: str) -> Path:
        return self.directory / (file_name(session) + ".jsonl")

    # inside a transaction

    def append(self, connection: sqlite3.Connection, session: str, entries: Sequence[Mapping[str, Any]]) -> Appended:
        row = connection.execute(
            "SELECT key, count, last_hash, bytes FROM audit_chains WHERE session = ?", (session,)
        ).fetchone()
        if row is None:
            key = connection.execute(
                "INSERT INTO audit_chains (session, count, last_hash, bytes, written) VALUES (?, 0, ?, 0, 0)",
                (session, FIRST_PREVIOUS),
            ).lastrowid
            row = (key, 0, FIRST_PREVIOUS, 0)
        key, seq, last_hash, start = row
        end = start
        lines: list[bytes] = []
        for entry in entries:
            seq += 1
            line, last_hash = chained_line(entry, seq, last_hash)
            connection.execute(
                "INSERT INTO audit_entries (chain, seq, start, line) VALUES (?, ?, ?, ?)",
                (key, seq, end, line.decode()),
            )
            lines.append(line + b"\n")
            end += len(line) + 1
        connection.execute(
            "UPDATE audit_chains SET count = ?, last_hash = ?, bytes = ? WHERE key = ?", (seq, last_hash, end, key)
        )
        return Appended(session, start, b"".join(lines), seq)

    # after it

    def publish(self, appended: Appended) -> None:
        """Write the lines to their file. A failure loses nothing: they stand in the store and are written later."""
        if time.monotonic() < self._not_before:
            return
        try:
            with self.locked(appended.session) as descriptor:
                if os.fstat(descriptor).st_size == appended.start:
                    _write_at(descriptor, appended.data, appended.start)
                else:
                    self.catch_up(descriptor, appended.session)
        except OSError as error:
            self._report(appended.session, error)
        else:
            self.trouble = ""
            self._confirmer.add(appended.session, appended.last)

    def recover(self) -> None:
        """Write what a crashed process left unwritten. Done at opening and before anything is verified."""
        for session, count in self.behind():
            try:
                with self.locked(session) as descriptor:
                    self.catch_up(descriptor, session)
            except OSError as error:
                self._report(session, error)
            else:
                self._confirmer.add(session, count)

    def behind(self) -> list[tuple[str, int]]:
        with self._database.read() as connection:
            return connection.execute("SELECT session, count FROM audit_chains WHERE written < count").fetchall()

    @contextlib.contextmanager
    def locked(self, session: str, *, create: bool = True) -> Iterator[int]:
        """The session's file, ours alone; whoever holds it never holds it for long."""
        path = self.path(session)
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileNotFoundError:
            if not create:
                raise
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(path, flags, 0o600)
        try:
            end = time.monotonic() + _LOCK_PATIENCE
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.0005)
            yield descriptor
        finally:
            os.close(descriptor)

    def catch_up(self, descriptor: int, session: str) -> None:
        """Write the lines that the file may lack. Only lines beyond `written` are ever written again."""
        with self._database.read() as connection:
            head = connection.execute(
                "SELECT key, bytes, written FROM audit_chains WHERE session = ?", (session,)
            ).fetchone()
            if head is None:
                return
            rows = connection.execute(
                "SELECT seq, start, line FROM audit_entries WHERE chain = ? AND seq > ? ORDER BY seq",
                (head[0], head[2]),
            ).fetchall()
        if not rows:
            return
        size = os.fstat(descriptor).st_size
        first = rows[0][1]
        lines = [line.encode() + b"\n" for _, _, line in rows]
        expected = b"".join(lines)
        there = os.pread(descriptor, len(expected) + 1, first)
        if size >= first and expected.startswith(there):
            _write_at(descriptor, expected[len(there) :], size)
        elif size >= first and b"\0" in there and len(there) <= len(expected):
            _write_at(descriptor, expected, first)  # a power cut can leave a hole where text was
        else:
            self._append_to_altered(descriptor, lines)

    def _append_to_altered(self, descriptor: int, lines: list[bytes]) -> None:
        """The file is not as we left it: go on at its end, so that `verify` has only the alteration to tell of."""
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, _TAIL, max(0, size - _TAIL))
        there = set(tail.split(b"\n"))
        missing = [line for line in lines if line[:-1] not in there]
        if missing:
            separator = b"" if size == 0 or tail.endswith(b"\n") else b"\n"
            _write_at(descriptor, separator + b"".join(missing), size)

    def _report(self, session: str, error: OSError) -> None:
        """Say it once, and try again only after a while: meanwhile the store holds the entries."""
        trouble = f"{self.path(session)} could not be written: {error.strerror or error}"
        if trouble != self.trouble:
            _log.warning("%s; the entries are kept in %s and written later", trouble, self._database.path)
        self.trouble = trouble
        self._not_before = time.monotonic() + _RETRY_AFTER

    def confirm(self) -> None:
        self._confirmer.confirm()

    def close(self) -> None:
        self._confirmer.close()

    # reading

    def entries(self, session: str | None = None) -> Iterator[Mapping[str, Any]]:
        position = 0
        while page := self.since(position, _PAGE, session):
            for position, entry in page:  # noqa: B007 (the last one is where the next page begins)
                yield entry
            if len(page) < _PAGE:
                return

    def since(self, position: int, limit: int, session: str | None = None) -> Sequence[tuple[int, Mapping[str, Any]]]:
        """Entries beyond a position, each with its own; positions rise over all sessions."""
        chosen = "" if session is None else "AND chain = (SELECT key FROM audit_chains WHERE session = ?)"
        more = () if session is None else (session,)
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT position, line FROM audit_entries WHERE position > ? {chosen} ORDER BY position LIMIT ?",
                (position, *more, limit),
            ).fetchall()
        return [(place, from_json(line)) for place, line in rows]

    def naming(self, name: str) -> Sequence[tuple[int, Mapping[str, Any]]]:
        """Entries of a call by the index; of a name that is no call's, those that hold it, wherever they are."""
        text = to_json_bytes(name).decode()
        with self._database.read() as connection:
            rows = connection.execute(f"{_NAMED} json_extract(line, '$.callId') = ?", (name,)).fetchall()
            if not rows:
                rows = connection.execute(f"{_NAMED} instr(line, ?) > 0", (text,)).fetchall()
        return [(place, from_json(line)) for place, line in sorted(rows)]


def _write_at(descriptor: int, data: bytes, start: int) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(descriptor, view, start)
        view = view[done:]
        start += done
