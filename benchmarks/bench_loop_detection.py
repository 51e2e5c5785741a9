"""How many stuck runs the loop watch notices, and how often it cries wolf.

    python benchmarks/bench_loop_detection.py [RUNS.jsonl] [--list]

Each line of the file is a run: `{"run": 7, "stuck": false, "steps": [["a", kind, hash], ["o", kind, hash], ...]}`. `a`
is what the agent did, `o` what came back. The run is fed to the policy as the events it would have seen live. A run
counts as noticed when the policy asked, stopped it, or warned of a loop even once: that is strict on false alarms too.
The label is another program's opinion ("its own detector stopped it"), so some false alarms are loops by any reading.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.core.events import AssistantReplied, Event, ToolCall, ToolCalled, ToolCalling, ToolResult
from holdfast.policies.doom_loop import DoomLoop
from holdfast.testing.builders import EventBuilder

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "data" / "loops" / "runs.jsonl"
DOMAINS = {"read": "read", "edit": "edit", "run": "bash", "browse": "web_fetch", "think": "none"}
NO_CALL = {"finish", "recall"}


@dataclass(frozen=True)
class Score:
    name: str
    stuck: int
    runs: int
    caught: tuple[int, ...]
    false_alarms: tuple[int, ...]
    seconds: float = 0.0

    @property
    def caught_share(self) -> float:
        return len(self.caught) / self.stuck if self.stuck else 1.0

    @property
    def false_share(self) -> float:
        return len(self.false_alarms) / self.runs if self.runs else 0.0


def load(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def events_of(run: dict) -> Iterator[Event]:
    """The run as the events of one unattended session."""
    build = EventBuilder()
    calm = {"interactive": False}
    waiting: ToolCall | None = None
    for actor, kind, digest in run["steps"]:
        if kind in NO_CALL:
            continue
        if actor == "a" and kind == "message":
            yield AssistantReplied(id="r", at=0.0, where=build.where, invocation=build.invocation, text=digest, **calm)
        elif actor == "a":
            base = build.call(kind, arguments=digest)
            waiting = ToolCall(id=base.id, tool=kind, input=base.input, domain=DOMAINS.get(kind, "unknown"))
            yield build.calling(waiting, over=calm)
        elif waiting is not None:
            failed = kind == "error"
            result = ToolResult(output="" if failed else digest, failed=failed, error=digest if failed else "")
            yield ToolCalled(
                id="o", at=0.0, where=build.where, invocation=build.invocation, call=waiting, result=result, **calm
            )
            waiting = None


def noticed(run: dict) -> bool:
    policy, state = DoomLoop(), {}
    for event in events_of(run):
        verdict, state = policy.decide(event, state)
        if verdict.warnings or any(finding.decision != "allow" for finding in verdict.findings):
            return True
    return False


def same_call_in_a_row(run: dict, times: int = 5, *, with_result: bool = False) -> bool:
    """What others do: the same call, optionally with the same result, so many times in a row."""
    last, count = None, 0
    calls = [event for event in events_of(run) if isinstance(event, ToolCalled if with_result else ToolCalling)]
    for event in calls:
        key = (event.call.tool, str(event.call.input), event.result if with_result else None)
        last, count = key, count + 1 if key == last else 1
        if count >= times:
            return True
    return False


DETECTORS: dict[str, Callable[[dict], bool]] = {
    "same call, 5 in a row (the ADR's rule alone)": same_call_in_a_row,
    "same call and result, 4 in a row": lambda run: same_call_in_a_row(run, 4, with_result=True),
    "holdfast": noticed,
}


def score(runs: list[dict], name: str = "holdfast") -> Score:
    started = time.perf_counter()
    found = [run for run in runs if DETECTORS[name](run)]
    return Score(
        name,
        stuck=sum(run["stuck"] for run in runs),
        runs=len(runs),
        caught=tuple(run["run"] for run in found if run["stuck"]),
        false_alarms=tuple(run["run"] for run in found if not run["stuck"]),
        seconds=time.perf_counter() - started,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--list", action="store_true", help="print the numbers of the runs too")
    options = parser.parse_args()
    runs = load(options.runs)
    print(f"{len(runs)} runs, {sum(run['stuck'] for run in runs)} stuck")
    for name in DETECTORS:
        result = score(runs, name)
        print(
            f"{name:46} caught {len(result.caught)}/{result.stuck} ({result.caught_share:.1%})   "
            f"false alarms {len(result.false_alarms)} ({result.false_share:.2%})   {result.seconds:.2f} s"
        )
        if options.list:
            print(f"    caught {list(result.caught)}   false {list(result.false_alarms)}")


if __name__ == "__main__":
    main()
