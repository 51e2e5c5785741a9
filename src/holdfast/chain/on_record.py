"""What a person did to a session, in its audit."""

from __future__ import annotations

from typing import Any

from holdfast.chain.session_rows import existing
from holdfast.core.keys import SessionId
from holdfast.store.interface import Change, Store


def put_on_record(store: Store, where: SessionId, what: str, *, by: str, at: float, event_id: str, **more: Any) -> None:
    """Also for a sealed session: the audit is not part of its transcript."""
    session = existing(store, where, what)
    entry = {
        "eventId": event_id,
        "sessionId": where.session,
        "user": where.user,
        "agent": where.agent,
        "thread": where.thread,
        "mode": session.mode,
        "decision": "allow",
        "permissionDomain": "",
        "targets": [],
        "rulePattern": "",
        "timestamp": at,
        "decidedBy": by,
        "what": what,
        **more,
    }
    store.commit(Change(where, audit=(entry,)))
