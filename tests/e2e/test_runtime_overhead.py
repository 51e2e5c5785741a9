"""What the plane adds to a tool call, measured beside bare openai-agents in the same run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "bench_runtime_overhead.py"


def figures():
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--json", "--rounds", "8"],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.e2e
@pytest.mark.full
def test_UI3_the_plane_adds_less_than_three_milliseconds_to_a_call():
    seen = []
    for _ in range(3):  # a busy machine is measured again, a slow plane stays slow
        seen.append(figures())
        if seen[-1]["added_ms"] < seen[-1]["limit_ms"]:
            return
    raise AssertionError(seen)
