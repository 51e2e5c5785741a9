"""How long `holdfast rules simulate` takes over a hundred thousand recorded decisions.

    python benchmarks/bench_simulator.py [--records 100000] [--json]

The records are made by the plane, as every door makes them, and lie in a store of their own; the command itself is run,
so reading the audit, judging and the table are all in the figure. Nothing else is known that replays decisions against
edited rules, so there is no rival.

Exits with 1 when 100,000 records take 30 seconds or more, or no progress was shown. A busy machine shows in the clock
and not in the processor's time; the quieter of the two counts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.audit_entries import audit_entries
from holdfast.control import Control
from holdfast.core.events import ToolCall
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.home import Home
from holdfast.store.interface import Change, Session
from holdfast.testing.builders import EventBuilder

MOST_SECONDS = 30.0
AT_ONCE = 5_000
CALLS = (
    ("read", {"path": "src/part{n}/a.py"}),
    ("bash", {"command": "git status && npm test -- part{n}"}),
    ("write", {"path": "/etc/part{n}.conf", "content": "x"}),
    ("bash", {"command": "cat part{n}.md | grep x > out{n}.txt"}),
    ("web_fetch", {"url": "https://docs.example.org/{n}"}),
)
EDITED = [{"domain": "read", "pattern": "*.py", "decision": "deny"}] + [
    {"domain": "read", "pattern": f"vault:**/x{number}/*", "decision": "ask"} for number in range(1000)
]


def record(home: Home, vault: str, count: int) -> None:
    """So many decisions on record: some are judged whole, the rest differ from these in their targets."""
    control = Control.open(home)
    where = SessionId(SessionKey("local", "bench", "t1"), "s1")
    control.store.open_session(Session(where, "holdfast", vault, time.time()))
    build = EventBuilder(where)
    made: list[Any] = []
    for number in range(count):
        tool, given = CALLS[number % len(CALLS)]
        kind = number % (len(CALLS) * 20)
        if kind >= len(made):
            call = ToolCall(f"c{number}", tool, {k: v.format(n=number) for k, v in given.items()}, vault)
            event = build.calling(control.examine(call, vault))
            made.append((event, control.plane.handle(event)))
    for start in range(0, count, AT_ONCE):
        entries = []
        for number in range(start, min(count, start + AT_ONCE)):
            event, outcome = made[number % len(made)]
            (entry,) = audit_entries(replace(event, id=f"e{number}", at=time.time()), outcome)
            entries.append(entry)
        control.store.commit(Change(where, audit=tuple(entries)))
    control.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        home, vault = Path(folder, "home"), Path(folder, "vault")
        vault.mkdir()
        record(Home(home), str(vault), options.records)
        rules = Path(folder, "new.jsonc")
        rules.write_text(json.dumps({"agents": {"runtime": {"permission": {"rules": EDITED}}}}))
        command = [sys.executable, "-m", "holdfast", "--home", str(home), "rules", "simulate", "--rules", str(rules)]
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ), timeout=600)
        took = time.perf_counter() - started
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = used.ru_utime + used.ru_stime
    progress = len(done.stderr.splitlines())
    summary = next(line for line in done.stdout.splitlines() if "decisions replayed" in line)
    met = min(took, processor) * 100_000 / options.records < MOST_SECONDS and (progress > 0 or options.records < 20_000)
    if options.json:
        print(
            json.dumps(
                {
                    "records": options.records,
                    "seconds": round(took, 2),
                    "processor": round(processor, 2),
                    "progress": progress,
                    "met": met,
                }
            )
        )
    else:
        spent = f"{took:.1f} s ({processor:.1f} s of processor time)"
        print(f"{options.records:,} records in {spent}, {progress} lines of progress: {summary}")
        print("targets met" if met else f"targets missed: below {MOST_SECONDS:.0f} s, and progress shown")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
