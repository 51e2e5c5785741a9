"""Every labelled command of the reader's set, against a closed recovery gate (MB4, MB9)."""

import json
from pathlib import Path

import pytest

from holdfast.core.risk import changes, path_risk, risk_of
from policies.gated_vault import GatedVault

pytestmark = pytest.mark.slow

SHELL = Path(__file__).parent.parent / "shell"


def lines(name):
    return [line for line in (SHELL / name).read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]


EVERYDAY = [json.loads(line) for line in lines("everyday.jsonl")]
CHANGERS = [*(case["command"] for case in EVERYDAY if not case["read_only"]), *lines("changers.txt")]
READERS = [*(case["command"] for case in EVERYDAY if case["read_only"]), *lines("readers.txt")]
REQUIREMENT = "memory-bank/details/requirements/REQ-005.md"


@pytest.fixture
def closed(tmp_path):
    vault = GatedVault(tmp_path)
    vault.says()
    vault.reads(REQUIREMENT)
    vault.compacts()
    assert vault.recovering() == [REQUIREMENT]
    return vault


def is_low_risk(vault, command):
    """Whether all it changes are files that may be written before anything was read."""
    call = vault.examined("bash", command=command)
    paths = [access.target.value for access in changes(call)]
    return bool(paths) and all(path_risk(path, vault.settings) == "low" for path in paths)


def test_MB9_nothing_that_changes_passes_a_closed_gate(closed):
    assert len(CHANGERS) > 3000
    passed = []
    for command in CHANGERS:
        outcome = closed.tries("bash", command=command)
        if outcome.allowed and not is_low_risk(closed, command):
            passed.append(command)
    assert passed == []


def test_MB9_at_most_two_percent_of_what_only_reads_is_blocked(closed):
    assert len(READERS) > 400
    blocked = [command for command in READERS if not closed.tries("bash", command=command).allowed]
    assert len(blocked) <= 0.02 * len(READERS), blocked


def test_MB2_in_block_mode_state_outside_the_vault_waits_for_the_patterns(tmp_path):
    """Every command of high risk, and none that only reads."""
    vault = GatedVault(tmp_path, guard_mode="block")
    vault.says()
    high = [c for c in CHANGERS if risk_of(vault.examined("bash", command=c), vault.settings) == "high"]
    assert len(high) > 300
    assert [command for command in high if vault.tries("bash", command=command).allowed] == []
    blocked = [command for command in READERS if not vault.tries("bash", command=command).allowed]
    assert len(blocked) <= 0.02 * len(READERS), blocked
