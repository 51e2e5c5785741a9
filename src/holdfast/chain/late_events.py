"""What happened in a session and was told only after its seal: kept aside, and handed to the thread's next session.

Nothing is appended after a seal, and nothing is lost. Only reports of what has happened are kept; a question about what
may happen is answered with a refusal instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdfast.chain.session_rows import key_text
from holdfast.core.events import Event
from holdfast.core.keys import SessionId, SessionKey
from holdfast.records import record_of
from holdfast.store.interface import Change, EventRecord, SealedError, Session, Store, StoreError

_REPORTS = {"assistant_replied", "tool_called", "compacted", "approval_answered", "mode_changed", "session_ended"}


def keep_late(store: Store, event: Event) -> bool:
    """Keep a report for the next session; False when the event is no report."""
    if event.kind not in _REPORTS:
        return False
    record = record_of(event)
    where = record.where
    store.note(
        f"{_prefix(where.key)}{record.id}",
        {
            "id": record.id,
            "session": where.session,
            "subagent": where.subagent,
            "at": record.at,
            "kind": record.kind,
            "data": dict(record.data),
            "invocation": record.invocation,
            "text": record.text,
            "tool": record.tool,
            "files": list(record.files),
        },
    )
    return True


def deliver_late(store: Store, to: Session) -> int:
    """Hand over what waits for this thread; returns how many events it was."""
    kept = store.notes(_prefix(to.id.key))
    delivered = 0
    for name, body in sorted(kept.items(), key=lambda entry: (entry[1]["at"], entry[0])):
        record = _record(to, body)
        try:
            if store.event(record.id) is None:
                store.commit(Change(record.where, events=(record,)))
                delivered += 1
        except SealedError:
            break  # sealed before it had begun: the one after it gets the rest
        except StoreError:
            if store.event(record.id) is None:
                raise
        store.note(name, None)
    return delivered


def _record(to: Session, body: dict[str, Any]) -> EventRecord:
    record = EventRecord(
        id=body["id"],
        where=SessionId(to.id.key, to.id.session, body["subagent"]),
        at=body["at"],
        kind=body["kind"],
        data={**body["data"], "late_from": body["session"]},
        invocation=body["invocation"],
        text=body["text"],
        tool=body["tool"],
    )
    return replace(record, files=tuple(body["files"]))


def _prefix(key: SessionKey) -> str:
    return f"late:{key_text(key)}"
