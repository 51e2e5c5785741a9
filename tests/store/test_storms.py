"""Processes that die and processes that crowd: what was acknowledged is there, whole, and the audit chain holds."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def run(program: str, *arguments: object, deadline: float) -> dict:
    command = [sys.executable, str(HERE / program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=deadline, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_SC4_writer_killed_200_times_loses_nothing_it_acknowledged(tmp_path):
    seed = random.randrange(1 << 30)
    found = run("kill_storm.py", tmp_path, 200, seed, deadline=280)
    assert found["promised"] > 200, "the writers were killed before they wrote anything worth the test"
    assert {name: found[name] for name in ("lost", "torn", "crashed", "audit", "numbers")} == {
        "lost": [],
        "torn": [],
        "crashed": 0,
        "audit": [],
        "numbers": True,
    }, f"seed {seed}"
    # A step is durable as a whole: as many audit entries as events, the unacknowledged last ones included.
    assert found["audit_entries"] == found["events"]


@pytest.mark.parametrize("seconds", [pytest.param(8, id="short"), pytest.param(60, id="long", marks=pytest.mark.full)])
def test_SC4_eight_processes_at_once_lose_nothing_and_never_see_a_lock(tmp_path, seconds):
    found = run("crowd.py", tmp_path, 8, seconds, deadline=seconds + 200)
    reports = found["reports"]
    assert [report["errors"] for report in reports] == [[]] * 8
    assert found["own"] == [report["own"] for report in reports]
    assert found["shared"] == found["count"] == sum(report["shared"] for report in reports)
    assert found["whole"]
    assert found["answered"] == sum(report["answered"] for report in reports)
    assert found["answered"] + found["pending"] == sum(report["asked"] for report in reports)
    assert found["audit"] == []
    assert found["audit_entries"] == sum(found["own"]) + found["shared"]
    assert min(found["own"]) >= 0.05 * max(found["own"]), "one process starved"
