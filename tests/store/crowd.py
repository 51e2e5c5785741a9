"""Many processes on one store, appending and deciding at once; print what each did and found. `HOME N SECONDS`"""

import json
import sys
import time
from pathlib import Path

from storm_steps import audit_entry, is_whole, open_store, place, reports_of, sealed_event, session_at

from holdfast.store.interface import AlreadyDecided, Approval, Change, Remembered, StateConflict

SHARED = place("shared")


def question(approval_id: str) -> Approval:
    return Approval(approval_id, SHARED, approval_id, 1.0, "bash", {"input": {"command": "ls"}})


def work(home: Path, me: int, seconds: float) -> dict:
    # The first to come creates the database: that race is part of the test.
    store = open_store(home)
    store.open_session(session_at(SHARED))
    own = place(f"own-{me}")
    store.open_session(session_at(own))
    done = {"own": 0, "shared": 0, "asked": 0, "answered": 0, "conflicts": 0, "longest": 0.0, "errors": []}
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        number += 1
        began = time.monotonic()
        try:
            event_id = f"p{me}-{number}"
            store.commit(
                Change(
                    own,
                    events=(sealed_event(own, event_id),),
                    remember=Remembered(event_id, "f", {"decision": "allow"}),
                    audit=(audit_entry(own, event_id),),
                )
            )
            done["own"] += 1
            decide_together(store, f"{event_id}-shared", done)
            if number % 10 == 0:
                store.commit(Change(SHARED, approvals=(question(f"a{me}-{number}"),)))
                done["asked"] += 1
                answer_anything(store, me, done)
        except Exception as error:
            done["errors"].append(f"{type(error).__name__}: {error}")
        done["longest"] = max(done["longest"], time.monotonic() - began)
    store.close()
    return done


def decide_together(store, event_id: str, done: dict) -> None:
    """A counter in the shared session's state: every increment must count."""
    while True:
        row = store.state(SHARED)
        try:
            store.commit(
                Change(
                    SHARED,
                    events=(sealed_event(SHARED, event_id),),
                    state=type(row)(row.version, {"count": row.data.get("count", 0) + 1}),
                    audit=(audit_entry(SHARED, event_id),),
                )
            )
        except StateConflict:
            done["conflicts"] += 1
        else:
            done["shared"] += 1
            return


def answer_anything(store, me: int, done: dict) -> None:
    for approval in store.approvals(status="pending", session="shared", limit=5):
        try:
            store.settle_approval(approval.id, status="answered", at=2.0, answer="once", by=str(me))
        except AlreadyDecided:
            continue
        done["answered"] += 1


def crowd(home: Path, processes: int, seconds: float) -> dict:
    reports = reports_of(processes, lambda me: work(home, me, seconds))
    store = open_store(home)
    mine = [store.events(f"own-{me}", limit=10**9) for me in range(processes)]
    shared = store.events("shared", limit=10**9)
    answered = store.approvals(status="answered", limit=10**9)
    result = {
        "reports": reports,
        "own": [len(records) for records in mine],
        "shared": len(shared),
        "whole": all(is_whole(record) for records in [*mine, shared] for record in records),
        "count": store.state(SHARED).data.get("count", 0),
        "answered": len(answered),
        "pending": len(store.approvals(status="pending", limit=10**9)),
        "audit": [str(problem) for problem in store.verify_audit().problems],
        "audit_entries": sum(1 for _ in store.audit()),
        "usage": dict(store.usage()),
    }
    store.close()
    return result


if __name__ == "__main__":
    print(json.dumps(crowd(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
