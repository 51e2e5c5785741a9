"""Every labelled command of the reader's set, against a closed recovery gate (MB4, MB9)."""

import json
from pathlib import Path

import pytest

from holdfast.core.risk import changes, path_risk
from policies.gated_vault import GatedVault

COMMANDS = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "shell" / "everyday.jsonl").read_text(encoding="utf-8").splitlines()
    if line.strip()
]
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
    passed = []
    for case in COMMANDS:
        if case["read_only"]:
            continue
        outcome = closed.tries("bash", command=case["command"])
        if outcome.allowed and not is_low_risk(closed, case["command"]):
            passed.append(case["command"])
    assert passed == []


def test_MB9_at_most_two_percent_of_what_only_reads_is_blocked(closed):
    readers = [case["command"] for case in COMMANDS if case["read_only"]]
    blocked = [command for command in readers if not closed.tries("bash", command=command).allowed]
    assert len(readers) > 200
    assert len(blocked) <= 0.02 * len(readers), blocked
