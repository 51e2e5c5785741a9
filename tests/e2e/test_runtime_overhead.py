"""What the plane adds to a tool call, measured beside bare openai-agents in the same run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "bench_runtime_overhead.py"


@pytest.mark.e2e
@pytest.mark.alone
def test_UI3_the_plane_adds_less_than_three_milliseconds_to_a_call():
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--json", "--rounds", "10"],
        capture_output=True,
        text=True,
        timeout=280,
        check=True,
    )
    figures = json.loads(done.stdout)
    assert figures["added_ms"] < figures["limit_ms"], figures
