"""Records as rows of the SQLite tables, and back."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any

from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import Approval, EventRecord, Session
from holdfast.store.json_text import clean_text, from_json, to_json

Row = tuple[Any, ...]

SESSION_FIELDS = tuple(field.name for field in dataclasses.fields(Session) if field.name != "id")
SESSION_COLUMNS = 's.id, s.user, s.agent, s.thread, s."' + '", s."'.join(SESSION_FIELDS) + '"'
INSERT_SESSION = (
    'INSERT INTO sessions (id, user, agent, thread, "'
    + '", "'.join(SESSION_FIELDS)
    + '") VALUES ('
    + ", ".join("?" * (4 + len(SESSION_FIELDS)))
    + ")"
)

EVENT_COLUMNS = (
    "e.id, s.user, s.agent, s.thread, s.id, e.subagent, e.at, e.kind, e.data, e.invocation, e.text, e.tool, e.files, "
    "e.number, e.seq"
)
INSERT_EVENT = (
    "INSERT INTO events (id, session, number, subagent, at, kind, invocation, tool, files, text, data) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

_APPROVAL_FIELDS = tuple(field.name for field in dataclasses.fields(Approval) if field.name not in ("id", "where"))
APPROVAL_COLUMNS = "a.id, s.user, s.agent, s.thread, s.id, a.subagent, a." + ", a.".join(_APPROVAL_FIELDS)
INSERT_APPROVAL = (
    f"INSERT INTO approvals (id, session, subagent, {', '.join(_APPROVAL_FIELDS)}) "
    f"VALUES ({', '.join('?' * (3 + len(_APPROVAL_FIELDS)))})"
)


def session_values(session: Session) -> Row:
    where = session.id
    return (
        where.session,
        where.user,
        where.agent,
        where.thread,
        *(session_value(name, getattr(session, name)) for name in SESSION_FIELDS),
    )


def session_value(name: str, value: Any) -> Any:
    if name == "extra":
        return to_json(value)
    if name == "exact":
        return int(value)
    return clean_text(value) if isinstance(value, str) else value


def session_of(row: Row) -> Session:
    values = dict(zip(SESSION_FIELDS, row[4:], strict=True))
    values["extra"] = from_json(values["extra"])
    values["exact"] = bool(values["exact"])
    return Session(id=SessionId(SessionKey(row[1], row[2], row[3]), row[0]), **values)


def event_values(record: EventRecord, session: int, number: int) -> Row:
    return (
        record.id,
        session,
        number,
        record.where.subagent,
        record.at,
        record.kind,
        record.invocation,
        record.tool,
        to_json(record.files) if record.files else "",
        clean_text(record.text),
        to_json(record.data),
    )


@lru_cache(4096)
def _place(user: str, agent: str, thread: str, session: str, subagent: str) -> SessionId:
    """Thousands of events share one, and making it costs more than reading the rest of the row."""
    return SessionId(SessionKey(user, agent, thread), session, subagent)


def event_of(row: Row) -> EventRecord:
    event_id, user, agent, thread, session, subagent, at, kind, data, invocation, text, tool, files, number, seq = row
    return EventRecord(
        id=event_id,
        where=_place(user, agent, thread, session, subagent),
        at=at,
        kind=kind,
        data=from_json(data),
        invocation=invocation,
        text=text,
        tool=tool,
        files=tuple(from_json(files)) if files else (),
        no=number,
        seq=seq,
    )


def approval_values(approval: Approval, session: int) -> Row:
    return (
        approval.id,
        session,
        approval.where.subagent,
        *(approval_value(name, getattr(approval, name)) for name in _APPROVAL_FIELDS),
    )


def approval_value(name: str, value: Any) -> Any:
    if name in ("question", "rule"):
        return None if value is None else to_json(value)
    return clean_text(value) if isinstance(value, str) else value


def approval_of(row: Row) -> Approval:
    values = dict(zip(_APPROVAL_FIELDS, row[6:], strict=True))
    values["question"] = from_json(values["question"])
    values["rule"] = None if values["rule"] is None else from_json(values["rule"])
    return Approval(id=row[0], where=SessionId(SessionKey(row[1], row[2], row[3]), row[4], row[5]), **values)
