"""Deleting for good, and how much there is."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.store.database import Database
from holdfast.store.interface import StoreError

_OF_A_SESSION = ("events", "policy_state", "remembered", "approvals", "snapshots")
_COUNTED = ("sessions", "events", "approvals", "snapshots", "audit_entries", "deleted")
_DAY = 86_400.0
_PAGES_AT_ONCE = 2000


def delete_rows(connection: sqlite3.Connection, session: str, *, by: str, at: float) -> Mapping[str, Any]:
    """Remove every row of a session, and give the tombstone for the audit."""
    row = connection.execute(
        "SELECT key, user, agent, thread, number, mode FROM sessions WHERE id = ?", (session,)
    ).fetchone()
    if row is None:
        raise StoreError(f"no session {session!r}; `holdfast sessions` lists those there are")
    key, user, agent, thread, number, mode = row
    events = connection.execute("SELECT count(*) FROM events WHERE session = ?", (key,)).fetchone()[0]
    connection.execute("PRAGMA secure_delete = ON")  # freed pages are overwritten, not merely forgotten
    try:
        for table in _OF_A_SESSION:
            connection.execute(f"DELETE FROM {table} WHERE session = ?", (key,))
        connection.execute("DELETE FROM sessions WHERE key = ?", (key,))
    finally:
        connection.execute("PRAGMA secure_delete = OFF")
    position = connection.execute(
        "INSERT INTO deleted (session, user, agent, thread, number, events, at, by) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (session, user, agent, thread, number, events, at, by),
    ).lastrowid
    return {
        "eventId": f"deleted-{position}",
        "sessionId": session,
        "user": user,
        "agent": agent,
        "thread": thread,
        "mode": mode,
        "decision": "allow",
        "permissionDomain": "",
        "targets": [],
        "rulePattern": "",
        "timestamp": at,
        "decidedBy": by,
        "what": "session_deleted",
        "events": events,
    }


def scrub(database: Database) -> None:
    """After a deletion: nothing of it stays in the log beside the database, in free pages or in older copies."""
    while database.write(_give_back_pages):
        pass
    with database.read() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    for copy in database.path.parent.glob(f"{database.path.name}.bak-v*"):
        copy.unlink(missing_ok=True)


def _give_back_pages(connection: sqlite3.Connection) -> bool:
    """Shrink the file a little, so that others get their turn in between; True while there is more to do."""
    free = int(connection.execute("PRAGMA freelist_count").fetchone()[0])
    for _ in range(min(free, _PAGES_AT_ONCE)):
        connection.execute("PRAGMA incremental_vacuum(1)")  # one page for each call, as the module steps it once
    return free > _PAGES_AT_ONCE


def usage(database: Database, audit_dir: Path, now: float) -> Mapping[str, Any]:
    path = database.path
    with database.read() as connection:
        counts = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in _COUNTED}
        behind = connection.execute(
            "SELECT coalesce(sum(count - written), 0) FROM audit_chains WHERE written < count"
        ).fetchone()[0]
        week = _recent_events(connection, now - 7 * _DAY)
        free = connection.execute("PRAGMA freelist_count").fetchone()[0]
        page = connection.execute("PRAGMA page_size").fetchone()[0]
    database_bytes = _size(path)
    events = counts["events"]
    return {
        "path": str(path),
        "database_bytes": database_bytes,
        "log_bytes": _size(path.with_name(path.name + "-wal")),
        "free_bytes": free * page,
        "audit_dir": str(audit_dir),
        "audit_bytes": sum(_size(file) for file in audit_dir.glob("*.jsonl")),
        "backup_bytes": sum(_size(file) for file in path.parent.glob(f"{path.name}.bak-v*")),
        **counts,
        "audit_behind": behind,
        "events_last_7_days": week,
        "bytes_per_day": round(database_bytes * week / events / 7) if events else 0,
    }


def _recent_events(connection: sqlite3.Connection, since: float) -> int:
    """How many events are younger than `since`. Events come in about the order of time, so halving finds the place."""
    low, high = connection.execute("SELECT coalesce(min(seq), 1), coalesce(max(seq), 0) FROM events").fetchone()
    newest = high
    while low <= high:
        middle = (low + high) // 2
        row = connection.execute("SELECT seq, at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1", (middle,)).fetchone()
        if row[1] < since:
            low = row[0] + 1
        else:
            high = middle - 1
    return int(connection.execute("SELECT count(*) FROM events WHERE seq BETWEEN ? AND ?", (low, newest)).fetchone()[0])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
