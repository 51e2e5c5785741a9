"""Figures for the plots: a session's tokens and compactions over time, and decisions by day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

from holdfast.chain.session_health import health_of
from holdfast.core.context_health import Health
from holdfast.core.strategy import Who, effective
from holdfast.doors.web import chain_shapes as shapes
from holdfast.doors.web.chains import compaction_data, marks_data
from holdfast.doors.web.records import Answer
from holdfast.doors.web.routes import Call, Route
from holdfast.store.interface import EventRecord, Store

MOST_POINTS = 600
MOST_DAYS = 366
_PAGE = 2000
_MOST_MEASURES = 100_000
_MOST_COMPACTIONS = 500


def session_figures(call: Call) -> Answer:
    """How full a session was at each request."""
    records = call.server.records
    row = records.session(call.path["session"])
    measures = _measures(records.store, row.id.session)
    points = [_point(record) for record in measures]
    kept = thinned(points, MOST_POINTS)
    compacted = records.store.events(row.id.session, kinds=("compacted",), limit=_MOST_COMPACTIONS)
    health = health_of(records.store, row)
    window, reserve = (health.window, health.reserve) if health else (None, None)
    marks = effective(records.control.settings, Who(row.host, row.id.agent, row.model), window, reserve)
    return {
        "session": row.id.session,
        "points": kept,
        "thinned": len(kept) < len(points),
        "compactions": [{**compaction_data(record), "method": _method(record)} for record in compacted],
        "marks": marks_data(marks),
        "tokens": {"input": sum(p["used"] for p in points), "output": sum(p["output"] for p in points)},
    }


def _measures(store: Store, session: str) -> list[EventRecord]:
    """The main agent's; a sub-agent's context is its own."""
    found: list[EventRecord] = []
    after = 0
    while len(found) < _MOST_MEASURES:
        page = store.events(session, after=after, limit=_PAGE, kinds=("context_measured",))
        found += (record for record in page if not record.where.subagent)
        if len(page) < _PAGE:
            break
        after = page[-1].no
    return found


def _point(record: EventRecord) -> Answer:
    data = record.data
    used, window = int(data.get("used") or 0), data.get("window")
    health = Health(used, window, data.get("reserve"), bool(data.get("exact")), record.at)
    ratio = health.ratio
    return {
        "eventNo": record.no,
        "at": record.at,
        "used": used,
        "window": window,
        "ratio": None if ratio is None else round(ratio, 4),
        "exact": health.exact and window is not None,
        "output": int(data.get("output") or 0),
    }


def thinned(points: Sequence[Answer], most: int) -> list[Answer]:
    """At most so many: the first and the last, and of each stretch between them the highest and the lowest."""
    if len(points) <= most:
        return list(points)
    inner = points[1:-1]
    stretches = (most - 2) // 2
    kept = [points[0]]
    for number in range(stretches):
        stretch = inner[number * len(inner) // stretches : (number + 1) * len(inner) // stretches]
        ends = {point["eventNo"]: point for point in (_lowest(stretch), _highest(stretch))}
        kept += (ends[no] for no in sorted(ends))
    return [*kept, points[-1]]


def _lowest(points: Sequence[Answer]) -> Answer:
    return min(points, key=lambda point: (point["used"], point["eventNo"]))


def _highest(points: Sequence[Answer]) -> Answer:
    return max(points, key=lambda point: (point["used"], -point["eventNo"]))


def _method(record: EventRecord) -> str:
    kept = record.data.get("record") or {}
    return str(kept.get("method", "")) if isinstance(kept, dict) else ""


def decisions_by_day(call: Call) -> Answer:
    """Decisions of the last days, in the page's own time zone; a day without any is there too."""
    records = call.server.records
    days = call.number("days", 30, MOST_DAYS, 1)
    zone = timezone(timedelta(minutes=call.number("offset", 0, 14 * 60, -14 * 60)))
    today = datetime.fromtimestamp(records.control.clock(), UTC).astimezone(zone).date()
    table: dict[str, Answer] = {}
    for back in range(days - 1, -1, -1):
        day = today - timedelta(days=back)
        begin = datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()
        table[day.isoformat()] = {"day": day.isoformat(), "at": begin, "allow": 0, "ask": 0, "deny": 0}
    since = next(iter(table.values()))["at"]
    total = 0
    for row in records.audit.rows()[0]:
        if row.at < since or row.decision not in ("allow", "ask", "deny"):
            continue
        counted = table.get(datetime.fromtimestamp(row.at, UTC).astimezone(zone).date().isoformat())
        if counted is not None:
            counted[row.decision] += 1
            total += 1
    return {"days": list(table.values()), "total": total}


ROUTES = (
    Route(
        "GET", "/api/stats/sessions/{session}", session_figures, "A session's tokens and compactions",
        returns=shapes.SessionFigures,
    ),
    Route(
        "GET", "/api/stats/decisions", decisions_by_day, "Decisions by day",
        query={"days": int, "offset": int}, returns=shapes.DecisionsByDay,
    ),
)  # fmt: skip
