"""The store in one SQLite file: what `interface.Store` promises, and nothing of SQL above it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from holdfast.core.events import Answer
from holdfast.core.keys import SessionId, SessionKey, require_same_thread
from holdfast.store import row_writes, rows, upkeep
from holdfast.store.audit_log import Appended, AuditLog
from holdfast.store.audit_verify import AuditVerifier
from holdfast.store.database import Database
from holdfast.store.interface import (
    AlreadyDecided,
    Approval,
    ApprovalStatus,
    AuditReport,
    Change,
    Committed,
    Deletion,
    EventRecord,
    PendingApproval,
    Remembered,
    SealedError,
    Session,
    SessionState,
    StateConflict,
    StateRow,
    StoreError,
)
from holdfast.store.json_text import clean_text, from_json, to_json

_NOTE = "INSERT OR REPLACE INTO notes (key, value) VALUES (?, ?)"


class SqliteStore:
    """`path` is the database, `audit_dir` holds the audit log's files."""

    def __init__(
        self, path: Path, *, audit_dir: Path, clock: Callable[[], float] = time.time, patience: float = 30.0
    ) -> None:
        self.path = Path(path)
        self._clock = clock
        self._database = Database(self.path, patience=patience)
        self._audit = AuditLog(Path(audit_dir), self._database)
        self._audit.recover()

    # sessions and chains

    def open_session(self, session: Session) -> Session:
        where = session.id.main()

        def work(connection: sqlite3.Connection) -> Session:
            known = _session(connection, where.session)
            if known is not None:
                require_same_thread(f"session {where.session!r}", known.id.key, where.key)
                return known
            chain = (where.user, where.agent, where.thread)
            number = connection.execute(
                "SELECT max(number) FROM (SELECT number FROM sessions WHERE user = ? AND agent = ? AND thread = ? "
                "UNION ALL SELECT number FROM deleted WHERE user = ? AND agent = ? AND thread = ?)",
                chain * 2,
            ).fetchone()[0]
            opened = replace(session, id=where, number=(number or 0) + 1, version=1)
            try:
                connection.execute(rows.INSERT_SESSION, rows.session_values(opened))
            except sqlite3.IntegrityError:
                raise _chain_is_live(connection, where.key) from None
            return opened

        # Most openings find the session there; that needs no turn at writing.
        known = self.session(where.session)
        if known is not None:
            require_same_thread(f"session {where.session!r}", known.id.key, where.key)
            return known
        return self._database.write(work)

    def session(self, session: str) -> Session | None:
        with self._database.read() as connection:
            return _session(connection, session)

    def chain(self, key: SessionKey) -> Sequence[Session]:
        query = "WHERE s.user = ? AND s.agent = ? AND s.thread = ? ORDER BY s.number"
        return self._sessions(query, [key.user, key.agent, key.thread])

    def sessions(
        self,
        *,
        user: str | None = None,
        agent: str | None = None,
        thread: str | None = None,
        vault: str | None = None,
        host: str | None = None,
        state: SessionState | None = None,
        limit: int = 100,
        before: float | None = None,
    ) -> Sequence[Session]:
        wanted = {"user": user, "agent": agent, "thread": thread, "vault": vault, "host": host, "state": state}
        conditions, values = _equal("s", wanted)
        if before is not None:
            conditions.append("s.started_at < ?")
            values.append(before)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        return self._sessions(f"{where} ORDER BY s.started_at DESC, s.key DESC LIMIT ?", [*values, limit])

    def _sessions(self, query: str, values: list[Any]) -> Sequence[Session]:
        with self._database.read() as connection:
            found = connection.execute(f"SELECT {rows.SESSION_COLUMNS} FROM sessions s {query}", values).fetchall()
        return [rows.session_of(row) for row in found]

    def update_session(self, session: str, expected_version: int, *, quiet: bool = False, **changes: Any) -> Session:
        unknown = set(changes) - set(rows.SESSION_FIELDS) | set(changes) & {"number", "version"}
        if unknown:
            raise StoreError(f"a session has nothing called {', '.join(sorted(unknown))} that could be changed")

        def work(connection: sqlite3.Connection) -> Session:
            known = _session(connection, session)
            if known is None:
                raise StoreError(f"no session {session!r}; `holdfast sessions` lists those there are")
            if known.version != expected_version:
                raise StateConflict(f"session {session!r} is at version {known.version}, not {expected_version}")
            if quiet and row_writes.is_asking(connection, session):
                raise PendingApproval(f"session {session!r} has an open approval; answer it first")
            updated = replace(known, **changes, version=known.version + 1)
            names = [*changes, "version"]
            settings = ", ".join(f'"{name}" = ?' for name in names)
            values = [rows.session_value(name, getattr(updated, name)) for name in names]
            try:
                connection.execute(f"UPDATE sessions SET {settings} WHERE id = ?", [*values, session])
            except sqlite3.IntegrityError:
                raise _chain_is_live(connection, known.id.key) from None
            return updated

        return self._database.write(work)

    # events and state

    def commit(self, change: Change) -> Committed:
        committed, appended = self._database.write(
            lambda connection: self._apply(connection, change), synced=not change.at_leisure
        )
        if appended is not None:
            self._audit.publish(appended)
        return committed

    def _apply(self, connection: sqlite3.Connection, change: Change) -> tuple[Committed, Appended | None]:
        session = self._admit(connection, change)
        place = (session, change.where.subagent)
        version = row_writes.write_state(connection, place, change) if change.state is not None else None
        if change.remember is not None:
            row_writes.remember(connection, place, change.remember)
        events = row_writes.write_events(connection, session, change.events)
        for approval in change.approvals:
            row_writes.write_approval(connection, session, approval)
        if change.settle is not None:
            _settle(connection, change.settle)
        if change.notes:
            connection.executemany(_NOTE, [(key, to_json(value)) for key, value in change.notes.items()])
        appended = self._audit.append(connection, change.where.session, change.audit) if change.audit else None
        return Committed(events, version), appended

    def _admit(self, connection: sqlite3.Connection, change: Change) -> int:
        """The session's row number, once everything in the change is known to belong to it (SC1)."""
        name = change.where.session
        row = connection.execute(
            "SELECT key, user, agent, thread, state FROM sessions WHERE id = ?", (name,)
        ).fetchone()
        if row is None:
            raise StoreError(f"session {name!r} is not in {self.path}; open_session() comes before its first event")
        key = SessionKey(row[1], row[2], row[3])
        require_same_thread(f"a step of session {name!r}", key, change.where.key)
        for what, records in (("event", change.events), ("approval", change.approvals)):
            for record in records:
                require_same_thread(f"{what} {record.id!r}", key, record.where.key)
                if record.where.session != name:
                    raise StoreError(f"{what} {record.id!r} is of session {record.where.session!r}, not of {name!r}")
        only_audit = not (change.events or change.approvals or change.remember or change.state)
        if row[4] == "sealed" and not only_audit:
            raise SealedError(f"session {name!r} is sealed; nothing is added to it. The next message starts a new one")
        return int(row[0])

    def append_imported(self, where: SessionId, events: Sequence[EventRecord]) -> int:
        return self._database.write(lambda connection: row_writes.append_imported(connection, where, events))

    def events(
        self,
        session: str,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 1000,
        kinds: Sequence[str] | None = None,
        invocation: str | None = None,
        newest_first: bool = False,
    ) -> Sequence[EventRecord]:
        conditions = ["s.id = ?", "e.number > ?"]
        values: list[Any] = [session, after]
        if before is not None:
            conditions.append("e.number < ?")
            values.append(before)
        if kinds is not None:
            conditions.append(f"e.kind IN ({', '.join('?' * len(kinds))})")
            values.extend(kinds)
        if invocation is not None:
            conditions.append("e.invocation = ?")
            values.append(invocation)
        order = "DESC" if newest_first else "ASC"
        return self._events(f"WHERE {' AND '.join(conditions)} ORDER BY e.number {order} LIMIT ?", [*values, limit])

    def event(self, event_id: str) -> EventRecord | None:
        return next(iter(self._events("WHERE e.id = ?", [event_id])), None)

    def events_since(self, seq: int, limit: int = 1000) -> Sequence[EventRecord]:
        return self._events("WHERE e.seq > ? ORDER BY e.seq LIMIT ?", [seq, limit])

    def _events(self, query: str, values: list[Any]) -> Sequence[EventRecord]:
        sql = f"SELECT {rows.EVENT_COLUMNS} FROM events e JOIN sessions s ON s.key = e.session {query}"
        with self._database.read() as connection:
            found = connection.execute(sql, values).fetchall()
        return [rows.event_of(row) for row in found]

    def state(self, where: SessionId) -> StateRow:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT p.version, p.data FROM policy_state p JOIN sessions s ON s.key = p.session "
                "WHERE s.id = ? AND p.subagent = ?",
                (where.session, where.subagent),
            ).fetchone()
        return StateRow(0, {}) if row is None else StateRow(row[0], from_json(row[1]))

    def remembered(self, where: SessionId, call_id: str) -> Remembered | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT r.fingerprint, r.outcome, r.approval FROM remembered r JOIN sessions s ON s.key = r.session "
                "WHERE s.id = ? AND r.subagent = ? AND r.call_id = ?",
                (where.session, where.subagent, clean_text(call_id)),
            ).fetchone()
        return None if row is None else Remembered(call_id, row[0], from_json(row[1]), row[2])

    # approvals

    def approval(self, approval_id: str) -> Approval | None:
        with self._database.read() as connection:
            return _approval(connection, approval_id)

    def approvals(
        self,
        *,
        status: ApprovalStatus | None = None,
        user: str | None = None,
        session: str | None = None,
        limit: int = 100,
    ) -> Sequence[Approval]:
        conditions, values = _equal("s", {"user": user, "id": session})
        if status is not None:
            # Spelled out, so that SQLite sees that the small index of the pending ones serves.
            conditions.append("a.status = 'pending'" if status == "pending" else "a.status = ?")
            values.extend([] if status == "pending" else [status])
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        sql = (
            f"SELECT {rows.APPROVAL_COLUMNS} FROM approvals a JOIN sessions s ON s.key = a.session {where} "
            "ORDER BY a.created_at DESC, a.rowid DESC LIMIT ?"
        )
        with self._database.read() as connection:
            found = connection.execute(sql, [*values, limit]).fetchall()
        return [rows.approval_of(row) for row in found]

    def settle_approval(
        self,
        approval_id: str,
        *,
        status: ApprovalStatus,
        at: float,
        answer: Answer | None = None,
        by: str = "",
        message: str = "",
        rule: Mapping[str, Any] | None = None,
    ) -> Approval:
        def work(connection: sqlite3.Connection) -> Approval:
            known = _approval(connection, approval_id)
            if known is None:
                raise StoreError(f"no approval {approval_id!r}; `holdfast approvals list` shows the open ones")
            settled = replace(
                known, status=status, answer=answer, answered_at=at, answered_by=by, message=message, rule=rule
            )
            _settle(connection, settled)
            return settled

        return self._database.write(work)

    # run snapshots

    def save_snapshot(self, where: SessionId, name: str, data: bytes, at: float) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO snapshots (session, subagent, name, at, data) VALUES (?, ?, ?, ?, ?)",
                (self._own_key(connection, where), where.subagent, name, at, data),
            )

        self._database.write(work)

    def take_snapshot(self, where: SessionId, name: str) -> bytes | None:
        def work(connection: sqlite3.Connection) -> bytes | None:
            found = connection.execute(
                "DELETE FROM snapshots WHERE session = ? AND subagent = ? AND name = ? RETURNING data",
                (self._own_key(connection, where), where.subagent, name),
            ).fetchall()
            return found[0][0] if found else None

        return self._database.write(work)

    def _own_key(self, connection: sqlite3.Connection, where: SessionId) -> int:
        return self._admit(connection, Change(where))

    # notes

    def note(self, key: str, value: Any) -> None:
        text = to_json(value)

        def work(connection: sqlite3.Connection) -> None:
            if value is None:
                connection.execute("DELETE FROM notes WHERE key = ?", (key,))
            else:
                connection.execute(_NOTE, (key, text))

        self._database.write(work)

    def swap_note(self, key: str, expected: Any, value: Any) -> bool:
        text = to_json(value)

        def work(connection: sqlite3.Connection) -> bool:
            row = connection.execute("SELECT value FROM notes WHERE key = ?", (key,)).fetchone()
            if (None if row is None else from_json(row[0])) != expected:
                return False
            if value is None:
                connection.execute("DELETE FROM notes WHERE key = ?", (key,))
            else:
                connection.execute(_NOTE, (key, text))
            return True

        return self._database.write(work)

    def noted(self, key: str) -> Any:
        with self._database.read() as connection:
            row = connection.execute("SELECT value FROM notes WHERE key = ?", (key,)).fetchone()
        return None if row is None else from_json(row[0])

    def notes(self, prefix: str) -> Mapping[str, Any]:
        with self._database.read() as connection:
            # Keys stand in the order of their bytes, so those with the prefix follow one another.
            found = connection.execute("SELECT key, value FROM notes WHERE key >= ? ORDER BY key", (prefix,))
            return {key: from_json(value) for key, value in takewhile(lambda row: row[0].startswith(prefix), found)}

    # audit

    def audit(self, *, session: str | None = None) -> Iterator[Mapping[str, Any]]:
        return self._audit.entries(session)

    def audit_since(
        self, position: int, limit: int = 1000, *, session: str | None = None
    ) -> Sequence[tuple[int, Mapping[str, Any]]]:
        return self._audit.since(position, limit, session)

    def audit_naming(self, name: str) -> Sequence[tuple[int, Mapping[str, Any]]]:
        return self._audit.naming(name)

    def verify_audit(self, *, session: str | None = None) -> AuditReport:
        return AuditVerifier(self._audit, self._database).verify(session)

    # watching and upkeep

    def revision(self) -> int:
        return self._database.revision()

    def delete_session(self, session: str, *, by: str, at: float) -> None:
        def work(connection: sqlite3.Connection) -> Appended:
            tombstone = upkeep.delete_rows(connection, session, by=by, at=at)
            return self._audit.append(connection, session, (tombstone,))

        self._audit.publish(self._database.write(work))
        upkeep.scrub(self._database)

    def deletions(self, after: int = 0, limit: int = 1000) -> Sequence[Deletion]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT position, user, agent, thread, session, at, by, events FROM deleted WHERE position > ? "
                "ORDER BY position LIMIT ?",
                (after, limit),
            ).fetchall()
        return [
            Deletion(position, SessionId(SessionKey(user, agent, thread), session), at, by, events)
            for position, user, agent, thread, session, at, by, events in found
        ]

    def usage(self) -> Mapping[str, Any]:
        return {
            **upkeep.usage(self._database, self._audit.directory, self._clock()),
            "audit_trouble": self._audit.trouble,
        }

    def close(self) -> None:
        self._audit.close()
        self._database.close()


def _session(connection: sqlite3.Connection, session: str) -> Session | None:
    row = connection.execute(f"SELECT {rows.SESSION_COLUMNS} FROM sessions s WHERE s.id = ?", (session,)).fetchone()
    return None if row is None else rows.session_of(row)


def _settle(connection: sqlite3.Connection, settled: Approval) -> None:
    """Within a transaction; raises `AlreadyDecided`."""
    known = _approval(connection, settled.id)
    if known is None or known.status != "pending":
        raise AlreadyDecided(known or settled)
    names = ("status", "answer", "answered_at", "answered_by", "message", "rule")
    values = [rows.approval_value(name, getattr(settled, name)) for name in names]
    settings = ", ".join(f"{name} = ?" for name in names)
    connection.execute(f"UPDATE approvals SET {settings} WHERE id = ?", [*values, settled.id])


def _approval(connection: sqlite3.Connection, approval_id: str) -> Approval | None:
    row = connection.execute(
        f"SELECT {rows.APPROVAL_COLUMNS} FROM approvals a JOIN sessions s ON s.key = a.session WHERE a.id = ?",
        (approval_id,),
    ).fetchone()
    return None if row is None else rows.approval_of(row)


def _chain_is_live(connection: sqlite3.Connection, key: SessionKey) -> StateConflict:
    row = connection.execute(
        "SELECT id, state FROM sessions WHERE user = ? AND agent = ? AND thread = ? AND state <> 'sealed'",
        (key.user, key.agent, key.thread),
    ).fetchone()
    live = f"session {row[0]!r} is {row[1]}" if row else "another session is live"
    return StateConflict(f"thread {key.thread!r} has one live session at most, and {live}; seal it first")


def _equal(table: str, wanted: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """Conditions for those of `wanted` that are given."""
    given = {name: value for name, value in wanted.items() if value is not None}
    return [f"{table}.{name} = ?" for name in given], list(given.values())
