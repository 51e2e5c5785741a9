"""Reading shell commands: what it costs, beside tree-sitter's bare parse and bashlex on the same commands.

    python benchmarks/bench_shell_reading.py [--rounds N] [--json]

The commands are the labelled set of tests/shell. Each is read by all three in turn, so that a busy machine troubles
them alike; the best of a few rounds counts for each command. bashlex and the bare parse only build a tree: they know
nothing of wrappers, targets or risk. Then every hostile input of tests/shell is read, and the worst is shown: CPU time,
because a busy machine is not the reader's fault. Last, what the first reading of a fresh process costs.
Exits with 1 when a target is missed: median below 0.4 ms, p99 below 4 ms, a lower median than bashlex, and 50 ms of
CPU for the worst input.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import bashlex
import tree_sitter
import tree_sitter_bash

from holdfast.shell import read_command

TESTS = Path(__file__).parents[1] / "tests" / "shell"
COMMANDS = [json.loads(line)["command"] for line in (TESTS / "everyday.jsonl").read_text("utf-8").splitlines()]
MEDIAN_MS, P99_MS, WORST_MS = 0.4, 4.0, 50.0
FIRST_READ = (
    "from time import process_time as t; a = t(); from holdfast.shell import read_command;"
    " read_command('git status && ls -la | head', cwd='/w'); print(t() - a)"
)


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


def hostile_inputs() -> list[str]:
    path = TESTS / "test_limits.py"
    spec = importlib.util.spec_from_file_location("hostile_inputs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.NASTY)


def measure_hostile(rounds: int) -> dict[str, float | str]:
    worst, worst_text = 0.0, ""
    for text in hostile_inputs():
        best = float("inf")
        for _ in range(rounds):
            started = process_time()
            read_command(text, cwd="/w", home="/h")
            best = min(best, process_time() - started)
        if best > worst:
            worst, worst_text = best, text[:24]
    return {"worst_ms": worst * 1e3, "input": worst_text}


def measure_first_read(rounds: int) -> float:
    """Milliseconds of CPU in a process of its own, imports included; the interpreter's own start is not."""
    return min(
        float(subprocess.run([sys.executable, "-c", FIRST_READ], check=True, capture_output=True, timeout=60).stdout)
        * 1e3
        for _ in range(rounds)
    )


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    result = measure(given.rounds)
    hostile = measure_hostile(given.rounds)
    first = measure_first_read(given.rounds)
    if given.json:
        print(json.dumps({**result, "hostile": hostile, "first_read_ms": first}, indent=2))
    else:
        print(f"{len(COMMANDS)} commands, best of {given.rounds} rounds, microseconds a command")
        for name, figures in result.items():
            median_us, p99_us, failed = figures["median_us"], figures["p99_us"], figures["failed"]
            print(f"  {name:26} median {median_us:7.1f}  p99 {p99_us:8.1f}  failed {failed:.0f}")
        print(f"  worst hostile input: {hostile['worst_ms']:.1f} ms of CPU ({hostile['input']!r}...)")
        print(f"  first reading of a fresh process: {first:.1f} ms of CPU with imports")
    ours, rival = result["holdfast"], result["bashlex, parse"]
    missed = (
        ours["median_us"] >= MEDIAN_MS * 1000
        or ours["p99_us"] >= P99_MS * 1000
        or ours["median_us"] >= rival["median_us"]
        or float(hostile["worst_ms"]) >= WORST_MS
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
