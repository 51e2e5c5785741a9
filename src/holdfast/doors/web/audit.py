"""The audit on the page: entries with facets and a histogram, the story of one, the check, copies and replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from starlette.responses import Response, StreamingResponse

from holdfast.control import folds_case
from holdfast.core.messages import Phrase
from holdfast.doors.audit_data import export_lines, report_data
from holdfast.doors.rule_changes import own_rules
from holdfast.doors.web import decision_shapes as shapes
from holdfast.doors.web.audit_rows import FACETS, Row, Wanted
from holdfast.doors.web.records import Answer, Records
from holdfast.doors.web.routes import ApiError, Call, Route, bad_request, not_found
from holdfast.doors.web.search import TOO_LONG
from holdfast.doors.why import explanation
from holdfast.simulator import Simulation, simulate

_NO_CURSOR = Phrase(
    "audit.no_cursor",
    "{cursor} is no cursor: give the one of the page before, or none",
    "{cursor} 不是游标：请给出上一页的游标，或不给",
)
_ONE_OF = Phrase("audit.event_or_session", "name an event or a session", "请指定事件或会话")
_PROBLEM = ("file", "line", "kind", "message")


MOST_ENTRIES = 200
MOST_BUCKETS = 200
MOST_VALUES = 50
MOST_GROUPS = 200
LONGEST_TEXT = 500
_STEPS = (1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400)
_TYPES = {"jsonl": "application/jsonl", "csv": "text/csv"}


class ExportBody(TypedDict, total=False):
    format: Literal["jsonl", "csv"]
    decision: list[str]
    domain: list[str]
    tool: list[str]
    agent: list[str]
    host: list[str]
    policy: list[str]
    session: str
    since: float
    until: float
    q: str


class ReplayBody(TypedDict, total=False):
    event: str
    session: str


def list_entries(call: Call) -> Answer:
    """Entries, the newest first, with what the filters leave of everything."""
    records = call.server.records
    limit = call.number("limit", 50, MOST_ENTRIES, 1)
    chosen = records.audit.choose(_wanted(call.query))
    rows, query = chosen.rows, call.query
    before = _position(call.query["cursor"])
    older = [row for row in rows if before is None or row.position < before]
    shown = older[: -limit - 1 : -1]
    return {
        "entries": [row_data(row, _with_targets(records, records.audit.entry(row))) for row in shown],
        "cursor": str(shown[-1].position) if len(older) > len(shown) else None,
        "total": len(rows),
        "facets": {name: _facet(chosen.counts[name]) for name in FACETS},
        "histogram": histogram(rows, query["since"], query["until"], call.number("buckets", 48, MOST_BUCKETS, 1)),
        "complete": chosen.complete,
    }


def _facet(counted: Counter[str]) -> list[Answer]:
    return [{"value": value, "count": count} for value, count in counted.most_common(MOST_VALUES) if value]


def _wanted(given: Mapping[str, Any]) -> Wanted:
    text = str(given.get("q") or "").strip()
    if len(text) > LONGEST_TEXT:
        raise bad_request(TOO_LONG(name="q", most=LONGEST_TEXT), "q")
    return Wanted(
        facets={name: tuple(given.get(name) or ()) for name in FACETS},
        session=str(given.get("session") or ""),
        since=given.get("since"),
        until=given.get("until"),
        text=text,
    )


def _position(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 16):
        raise ApiError(422, "bad_cursor", _NO_CURSOR(cursor=repr(cursor[:40])))
    return int(cursor)


def _with_targets(records: Records, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer with what was asked about: the record keeps that with the question only."""
    if not entry.get("answer") or entry.get("targets"):
        return entry
    approval = records.store.approval(str(entry.get("approval") or ""))
    accesses: Any = approval.question.get("accesses") if approval is not None else None
    return {**entry, "targets": [str(access["target"]) for access in accesses or ()]}


def row_data(row: Row, entry: Mapping[str, Any]) -> Answer:
    """What a line of the table shows."""
    return {
        "position": row.position,
        "eventId": str(entry.get("eventId") or ""),
        "at": row.at,
        "decision": row.decision,
        "domain": row.domain,
        "tool": row.tool,
        "what": str(entry.get("what") or ""),
        "targets": [str(target) for target in entry.get("targets") or ()][:20],
        "rulePattern": str(entry.get("rulePattern") or ""),
        "policy": row.policy,
        "decidedBy": str(entry.get("decidedBy") or ""),
        "mode": str(entry.get("mode") or ""),
        "session": row.session,
        "thread": str(entry.get("thread") or ""),
        "agent": row.agent,
        "subagent": str(entry.get("subagent") or "").partition("#")[0],
        "host": row.host,
        "lifted": bool(entry.get("lifted")),
    }


def histogram(rows: Sequence[Row], since: float | None, until: float | None, most: int) -> Answer:
    """Decisions over time in equal steps, empty ones too; a step is a length that people know."""
    if not rows:
        return {"seconds": float(_STEPS[0]), "buckets": []}
    times = [row.at for row in rows]
    low = min(times) if since is None else since
    high = max(times) if until is None else until
    step = next((step for step in _STEPS if (high // step - low // step) < most), None)
    if step is None:
        step = int((high - low) // most + 1)
    first = int(low // step)
    buckets = [
        {"at": float(number * step), "allow": 0, "ask": 0, "deny": 0}
        for number in range(first, int(max(times) // step if until is None else high // step) + 1)
    ]
    for row in rows:
        place = int(row.at // step) - first
        if row.decision in ("allow", "ask", "deny") and 0 <= place < len(buckets):
            buckets[place][row.decision] += 1
    return {"seconds": float(step), "buckets": buckets}


def show_entry(call: Call) -> Answer:
    """Every entry about an event, a call or an approval, with all that was found and why it came out so."""
    records, wanted = call.server.records, call.path["entry"]
    found = _about(records, wanted)
    own = own_rules(records.control.config)
    return {"entries": [_detail(records, row, entry, own) for row, entry in found]}


def _about(records: Records, wanted: str) -> list[tuple[Row, Mapping[str, Any]]]:
    found = records.audit.about(wanted)
    if not found:
        raise not_found("audit entry", wanted)
    return found


def _detail(records: Records, row: Row, entry: Mapping[str, Any], own: Sequence[Any]) -> Answer:
    told = explanation(entry, own)
    event = records.store.event(str(entry.get("eventId") or ""))
    return {
        "row": row_data(row, entry),
        "entry": dict(entry),
        "findings": [finding for finding in entry.get("findings") or () if isinstance(finding, Mapping)],
        "why": {
            "decidedBy": told.who.to_dict(),
            "what": told.what,
            "change": [change.to_dict() for change in told.change],
        },
        "eventNo": event.no if event is not None and event.where.session == row.session else None,
    }


def verify(call: Call) -> Answer:
    """Compare the files with the chain that the store keeps (AU2)."""
    records, session = call.server.records, call.query["session"]
    report = report_data(records.store.verify_audit(session=session))
    problems = [{**problem, "message": problem["said"]} for problem in report["problems"]]
    return {**report, "problems": [{key: one[key] for key in _PROBLEM} for one in problems]}


def offer_export(call: Call) -> Answer:
    """An address that gives the copy once: a link of the browser's carries no header."""
    _wanted(call.body)
    ticket = call.server.tickets.give("audit", dict(call.body))
    return {"url": f"/api/audit/export?ticket={ticket}"}


def export(call: Call) -> Response:
    """The copy itself, written as it is read."""
    records = call.server.records
    asked = call.server.tickets.take("audit", call.text("ticket"))
    form = str(asked.get("format") or "jsonl")
    rows = records.audit.choose(_wanted(asked)).rows
    lines = export_lines(records.audit.entries(rows), form)
    headers = {"content-disposition": f'attachment; filename="holdfast-audit.{form}"'}
    return StreamingResponse(_batched(lines), media_type=_TYPES[form], headers=headers)


def _batched(lines: Iterable[str], size: int = 1 << 16) -> Iterable[bytes]:
    """Many short lines as few large pieces."""
    kept: list[str] = []
    length = 0
    for line in lines:
        kept.append(line)
        length += len(line)
        if length >= size:
            yield "".join(kept).encode()
            kept, length = [], 0
    yield "".join(kept).encode()


def replay(call: Call) -> Answer:
    """One entry, or one session, against the rules of today (AU3)."""
    records = call.server.records
    event, session = call.body.get("event", ""), call.body.get("session", "")
    if bool(event) == bool(session):
        raise bad_request(_ONE_OF(), "event")
    if event:
        entries: Iterable[Mapping[str, Any]] = [entry for _, entry in _about(records, event)]
    else:
        records.session(session)
        entries = records.store.audit(session=session)
    index = records.control.in_force().index
    return simulation_data(simulate(entries, index, fold_case=folds_case(records.control.home.root)))


def simulation_data(result: Simulation) -> Answer:
    """A simulation as the page shows it: equal changes together, and no more than a screen can hold."""
    groups = result.grouped()
    told = result.to_dict()
    return {
        "replayed": result.replayed,
        "changed": told["changed"],
        "totals": told["totals"],
        "groups": [{"count": count, "change": change.to_dict()} for count, change in groups[:MOST_GROUPS]],
        "groupsLeftOut": max(0, len(groups) - MOST_GROUPS),
        "redacted": len(result.redacted),
        "unreadable": len(result.unreadable),
    }


_FILTERS: dict[str, Any] = {
    **dict.fromkeys(FACETS, list[str]),
    "session": str,
    "since": float,
    "until": float,
    "q": str,
    "cursor": str,
    "limit": int,
    "buckets": int,
}

ROUTES = (
    Route("GET", "/api/audit", list_entries, "Decisions on record", query=_FILTERS, returns=shapes.AuditPage),
    Route("GET", "/api/audit/entries/{entry}", show_entry, "All about one of them", returns=shapes.AuditDetails),
    Route(
        "GET", "/api/audit/verify", verify, "Whether the record is whole",
        query={"session": str}, returns=shapes.AuditReport,
    ),
    Route("POST", "/api/audit/export", offer_export, "An address for a copy", body=ExportBody, returns=shapes.Address),
    Route(
        "GET", "/api/audit/export", export, "A copy of the record",
        query={"ticket": str}, returns=None, content="application/jsonl",
    ),
    Route(
        "POST", "/api/audit/replay", replay, "Past decisions under the rules of today",
        body=ReplayBody, returns=shapes.Simulation,
    ),
)  # fmt: skip
