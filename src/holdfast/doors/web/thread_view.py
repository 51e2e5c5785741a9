"""Threads of every host as the page lists them, and how full their context is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

from holdfast.chain.session_health import compactions_of, health_of, is_stale
from holdfast.control import Control
from holdfast.core.keys import SessionKey
from holdfast.core.strategy import OWN_HOST, Who, effective
from holdfast.core.tokens import estimate
from holdfast.doors.session_rows import newest_of_threads
from holdfast.doors.web.live_shapes import HealthShape, SegmentShape, ThreadRow, UsageShape
from holdfast.doors.web.routes import not_found
from holdfast.doors.web.titles import title_of
from holdfast.model_endpoints import OFFLINE
from holdfast.store.interface import Session

_MEASURED = 1500
_TEXT_KINDS = {
    "prompt_submitted": "user",
    "assistant_replied": "assistant",
    "tool_calling": "call",
    "tool_called": "result",
}


def newest_of(control: Control, thread: str) -> Session:
    """The newest session of a thread; the own agent's when several agents have one of that name."""
    found = control.store.sessions(user=control.user, thread=thread, limit=20)
    if not found:
        raise not_found("thread", thread)
    return next((session for session in found if session.host == OWN_HOST), found[0])


def newest_sessions(control: Control, *, host: str | None, vault: str | None) -> list[Session]:
    """The newest session of each thread, the newest first."""
    return newest_of_threads(control.store, control.user, host=host, vault=vault)


def pending_of(control: Control) -> Counter[SessionKey]:
    waiting = control.store.approvals(status="pending", user=control.user, limit=1000)
    return Counter(approval.where.key for approval in waiting)


def thread_row(control: Control, session: Session, pending: int, *, busy: bool) -> ThreadRow:
    last = control.store.events(session.id.session, limit=1, newest_first=True)
    return {
        "thread": session.id.thread,
        "agent": session.id.agent,
        "host": session.host,
        "title": title_of(control.store, session),
        "vault": session.vault,
        "session": session.id.session,
        "sessions": session.number,
        "state": session.state,
        "mode": "full_access" if session.mode == "full_access" else "agent",
        "model": session.model or _configured(control, session),
        "lastAt": last[0].at if last else session.ended_at or session.started_at,
        "pending": pending,
        "busy": busy,
        "own": session.host == OWN_HOST,
    }


def _configured(control: Control, session: Session) -> str:
    return control.settings.runtime.model or OFFLINE if session.host == OWN_HOST else ""


def health_shape(
    control: Control, session: Session, segments: Callable[[], list[SegmentShape]] = list
) -> HealthShape | None:
    """How full the context is, with the marks of the strategy that holds for it (SC2, SC9)."""
    health = health_of(control.store, session)
    if health is None:
        return None
    who = Who(session.host, session.id.agent, session.model)
    marks = effective(control.settings, who, health.window, health.reserve)
    now = control.clock()
    return {
        "session": session.id.session,
        "thread": session.id.thread,
        "used": health.used,
        "window": health.window,
        "reserve": health.reserve,
        "ratio": None if health.ratio is None else round(health.ratio, 4),
        "exact": health.exact,
        "at": health.at,
        "ageSeconds": round(health.age(now), 1),
        "stale": is_stale(control.store, health, session, now),
        "strategy": marks.strategy,
        "warn": marks.warn,
        "action": marks.action,
        "compressions": compactions_of(control.store, session),
        "maxCompressions": marks.max_compressions,
        "segments": segments(),
    }


def segments_of(control: Control, session: Session) -> list[SegmentShape]:
    """What fills the context since the last compaction, estimated from the latest events; the largest first."""
    sizes: Counter[str] = Counter()
    kinds = (*_TEXT_KINDS, "compacted")
    records = control.store.events(session.id.session, kinds=kinds, limit=_MEASURED, newest_first=True)
    for record in records:
        if record.where.subagent:
            continue
        if record.kind == "compacted":
            if record.data.get("summary"):
                sizes["summary"] += estimate(str(record.data["summary"]))
                break
            continue
        text = record.text if record.kind != "tool_called" else str(record.data["result"].get("output") or record.text)
        sizes[_TEXT_KINDS[record.kind]] += estimate(text)
    return [cast("SegmentShape", {"kind": kind, "tokens": tokens}) for kind, tokens in sizes.most_common()]


def usage_shape(control: Control, key: SessionKey) -> UsageShape:
    """What a thread of the own agent has used, as its ledger put it down."""
    kept: Any = control.store.noted(f"usage:{key.user}:{key.agent}:{key.thread}")
    totals: dict[str, Any] = kept["totals"] if isinstance(kept, dict) else {}
    budget = control.settings.runtime.budget
    return {
        "requests": int(totals.get("requests", 0)),
        "inputTokens": int(totals.get("input_tokens", 0)),
        "outputTokens": int(totals.get("output_tokens", 0)),
        "cost": totals.get("cost", 0.0),
        "maxTokens": budget.max_tokens,
        "maxCost": budget.max_cost,
    }


def matches(session: Session, wanted: str) -> bool:
    words: Sequence[str] = (session.title, session.id.thread, session.vault, session.host, session.id.agent)
    return wanted.casefold() in "\n".join(words).casefold()
