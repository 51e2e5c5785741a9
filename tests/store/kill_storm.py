"""Kill a writer at random moments, again and again; print what was promised and what is there. `HOME ROUNDS SEED`"""

import contextlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from storm_steps import audit_entry, is_whole, open_store, place, sealed_event, session_at

from holdfast.store.interface import Change, Remembered

SESSIONS = 5


def write_until_killed(home: Path, round_number: int, acknowledge: int) -> None:
    store = open_store(home)
    where = place(f"s{round_number % SESSIONS}")
    store.open_session(session_at(where))
    os.write(acknowledge, b"ready\n")
    number = 0
    while True:
        ids = [f"r{round_number}-{number}-{part}" for part in range(1 + number % 3)]
        row = store.state(where)
        store.commit(
            Change(
                where,
                events=tuple(sealed_event(where, event_id, size=200 + 3000 * (number % 7 == 0)) for event_id in ids),
                state=type(row)(row.version, {"last": ids[-1]}),
                remember=Remembered(ids[0], "f", {"decision": "allow"}),
                audit=tuple(audit_entry(where, event_id) for event_id in ids),
            )
        )
        os.write(acknowledge, "".join(f"{event_id}\n" for event_id in ids).encode())
        number += 1


def read_until_killed(home: Path, report: int) -> None:
    """A reader beside the storm: every record that it is given must be whole."""
    store = open_store(home)
    seq = 0
    while True:
        for record in store.events_since(seq, limit=200):
            if not is_whole(record) or record.seq != seq + 1:
                os.write(report, f"torn or out of order: {record}\n".encode())
            seq = record.seq
        time.sleep(0.002)


def fork(work, *arguments) -> int:
    child = os.fork()
    if child == 0:
        try:
            work(*arguments)
        finally:
            os._exit(1)
    return child


def storm(home: Path, rounds: int, chance: random.Random) -> dict:
    promised: list[str] = []
    broken = []
    crashed = 0
    report_in, report_out = os.pipe()
    open_store(home).close()
    reader = fork(read_until_killed, home, report_out)
    for round_number in range(rounds):
        acknowledged, acknowledge = os.pipe()
        child = fork(write_until_killed, home, round_number, acknowledge)
        os.close(acknowledge)
        heard = b""
        if chance.random() < 0.9:  # else: killed somewhere while it opens the store
            heard = os.read(acknowledged, 65536)
        time.sleep(chance.random() * 0.03)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        crashed += not os.WIFSIGNALED(status)
        while chunk := os.read(acknowledged, 65536):
            heard += chunk
        os.close(acknowledged)
        promised += [line for line in heard.decode().splitlines() if line != "ready"]
        if round_number % 10 == 9:
            store = open_store(home)
            broken += [str(problem) for problem in store.verify_audit().problems]
            store.close()
    os.kill(reader, signal.SIGKILL)
    os.waitpid(reader, 0)
    os.close(report_out)
    torn = b""
    while chunk := os.read(report_in, 65536):
        torn += chunk
    store = open_store(home)
    there = {record.id: record for s in range(SESSIONS) for record in store.events(f"s{s}", limit=10**9)}
    result = {
        "promised": len(promised),
        "lost": [event_id for event_id in promised if event_id not in there],
        "torn": torn.decode().splitlines() + [r.id for r in there.values() if not is_whole(r)],
        "crashed": crashed,
        "audit": broken + [str(problem) for problem in store.verify_audit().problems],
        "audit_entries": sum(1 for _ in store.audit()),
        "events": len(there),
        "numbers": all(
            [r.no for r in store.events(f"s{s}", limit=10**9)]
            == list(range(1, 1 + len(store.events(f"s{s}", limit=10**9))))
            for s in range(SESSIONS)
        ),
    }
    store.close()
    return result


if __name__ == "__main__":
    print(json.dumps(storm(Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3])))))
