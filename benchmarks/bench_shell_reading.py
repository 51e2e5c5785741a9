"""Reading shell commands: what it costs, beside tree-sitter's bare parse and bashlex on the same commands.

    python benchmarks/bench_shell_reading.py [--rounds N] [--json]

The commands are the labelled set of tests/shell. Each is read by all three in turn, so that a busy machine troubles
them alike; the best of a few rounds counts for each command. bashlex and the bare parse only build a tree: they know
nothing of wrappers, targets or risk. Exits with 1 when a target is missed: median below 0.4 ms, p99 below 4 ms, and
a lower median than bashlex.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import bashlex
import tree_sitter
import tree_sitter_bash

from holdfast.shell import read_command

COMMANDS = [
    json.loads(line)["command"]
    for line in (Path(__file__).parents[1] / "tests" / "shell" / "everyday.jsonl").read_text("utf-8").splitlines()
]
MEDIAN_MS, P99_MS = 0.4, 4.0


def timed(call: Callable[[str], object], command: str) -> tuple[float, bool]:
    started = perf_counter()
    try:
        call(command)
    except Exception:  # bashlex refuses many commands that bash accepts
        return perf_counter() - started, False
    return perf_counter() - started, True


def measure(rounds: int) -> dict[str, dict[str, float]]:
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    calls: dict[str, Callable[[str], object]] = {
        "holdfast": lambda text: read_command(text, cwd="/w", home="/h"),
        "tree-sitter, bare parse": lambda text: parser.parse(text.encode()),
        "bashlex, parse": bashlex.parse,
    }
    best: dict[str, dict[str, float]] = {name: {} for name in calls}
    failed: dict[str, int] = dict.fromkeys(calls, 0)
    for number in range(rounds):
        for command in COMMANDS:
            for name, call in calls.items():
                took, worked = timed(call, command)
                best[name][command] = min(took, best[name].get(command, took))
                failed[name] += 0 if worked or number else 1
    result = {}
    for name, times in best.items():
        ordered = sorted(times.values())
        result[name] = {
            "median_us": median(ordered) * 1e6,
            "p99_us": ordered[int(len(ordered) * 0.99)] * 1e6,
            "failed": failed[name],
        }
    return result


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    result = measure(given.rounds)
    if given.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"{len(COMMANDS)} commands, best of {given.rounds} rounds, microseconds a command")
        for name, figures in result.items():
            median_us, p99_us, failed = figures["median_us"], figures["p99_us"], figures["failed"]
            print(f"  {name:26} median {median_us:7.1f}  p99 {p99_us:8.1f}  failed {failed:.0f}")
    ours, rival = result["holdfast"], result["bashlex, parse"]
    missed = (
        ours["median_us"] >= MEDIAN_MS * 1000
        or ours["p99_us"] >= P99_MS * 1000
        or ours["median_us"] >= rival["median_us"]
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
