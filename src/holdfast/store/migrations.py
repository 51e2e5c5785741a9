"""The schema as an append-only list of steps, and the way from any older one to the newest.

A step that was released is never changed: a new one is added at the end, and a golden database of the version that it
leaves behind is added to tests/store/golden. Before each step the database is copied to `<name>.bak-v<N>`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from holdfast.core.messages import Phrase
from holdfast.store.interface import StoreError

Migration = tuple[str, ...]
"""The statements that lead from one version to the next."""

_FIRST: Migration = (
    """
    CREATE TABLE sessions (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        user TEXT NOT NULL,
        agent TEXT NOT NULL,
        thread TEXT NOT NULL,
        number INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('active', 'sealing', 'sealed')),
        host TEXT NOT NULL,
        vault TEXT NOT NULL,
        started_at REAL NOT NULL,
        cwd TEXT NOT NULL,
        model TEXT NOT NULL,
        title TEXT NOT NULL,
        mode TEXT NOT NULL,
        ended_at REAL,
        seal_reason TEXT NOT NULL,
        seal_mark TEXT NOT NULL,
        sealing_since REAL,
        used INTEGER,
        "window" INTEGER,
        reserve INTEGER,
        exact INTEGER NOT NULL,
        measured_at REAL,
        compressions INTEGER NOT NULL,
        version INTEGER NOT NULL,
        extra TEXT NOT NULL,
        UNIQUE (user, agent, thread, number)
    )
    """,
    # SC3: whatever races, a chain has one live session at most.
    "CREATE UNIQUE INDEX one_live_session ON sessions (user, agent, thread) WHERE state <> 'sealed'",
    "CREATE INDEX sessions_by_start ON sessions (started_at)",
    """
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        session INTEGER NOT NULL,
        number INTEGER NOT NULL,
        subagent TEXT NOT NULL,
        at REAL NOT NULL,
        kind TEXT NOT NULL,
        invocation TEXT NOT NULL,
        tool TEXT NOT NULL,
        files TEXT NOT NULL,
        text TEXT NOT NULL,
        data TEXT NOT NULL,
        UNIQUE (session, number)
    )
    """,
    "CREATE INDEX events_by_invocation ON events (session, invocation, number) WHERE invocation <> ''",
    """
    CREATE TABLE policy_state (
        session INTEGER NOT NULL,
        subagent TEXT NOT NULL,
        version INTEGER NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (session, subagent)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE remembered (
        session INTEGER NOT NULL,
        subagent TEXT NOT NULL,
        call_id TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        outcome TEXT NOT NULL,
        approval TEXT NOT NULL,
        PRIMARY KEY (session, subagent, call_id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE approvals (
        id TEXT NOT NULL PRIMARY KEY,
        session INTEGER NOT NULL,
        subagent TEXT NOT NULL,
        call_id TEXT NOT NULL,
        created_at REAL NOT NULL,
        tool TEXT NOT NULL,
        question TEXT NOT NULL,
        policy TEXT NOT NULL,
        invocation TEXT NOT NULL,
        host TEXT NOT NULL,
        vault TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('pending', 'answered', 'expired', 'cancelled')),
        deadline REAL,
        answer TEXT,
        answered_at REAL,
        answered_by TEXT NOT NULL,
        message TEXT NOT NULL,
        rule TEXT
    )
    """,
    "CREATE INDEX approvals_pending ON approvals (created_at) WHERE status = 'pending'",
    "CREATE INDEX approvals_by_session ON approvals (session, created_at)",
    "CREATE INDEX approvals_by_time ON approvals (created_at)",
    """
    CREATE TABLE snapshots (
        session INTEGER NOT NULL,
        subagent TEXT NOT NULL,
        name TEXT NOT NULL,
        at REAL NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (session, subagent, name)
    )
    """,
    "CREATE TABLE notes (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # AU2: `written` says up to where the file is known to hold the chain; what lies beyond may be written again.
    """
    CREATE TABLE audit_chains (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        session TEXT NOT NULL UNIQUE,
        count INTEGER NOT NULL,
        last_hash TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        written INTEGER NOT NULL
    )
    """,
    "CREATE INDEX audit_chains_behind ON audit_chains (key) WHERE written < count",
    """
    CREATE TABLE audit_entries (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        chain INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        start INTEGER NOT NULL,
        line TEXT NOT NULL,
        UNIQUE (chain, seq)
    )
    """,
    # SC4: what is left of a deleted session.
    """
    CREATE TABLE deleted (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        session TEXT NOT NULL,
        user TEXT NOT NULL,
        agent TEXT NOT NULL,
        thread TEXT NOT NULL,
        number INTEGER NOT NULL,
        events INTEGER NOT NULL,
        at REAL NOT NULL,
        by TEXT NOT NULL
    )
    """,
)

_AUDIT_BY_CALL: Migration = (
    # AU3: `why` and the page ask for one call among millions of entries.
    """
    CREATE INDEX audit_entries_by_call ON audit_entries (json_extract(line, '$.callId'))
    WHERE json_extract(line, '$.callId') IS NOT NULL
    """,
)

MIGRATIONS: tuple[Migration, ...] = (_FIRST, _AUDIT_BY_CALL)


_TOO_NEW = Phrase(
    "store.too_new",
    "{path} was written by a newer Holdfast (its format is {version}, this program knows up to {newest}): update "
    "Holdfast, or restore the copy {backup} if there is one",
    "{path} 由更新的 Holdfast 写成（格式为 {version}，本程序只认识到 {newest}）：请更新 Holdfast，"
    "或恢复副本 {backup}（若有）",
)


def version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def require_known(path: Path, version: int, newest: int = len(MIGRATIONS)) -> None:
    if version > newest:
        raise StoreError(_TOO_NEW(path=path, version=version, newest=newest, backup=backup_path(path, newest).name))


def backup_path(path: Path, version: int) -> Path:
    return path.with_name(f"{path.name}.bak-v{version}")


def migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Carry out the steps that are missing, one transaction each; a new file, which has nothing to lose, takes them all
    in one and needs no copy. `connection` is in autocommit mode."""
    while True:
        connection.execute("BEGIN IMMEDIATE")  # from here on no other process migrates or writes
        try:
            version = version_of(connection)
            require_known(path, version, len(migrations))
            if version == len(migrations):
                connection.execute("ROLLBACK")
                return
            steps = migrations
            if version > 0:
                _back_up(path, version)
                steps = migrations[version : version + 1]
            for statement in (statement for step in steps for statement in step):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + len(steps)}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _back_up(path: Path, version: int) -> None:
    """Copy by SQLite's own means: a copy of the file alone would miss what still stands in the log beside it."""
    final = backup_path(path, version)
    draft = final.with_name(final.name + ".part")
    draft.unlink(missing_ok=True)
    # A second connection: SQLite refuses to copy from one that is writing. It sees the state before this step.
    source = sqlite3.connect(path, timeout=30)
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        target = sqlite3.connect(draft)
        try:
            source.backup(target)
        finally:
            target.close()
    finally:
        source.close()
    descriptor = os.open(draft, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    draft.replace(final)
