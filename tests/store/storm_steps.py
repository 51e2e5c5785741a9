"""What the storm programs and the tests share: steps that carry their own proof of being whole."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import EventRecord, Session
from holdfast.store.sqlite import SqliteStore


def open_store(home: Path, **options) -> SqliteStore:
    return SqliteStore(home / "data" / "holdfast.db", audit_dir=home / "logs" / "agent-audit", **options)


def place(session: str = "s1", thread: str | None = None, user: str = "local") -> SessionId:
    return SessionId(SessionKey(user, "agent", thread or f"thread-of-{session}"), session)


def session_at(where: SessionId, **fields) -> Session:
    return Session(where, host="claude-code", vault="/vault", started_at=1_700_000_000.0, **fields)


def sealed_event(where: SessionId, event_id: str, size: int = 300) -> EventRecord:
    """An event whose parts vouch for one another: a torn one cannot pass `is_whole`."""
    text = f"{event_id} 会话 " * (size // 20 + 1)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return EventRecord(
        event_id, where, 1_700_000_000.5, "tool_calling", {"digest": digest}, "run", text, "bash", ("vault:/a",)
    )


def is_whole(record: EventRecord) -> bool:
    return (
        record.data == {"digest": hashlib.sha256(record.text.encode()).hexdigest()}
        and record.text.startswith(record.id)
        and record.files == ("vault:/a",)
    )


def audit_entry(where: SessionId, event_id: str) -> dict:
    return {
        "eventId": event_id,
        "sessionId": where.session,
        "mode": "agent",
        "decision": "allow",
        "permissionDomain": "read",
        "targets": ["vault:/src/主.py"],
        "rulePattern": "**",
        "timestamp": 1_700_000_000.5,
        "decidedBy": "policy",
    }


def reports_of(processes: int, work: Callable[[int], dict]) -> list[dict]:
    """What each of so many processes, forked from this one, found at its work."""
    pipes = []
    for me in range(processes):
        readable, writable = os.pipe()
        if os.fork() == 0:
            os.close(readable)
            os.write(writable, json.dumps(work(me)).encode())
            os._exit(0)
        os.close(writable)
        pipes.append(readable)
    reports = []
    for readable in pipes:
        with os.fdopen(readable, "rb") as pipe:
            text = pipe.read()
        reports.append(json.loads(text) if text else {"errors": ["a process died"]})
        os.wait()
    return reports
