"""SC6: writers of the index that die, and processes that crowd: nothing is lost, nothing comes twice, nobody waits."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def run(program: str, *arguments: object, deadline: float) -> dict:
    command = [sys.executable, str(HERE / program), *map(str, arguments)]
    # A group of its own: should the deadline pass, whoever it has started goes with it.
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as work:
        try:
            out, error = work.communicate(timeout=deadline)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(work.pid, signal.SIGKILL)
    assert work.returncode == 0, error
    return json.loads(out)


@pytest.mark.parametrize("rounds", [pytest.param(25, id="short"), pytest.param(200, id="long", marks=pytest.mark.full)])
def test_SC6_an_index_writer_killed_again_and_again_loses_and_doubles_nothing(tmp_path, rounds):
    seed = random.randrange(1 << 30)
    found = run("search_storm.py", tmp_path, rounds, seed, deadline=280)
    assert found["promised"] > 200, "the writer wrote too little for the test to mean anything"
    assert found["steps"] > 3, "the index hardly moved between the kills"
    harm = {name: found[name] for name in ("crashed", "stuck", "lost", "doubled")}
    assert harm == {"crashed": 0, "stuck": 0, "lost": [], "doubled": 0}, seed
    assert found["documents"] == found["events"] >= found["promised"], seed


def test_SC6_several_processes_write_and_search_at_once(tmp_path):
    found = run("search_crowd.py", tmp_path, 4, 6, deadline=200)
    reports = found["reports"]
    assert [report["errors"] for report in reports] == [[]] * 4
    assert [report["missed"] for report in reports] == [[]] * 4, "an event was not found right after it was written"
    assert sum(report["events"] for report in reports) == found["events"]
    assert found["found"] == found["different"] == found["documents"] == found["events"]
    assert sum(report["indexed"] for report in reports) > 0
    assert sum(report["busy"] for report in reports) > 0, "they never met at the lock"
