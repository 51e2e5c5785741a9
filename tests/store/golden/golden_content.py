"""What every golden database holds, and how to see that it is all there: one of each kind of thing."""

from dataclasses import replace
from pathlib import Path

from holdfast.store.interface import Approval, Change, EventRecord, Remembered, Session, StateRow
from holdfast.store.sqlite import SqliteStore
from store.storm_steps import audit_entry, open_store, place, session_at

FIRST = place("first", thread="线程")
SECOND = place("second", thread="线程")
GONE = place("gone")
EVENTS = (
    EventRecord("e1", FIRST, 10.5, "prompt_submitted", {"text": "你好", "typed": True}, "run-1", "你好"),
    EventRecord(
        "e2",
        FIRST.of_subagent("helper"),
        11.0,
        "tool_calling",
        {"call": {"tool": "read", "input": {"path": "a b"}}, "list": [1, 2.5, None]},
        "run-1",
        "read a b",
        "read",
        ("vault:/a b", "fs:/etc/hosts"),
    ),
)
QUESTION = Approval(
    "q1", SECOND, "call-1", 20.0, "bash", {"input": {"command": "ls"}}, deadline=99.0, host="codex", vault="/v"
)
ANSWERED = replace(
    QUESTION, id="q2", status="answered", answer="always", answered_at=21.0, answered_by="me", rule={"a": 1}
)
SESSION = Session(
    FIRST,
    "claude-code",
    "/vault",
    5.0,
    number=1,
    state="sealed",
    title="一",
    used=10,
    window=200,
    exact=True,
    ended_at=30.0,
    version=2,
    extra={"digest": "d"},
)


def fill(home: Path) -> None:
    store = open_store(home)
    store.open_session(replace(SESSION, state="active", ended_at=None, used=None, extra={}))
    store.commit(
        Change(
            FIRST,
            events=EVENTS,
            state=StateRow(0, {"doom_loop": {"n": 1}}),
            remember=Remembered("call-0", "f", {"decision": "allow"}, "q0"),
            audit=(audit_entry(FIRST, "e1"), audit_entry(FIRST, "e2")),
        )
    )
    store.update_session("first", 1, state="sealed", ended_at=30.0, used=10, extra={"digest": "d"})
    store.open_session(session_at(SECOND))
    store.commit(Change(SECOND, approvals=(QUESTION, ANSWERED)))
    store.save_snapshot(SECOND, "run", b"\x00state", 22.0)
    store.note("output:/v/x", {"at": 1.0})
    store.open_session(session_at(GONE))
    store.commit(Change(GONE, events=(replace(EVENTS[0], id="e3", where=GONE),)))
    store.delete_session("gone", by="me", at=40.0)
    store.close()


def check(store: SqliteStore) -> None:
    assert store.session("first") == SESSION
    assert [session.id for session in store.chain(FIRST.key)] == [FIRST, SECOND]
    assert store.events("first") == [replace(EVENTS[0], no=1, seq=1), replace(EVENTS[1], no=2, seq=2)]
    assert store.state(FIRST) == StateRow(1, {"doom_loop": {"n": 1}})
    assert store.remembered(FIRST, "call-0") == Remembered("call-0", "f", {"decision": "allow"}, "q0")
    assert store.approvals(status="pending") == [QUESTION]
    assert store.approval("q2") == ANSWERED
    assert store.noted("output:/v/x") == {"at": 1.0}
    assert [entry["eventId"] for entry in store.audit()] == ["e1", "e2", "deleted-1"]
    assert [(gone.where, gone.events, gone.by) for gone in store.deletions()] == [(GONE, 1, "me")]
    assert store.take_snapshot(SECOND, "run") == b"\x00state"
    # and it goes on from there
    assert store.commit(Change(SECOND, events=(replace(EVENTS[0], id="e9", where=SECOND),))).events[0].seq == 4
    assert [problem.kind for problem in store.verify_audit().problems] == ["missing", "missing"], "no files came along"
