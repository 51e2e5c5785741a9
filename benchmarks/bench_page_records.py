"""How long the page waits for records: a transcript of many events at any place, and an audit of many decisions.

    python benchmarks/bench_page_records.py [--events 10000] [--decisions 20000]    (1000000 for a long life)

Everything goes through the handlers that the server calls, with the answer turned into JSON; the network is not
measured. Each figure is p50 and p95 of 20 rounds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from starlette.requests import Request

from holdfast.control import Control
from holdfast.core.keys import SessionId, SessionKey
from holdfast.doors.web import audit, chains, search, stats, transcripts
from holdfast.doors.web.replies import json_response
from holdfast.doors.web.routes import Call, Route
from holdfast.doors.web.security import Address
from holdfast.doors.web.server import Server
from holdfast.store.home import Home
from holdfast.store.interface import Change, EventRecord, Session

ROUNDS = 20
KINDS = ("prompt_submitted", "assistant_replied", "tool_calling", "tool_called", "context_measured")


def fill(store, events: int, decisions: int) -> SessionId:
    where = SessionId(SessionKey("local", "claude-code", "bench"), "bench")
    now = time.time() - decisions
    store.open_session(Session(where, "claude-code", "/vault", now))
    for start in range(0, events, 500):
        store.commit(Change(where, events=tuple(event(where, n, now) for n in range(start, min(start + 500, events)))))
    for start in range(0, decisions, 500):
        entries = tuple(entry(where, n, now) for n in range(start, min(start + 500, decisions)))
        store.commit(Change(where, audit=entries))
    return where


def event(where: SessionId, number: int, start: float) -> EventRecord:
    kind = KINDS[number % len(KINDS)]
    text = f"event {number}: " + "words of an ordinary reply " * 8
    call = {"id": f"c{number}", "tool": "bash", "input": {"command": f"make part{number}"}}
    data = {
        "text": text,
        "call": call,
        "result": {"output": text * 4, "exit_code": 0},
        "used": 1000 + 17 * number % 150_000,
        "window": 200_000,
    }
    tool = "bash" if kind.startswith("tool") else ""
    return EventRecord(f"e{number}", where, start + number, kind, data, f"run-{number // 50}", text, tool)


def entry(where: SessionId, number: int, start: float) -> dict:
    return {
        "eventId": f"e{number}",
        "callId": f"c{number}",
        "sessionId": where.session,
        "user": where.user,
        "agent": where.agent,
        "thread": where.thread,
        "mode": "agent",
        "decision": ("allow", "allow", "ask", "deny")[number % 4],
        "permissionDomain": ("bash", "read", "edit")[number % 3],
        "targets": [f"shell:make part{number}"],
        "rulePattern": "make *",
        "timestamp": start + number,
        "decidedBy": "policy",
        "tool": ("bash", "read", "write")[number % 3],
        "policy": "permission",
        "findings": [{"policy": "permission", "decision": "allow", "why": {"code": "x", "en": "a rule allows it"}}] * 3,
    }


def measure(what: str, server: Server, routes: tuple[Route, ...], handler, path=None, **query) -> None:
    route = next(route for route in routes if route.handler is handler)
    declared = {name: [] if "list" in str(kind) else None for name, kind in route.query.items()}
    call = Call(server, Request({"type": "http", "headers": []}), path or {}, {**declared, **query}, {})
    times = []
    size = 0
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        size = len(json_response(handler(call)).body)
        times.append(1000 * (time.perf_counter() - begin))
    times.sort()
    print(f"{what:44} p50 {statistics.median(times):8.1f} ms  p95 {times[-2]:8.1f} ms  {size / 1000:8.1f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--decisions", type=int, default=20_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Control.open(Home(Path(folder) / "home")), address=Address(port=8787), vault=Path(folder))
        where = fill(server.control.store, asked.events, asked.decisions)
        path = {"session": where.session}
        print(f"{asked.events} events, {asked.decisions} decisions")
        for view in ("chat", "raw", "handoff"):
            for name, event_no in (("first", 1), ("middle", asked.events // 2), ("last", asked.events)):
                given = {"view": view, "event": event_no, "limit": 100}
                what = f"transcript, {view}, 100 around the {name}"
                measure(what, server, transcripts.ROUTES, transcripts.show_events, path, **given)
        measure("timeline of the thread", server, chains.ROUTES, chains.show_chain, {"thread": "bench"})
        measure("figures of the session", server, stats.ROUTES, stats.session_figures, path)
        middle = asked.decisions // 2
        measure("audit, one entry, by its event", server, audit.ROUTES, audit.show_entry, {"entry": "e102"})
        measure("audit, one entry, by its call", server, audit.ROUTES, audit.show_entry, {"entry": f"c{middle}"})
        begin = time.perf_counter()
        server.records.audit.rows()
        print(f"{'audit, first look after a start':44} {1000 * (time.perf_counter() - begin):12.1f} ms")
        measure("audit, everything", server, audit.ROUTES, audit.list_entries)
        measure("audit, two facets", server, audit.ROUTES, audit.list_entries, decision=["deny"], tool=["bash"])
        measure("audit, free text", server, audit.ROUTES, audit.list_entries, q="part1999")
        measure("decisions by day", server, stats.ROUTES, stats.decisions_by_day, days=30)
        measure("search", server, search.ROUTES, search.find, q="ordinary reply part42")
        server.close()


if __name__ == "__main__":
    main()
