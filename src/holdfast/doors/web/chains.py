"""Threads and their sessions: the timeline, one session whole, its digest and recovery, and what a person may do to it.

The recovery gate can be seen here and never cleared: only reading the anchors opens it (MB8).
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypedDict

from holdfast.chain.digest import Digest
from holdfast.chain.digest_text import digest_text
from holdfast.chain.sealer import SEALED, Sealing
from holdfast.chain.session_health import health_of
from holdfast.chain.unsealing import UnsealError
from holdfast.core.decode import camel
from holdfast.core.messages import LANGUAGES, Phrase
from holdfast.core.strategy import OWN_HOST, Effective, Who, effective
from holdfast.doors.session_rows import archive_state, hand_over, newest_of_threads
from holdfast.doors.web import chain_shapes as shapes
from holdfast.doors.web.records import Answer, Records
from holdfast.doors.web.routes import ApiError, Call, Route, not_found
from holdfast.doors.web.thread_view import matches, pending_of, thread_row
from holdfast.doors.web.titles import title_of
from holdfast.store.interface import IMPORTED, EventRecord, Session, Store

_GONE = Phrase(
    "page.gone_thread", "this page ends at a thread that is gone; begin anew", "此页末尾的对话已不存在；请重新开始"
)
_AMBIGUOUS = Phrase(
    "page.ambiguous_thread",
    "several agents have a thread {thread}; say which one",
    "多个智能体都有对话 {thread}；请指明是哪一个",
)


MOST_SESSIONS = 200
MOST_SEGMENTS = 100


class SealBody(TypedDict, total=False):
    over: bool
    """The turn that is open has ended: whoever worked there is gone."""


def list_threads(call: Call) -> Answer:
    """Threads of every host, the newest first."""
    records = call.server.records
    limit = call.number("limit", 50, 200, 1)
    found = newest_of_threads(
        records.store,
        records.control.user,
        vault=call.query["vault"],
        host=call.query["host"],
        agent=call.query["agent"],
    )
    if wanted := call.text("q"):
        found = [row for row in found if matches(row, wanted)]
    after = call.query["cursor"]
    if after is not None:
        place = next((at for at, row in enumerate(found) if row.id.session == after), None)
        if place is None:
            raise ApiError(422, "bad_cursor", _GONE())
        found = found[place + 1 :]
    pending = pending_of(records.control)
    shown = found[:limit]
    return {
        "threads": [_thread_row(records, row, pending[row.id.key]) for row in shown],
        "cursor": shown[-1].id.session if len(found) > limit else None,
    }


def _thread_row(records: Records, row: Session, pending: int) -> Answer:
    told = thread_row(records.control, row, pending, busy=False)
    known = shapes.ThreadOfChain.__annotations__
    return {**{name: value for name, value in told.items() if name in known}, "startedAt": row.started_at}


def show_chain(call: Call) -> Answer:
    """The timeline of one thread."""
    records, thread = call.server.records, call.path["thread"]
    agent = call.query["agent"]
    rows = [row for row in records.reach.sessions(thread) if agent in (None, row.id.agent)]
    agents = sorted({row.id.agent for row in rows})
    if not rows:
        raise not_found("thread", thread)
    if len(agents) > 1:
        said = _AMBIGUOUS(thread=repr(thread[:80]))
        raise ApiError(409, "ambiguous_thread", said, body={"agents": agents}, thread=thread)
    shown = rows[-MOST_SESSIONS:]
    return {
        "thread": thread,
        "agent": agents[0],
        "title": next((row.title for row in reversed(rows) if row.title), "") or title_of(records.store, rows[0]),
        "vault": rows[-1].vault,
        "hosts": sorted({row.host for row in rows}),
        "sessions": [session_card(records, row, is_last=row is rows[-1]) for row in shown],
        "leftOut": len(rows) - len(shown),
    }


def session_card(records: Records, row: Session, *, is_last: bool | None = None) -> Answer:
    """One session of a timeline; what the command line tells too comes from the same place."""
    told = records.recall.described(row)
    health = health_of(records.store, row)
    if is_last is None:
        is_last = records.store.chain(row.id.key)[-1].id == row.id
    now = records.control.clock()
    marks = effective(
        records.control.settings,
        Who(row.host, row.id.agent, row.model),
        health.window if health else None,
        health.reserve if health else None,
    )
    return {
        "session": row.id.session,
        "thread": row.id.thread,
        "agent": row.id.agent,
        "host": row.host,
        "vault": row.vault,
        "model": row.model,
        "mode": row.mode,
        "number": row.number,
        "title": title_of(records.store, row),
        "state": row.state,
        "sealReason": row.seal_reason,
        "sealMark": row.seal_mark,
        "sealWanted": _seal_wanted(row),
        "startedAt": row.started_at,
        "endedAt": row.ended_at,
        "duration": max(0.0, (now if row.ended_at is None else row.ended_at) - row.started_at),
        "events": told["events"],
        "compressions": told["compactions"],
        "fill": health
        and {
            "used": told["used"],
            "window": told["window"],
            "reserve": health.reserve,
            **told["health"],
        },
        "marks": marks_data(marks),
        "segments": _segments(records.store, row, told["events"], now),
        "canUnseal": is_last and row.state == "sealed" and row.seal_reason != IMPORTED,
    }


def _seal_wanted(row: Session) -> str:
    wanted: Any = row.extra.get("seal_wanted")
    if isinstance(wanted, dict):
        return str(wanted.get("reason", ""))
    return str(wanted or "")


def marks_data(marks: Effective) -> Answer:
    """Where a strategy warns and acts."""
    return {
        "strategy": marks.strategy,
        "warn": marks.warn,
        "action": marks.action,
        "maxCompressions": marks.max_compressions,
        "chain": marks.chain,
        "source": marks.source,
        "family": marks.family,
        "approximate": marks.approximate,
        "notes": [note.to_dict() for note in marks.notes],
    }


def compaction_data(record: EventRecord) -> Answer:
    data = record.data
    return {
        "eventNo": record.no,
        "at": record.at,
        "before": data.get("before"),
        "after": data.get("after"),
        "trigger": str(data.get("trigger", "auto")),
        "inferred": bool(data.get("inferred")),
    }


def compactions(store: Store, row: Session, limit: int) -> list[EventRecord]:
    """What has shortened the context; a pruning of our own without a summary is none (SC9)."""
    found = store.events(row.id.session, kinds=("compacted",), limit=limit)
    return [record for record in found if row.host != OWN_HOST or record.data.get("summary")]


def _segments(store: Store, row: Session, events: int, now: float) -> list[Answer]:
    """What lies between compactions."""
    made: list[Answer] = []
    first, start = 1, row.started_at
    for record in compactions(store, row, MOST_SEGMENTS):
        made.append(_segment(first, record.no, start, record.at, compaction_data(record)))
        first, start = record.no + 1, record.at
    if events >= first or not made:
        made.append(_segment(first, max(first, events), start, now if row.ended_at is None else row.ended_at, None))
    return made


def _segment(first: int, last: int, start: float, end: float, compaction: Answer | None) -> Answer:
    return {"firstEvent": first, "lastEvent": last, "startedAt": start, "endedAt": end, "compaction": compaction}


def show_session(call: Call) -> Answer:
    """One session, and whether its archive is what was written."""
    records = call.server.records
    row = records.session(call.path["session"])
    return {**session_card(records, row), "archive": archive_state(records.chain, row)}


def show_digest(call: Call) -> Answer:
    """What happened in a session, as data and as text."""
    records = call.server.records
    digest = records.chain.digests.of(records.session(call.path["session"]))
    return {"digest": _digest(digest), "text": {language: digest_text(digest, language) for language in LANGUAGES}}


def _digest(digest: Digest) -> Answer:
    data = dataclasses.asdict(digest)
    del data["where"]
    return {"session": digest.where.session, **{camel(name): value for name, value in data.items()}}


def seal(call: Call) -> Answer:
    """End a session cleanly; a live turn or an open approval is never cut."""
    records = call.server.records
    row = records.session(call.path["session"])
    over = bool(call.body.get("over", False))
    return _sealing(records, records.chain.sealer.seal_now(row.id, by=records.control.user, turn_is_over=over))


def _sealing(records: Records, sealing: Sealing) -> Answer:
    return {
        "status": sealing.status,
        "message": sealing.message.to_dict(),
        "warning": sealing.warning and sealing.warning.to_dict(),
        "session": session_card(records, sealing.session),
    }


def unseal(call: Call) -> Answer:
    """Go on in the last session of a thread after all."""
    records = call.server.records
    row = records.session(call.path["session"])
    try:
        done = records.chain.unseal(row.id, by=records.control.user)
    except UnsealError as error:
        raise ApiError(409, "cannot_unseal", error.message, session=row.id.session, state=row.state) from None
    return {"session": session_card(records, done)}


def hand_off(call: Call) -> Answer:
    """Seal a session for another to go on with; a sealed one only tells what that one will be told."""
    records = call.server.records
    row = records.session(call.path["session"])
    sealing, packet = hand_over(records.chain, row, by=records.control.user)
    told = _sealing(records, sealing or Sealing(row, "sealed", SEALED(session=row.id.session)))
    return {**told, "packet": packet and {"text": packet.text, "tokens": packet.tokens}}


def recovery(call: Call) -> Answer:
    """Which anchors must still be read after a compaction (MB7)."""
    records = call.server.records
    row = records.session(call.path["session"])
    kept: Any = records.store.state(row.id).data.get("recovery_gate", {})
    settings = records.control.settings.runtime.memory
    unread = list(kept.get("unread", ()))
    return {
        "session": row.id.session,
        "enabled": settings.enabled and settings.recovery,
        "required": bool(unread) and settings.enabled and settings.recovery,
        "unread": unread,
        "read": [path for path in kept.get("all", ()) if path not in unread],
        "anchors": list(kept.get("anchors", ())),
        "compactions": int(kept.get("compactions", 0)),
    }


_FILTERS = {"host": str, "agent": str, "vault": str, "q": str, "cursor": str, "limit": int}

ROUTES = (
    Route("GET", "/api/chains", list_threads, "Threads of every host", query=_FILTERS, returns=shapes.Threads),
    Route("GET", "/api/chains/{thread}", show_chain, "A thread's sessions", query={"agent": str}, returns=shapes.Chain),
    Route("GET", "/api/sessions/{session}", show_session, "One session", returns=shapes.SessionDetail),
    Route("GET", "/api/sessions/{session}/digest", show_digest, "What happened in it", returns=shapes.DigestAnswer),
    Route("GET", "/api/sessions/{session}/recovery", recovery, "Anchors to be read", returns=shapes.Recovery),
    Route("POST", "/api/sessions/{session}/seal", seal, "End a session", body=SealBody, returns=shapes.SealingAnswer),
    Route("POST", "/api/sessions/{session}/unseal", unseal, "Make it active again", returns=shapes.Unsealed),
    Route("POST", "/api/sessions/{session}/handoff", hand_off, "Seal it for another", returns=shapes.HandOff),
)
