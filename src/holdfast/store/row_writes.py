"""The single writes that a step is made of, each within the transaction of whoever calls it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from holdfast.core.keys import SessionId, SessionKey, require_same_thread
from holdfast.store import rows
from holdfast.store.interface import (
    IMPORTED,
    Approval,
    Change,
    EventRecord,
    Remembered,
    SealedError,
    StateConflict,
    StoreError,
)
from holdfast.store.json_text import clean_text, to_json

_ASK_AT_ONCE = 500


def write_state(connection: sqlite3.Connection, place: tuple[int, str], change: Change) -> int:
    assert change.state is not None
    seen = change.state.version
    row = connection.execute("SELECT version FROM policy_state WHERE session = ? AND subagent = ?", place).fetchone()
    current = row[0] if row else 0
    if current != seen:
        raise StateConflict(f"the state of session {change.where.session!r} is at version {current}, not {seen}")
    connection.execute(
        "INSERT OR REPLACE INTO policy_state (session, subagent, version, data) VALUES (?, ?, ?, ?)",
        (*place, current + 1, to_json(change.state.data)),
    )
    return int(current) + 1


def remember(connection: sqlite3.Connection, place: tuple[int, str], decision: Remembered) -> None:
    call_id = clean_text(decision.call_id)
    row = connection.execute(
        "SELECT fingerprint FROM remembered WHERE session = ? AND subagent = ? AND call_id = ?", (*place, call_id)
    ).fetchone()
    if row is not None and row[0] == decision.fingerprint:
        raise StateConflict(f"call {decision.call_id!r} has just been decided by somebody else")
    connection.execute(
        "INSERT OR REPLACE INTO remembered (session, subagent, call_id, fingerprint, outcome, approval) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (*place, call_id, decision.fingerprint, to_json(decision.outcome), decision.approval),
    )


def write_events(
    connection: sqlite3.Connection, session: int, records: Sequence[EventRecord]
) -> tuple[EventRecord, ...]:
    if not records:
        return ()
    number = connection.execute("SELECT max(number) FROM events WHERE session = ?", (session,)).fetchone()[0] or 0
    numbered = []
    for record in records:
        number += 1
        try:
            seq = connection.execute(rows.INSERT_EVENT, rows.event_values(record, session, number)).lastrowid or 0
        except sqlite3.IntegrityError:
            raise StoreError(f"event {record.id!r} is in the store already; an event is recorded once") from None
        numbered.append(replace(record, no=number, seq=seq))
    return tuple(numbered)


def write_approval(connection: sqlite3.Connection, session: int, approval: Approval) -> None:
    try:
        connection.execute(rows.INSERT_APPROVAL, rows.approval_values(approval, session))
    except sqlite3.IntegrityError:
        raise StoreError(f"approval {approval.id!r} is in the store already; a question is asked once") from None


def is_asking(connection: sqlite3.Connection, session: str) -> bool:
    """Whether an approval of the session waits for its answer."""
    found = connection.execute(
        "SELECT 1 FROM approvals a JOIN sessions s ON s.key = a.session WHERE s.id = ? AND a.status = 'pending'",
        (session,),
    ).fetchone()
    return found is not None


def append_imported(connection: sqlite3.Connection, where: SessionId, records: Sequence[EventRecord]) -> int:
    """Add those events of an imported session that are not in the store yet; returns how many were."""
    row = connection.execute(
        "SELECT key, user, agent, thread, state, seal_reason FROM sessions WHERE id = ?", (where.session,)
    ).fetchone()
    if row is None:
        raise StoreError(f"session {where.session!r} is not in the store; open_session() comes before its first event")
    require_same_thread(f"an import into session {where.session!r}", SessionKey(row[1], row[2], row[3]), where.key)
    if row[5] != IMPORTED:
        raise SealedError(f"session {where.session!r} was recorded by Holdfast itself; nothing is imported into it")
    number = connection.execute("SELECT max(number) FROM events WHERE session = ?", (row[0],)).fetchone()[0] or 0
    known = _known_ids(connection, [record.id for record in records])
    values = []
    checked: SessionId | None = None
    for record in records:
        if record.where is not checked and record.where.main() != where.main():
            raise StoreError(f"event {record.id!r} is of {record.where}, not of session {where.session!r}")
        checked = record.where  # one object serves thousands of events
        if record.id not in known:
            known.add(record.id)
            number += 1
            values.append(rows.event_values(record, row[0], number))
    connection.executemany(rows.INSERT_EVENT, values)
    return len(values)


def _known_ids(connection: sqlite3.Connection, ids: Sequence[str]) -> set[str]:
    known: set[str] = set()
    for start in range(0, len(ids), _ASK_AT_ONCE):
        some = ids[start : start + _ASK_AT_ONCE]
        query = f"SELECT id FROM events WHERE id IN ({', '.join('?' * len(some))})"
        known.update(found[0] for found in connection.execute(query, some))
    return known
