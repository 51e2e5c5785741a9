"""The quick profile lowers what every kind of property test asks for, and leaves the rest alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import quick_examples

TESTS = """
import os
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

def note(what):
    with open(os.environ["COUNTED"], "a") as counted:
        counted.write(what + "\\n")

@settings(max_examples=200)
@given(st.integers())
def test_plain(number):
    note("plain")

class TestInAClass:
    @settings(max_examples=200)
    @given(st.integers())
    def test_it(self, number):
        note("class")

class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        note("machine")

    @rule(number=st.integers())
    def step(self, number):
        note("step")

TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=60, stateful_step_count=30)

@pytest.mark.parametrize("row", range(95))
def test_table(row):
    note("row")
    note(f"row{row}")

@settings(max_examples=3)
@given(st.integers())
def test_modest(number):
    note("modest")
"""


def counted(folder: Path, quick: str) -> dict[str, int]:
    (folder / "test_them.py").write_text(TESTS)
    told = folder / "counted"
    environment = os.environ | {
        "HOLDFAST_TEST_EXAMPLES": quick, "COUNTED": str(told), "PYTHONPATH": str(Path(quick_examples.__file__).parent),
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-q", "-p", "quick_examples", "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout
    lines = told.read_text().split()
    return {name: lines.count(name) for name in ("plain", "class", "machine", "step", "modest", "row", "row0", "row94")}


@pytest.mark.slow
def test_quick_asks_for_few_and_everything_else_for_all(tmp_path):
    quick = counted(tmp_path, "quick")
    assert quick["plain"] == quick["class"] == quick_examples.FEW
    assert 1 < quick["machine"] <= quick_examples.FEW + 1
    assert quick["step"] <= quick["machine"] * quick_examples.FEW_STEPS
    assert quick["modest"] == 3
    assert quick["row"] == quick_examples.FEW_ROWS
    assert quick["row0"] == 1
    (tmp_path / "counted").unlink()
    everything = counted(tmp_path, "")
    assert everything["plain"] == everything["class"] == 200
    assert everything["machine"] > 40
    assert (everything["row"], everything["row94"]) == (95, 1)
