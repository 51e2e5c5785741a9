"""Appending events of about 420 bytes, durable when acknowledged: the store beside bare SQLite and a synced file.

`bench_store_append.py [--seconds S] [--json]`. All rivals sync to disk before they count an event.
"""

import argparse
import json
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from pathlib import Path

from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import Change, EventRecord, Remembered, Session, StateRow
from holdfast.store.sqlite import SqliteStore

BATCH = 100
WHERE = SessionId(SessionKey("local", "agent", "thread"), "session")
TEXT = "cat src/holdfast/store/sqlite.py | head -40 " * 3
DATA = {"call": {"tool": "bash", "input": {"command": TEXT}}, "decision": "allow", "format": 1}


def record(number: int) -> EventRecord:
    return EventRecord(f"event-{number:012d}", WHERE, 1.7e9 + number, "tool_calling", DATA, "run-1", TEXT, "bash")


def audit(number: int) -> dict:
    return {
        "eventId": f"event-{number:012d}",
        "sessionId": "session",
        "mode": "agent",
        "decision": "allow",
        "permissionDomain": "bash",
        "targets": [f"shell:{TEXT}"],
        "rulePattern": "**",
        "timestamp": 1.7e9,
        "decidedBy": "policy",
    }


def rate(step, seconds: float, per_step: int = 1) -> float:
    """Events a second over about `seconds`, after a short warm-up."""
    number = 0
    for _ in range(5):
        step(number)
        number += per_step
    done = 0
    began = time.perf_counter()
    while (took := time.perf_counter() - began) < seconds:
        step(number)
        number += per_step
        done += per_step
    return done / took


class StoreRuns:
    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(folder / "holdfast.db", audit_dir=folder / "audit")
        self.store.open_session(Session(WHERE, "bench", "/v", 0.0))
        self.offset = 0
        self.version = 0

    def single(self, number: int) -> None:
        self.store.commit(Change(WHERE, events=(record(self.offset + number),)))

    def batch(self, number: int) -> None:
        self.store.commit(Change(WHERE, events=tuple(record(self.offset + number + n) for n in range(BATCH))))

    def whole_step(self, number: int) -> None:
        """What the plane commits for one tool call: event, state, remembered decision, audit."""
        made = self.store.commit(
            Change(
                WHERE,
                events=(record(self.offset + number),),
                state=StateRow(self.version, {"doom_loop": {"n": number}}),
                remember=Remembered(f"call-{number}", "f", {"decision": "allow"}),
                audit=(audit(number),),
            )
        )
        self.version = made.state_version or 0

    def threads(self, seconds: float, count: int = 8) -> float:
        done = [0] * count
        end = time.perf_counter() + seconds

        def write(me: int) -> None:
            number = self.offset + me * 10_000_000
            while time.perf_counter() < end:
                self.store.commit(Change(WHERE, events=(record(number),)))
                number += 1
                done[me] += 1

        began = time.perf_counter()
        workers = [threading.Thread(target=write, args=(me,)) for me in range(count)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return sum(done) / (time.perf_counter() - began)


def bare_sqlite(folder: Path, seconds: float) -> tuple[float, float]:
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE e (seq INTEGER PRIMARY KEY, id TEXT, data TEXT)")
    body = json.dumps(DATA) + TEXT

    def insert(number: int, count: int = 1) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for n in range(count):
            connection.execute("INSERT INTO e (id, data) VALUES (?, ?)", (f"event-{number + n}", body))
        connection.execute("COMMIT")

    single = rate(insert, seconds)
    batched = rate(lambda number: insert(number, BATCH), seconds, BATCH)
    connection.close()
    return single, batched


def synced_file(folder: Path, seconds: float) -> tuple[float, float]:
    descriptor = os.open(folder / "events.jsonl", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    line = (json.dumps({"id": "event-000000000000", **DATA, "text": TEXT}) + "\n").encode()

    def append(count: int) -> None:
        os.write(descriptor, line * count)
        os.fdatasync(descriptor)

    single = rate(lambda _: append(1), seconds)
    batched = rate(lambda _: append(BATCH), seconds, BATCH)
    os.close(descriptor)
    return single, batched


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        found = {}
        found["file_single"], found["file_batched"] = synced_file(folder, chosen.seconds)
        found["sqlite_single"], found["sqlite_batched"] = bare_sqlite(folder, chosen.seconds)
        runs = StoreRuns(folder)
        found["store_single"] = rate(runs.single, chosen.seconds)
        runs.offset += 100_000_000
        found["store_batched"] = rate(runs.batch, chosen.seconds, BATCH)
        runs.offset += 100_000_000
        found["store_8_threads"] = runs.threads(chosen.seconds)
        runs.offset += 100_000_000
        found["store_whole_step"] = rate(runs.whole_step, chosen.seconds)
        runs.store.close()
    finally:
        shutil.rmtree(folder)
    if chosen.json:
        print(json.dumps(found))
        return
    print("events/s, synced before they count     single   batched (100)")
    print(f"  JSON Lines + fdatasync             {found['file_single']:8,.0f}   {found['file_batched']:8,.0f}")
    print(f"  bare SQLite, WAL, FULL             {found['sqlite_single']:8,.0f}   {found['sqlite_batched']:8,.0f}")
    print(f"  the store                          {found['store_single']:8,.0f}   {found['store_batched']:8,.0f}")
    print(f"  the store, 8 threads, one each     {found['store_8_threads']:8,.0f}")
    print(f"  the store, whole steps with audit  {found['store_whole_step']:8,.0f}")


if __name__ == "__main__":
    main()
