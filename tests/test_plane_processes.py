"""The plane in several processes on one database: nothing is lost, nothing counted twice, one call decided once."""

from pathlib import Path

import pytest

from holdfast.control import Control
from holdfast.store.home import Home
from holdfast.store.interface import Session
from holdfast.testing.builders import session_id
from starting_together import reports_of

PROCESSES, CALLS, SHARED = 5, 18, 9
RULES = """{ "agents": { "runtime": { "permission": { "rules": [
  { "domain": "bash", "pattern": "echo *", "decision": "allow" },
  { "domain": "bash", "pattern": "rm *", "decision": "deny" },
  { "domain": "bash", "pattern": "make *", "decision": "ask" },
] }, "doomLoop": { "maxToolCalls": 1000 } } } }
"""
PROGRAM = Path(__file__).with_name("plane_crowd.py")


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home")
    home.create()
    home.config.write_text(RULES)
    (tmp_path / "vault").mkdir()
    control = Control.open(home)
    control.store.open_session(Session(session_id(), host="holdfast", vault=str(tmp_path / "vault"), started_at=1.0))
    control.close()
    return home


def crowd(home: Home, vault: Path) -> list[dict]:
    """What each of the processes was answered; they begin together."""
    return reports_of(
        home.root,
        [[str(PROGRAM), str(home.root), str(vault), str(me), str(CALLS), str(SHARED)] for me in range(PROCESSES)],
    )


@pytest.mark.slow
def test_several_processes_handle_the_calls_of_one_session(home, tmp_path):
    reports = crowd(home, tmp_path / "vault")

    for report in reports:
        assert [decision for decision, _, _ in report["own"]] == ["allow", "deny", "ask"] * (CALLS // 3)
        assert not any(again for _, again, _ in report["own"])
    shared = list(zip(*(report["shared"] for report in reports), strict=True))
    for number, answers in enumerate(shared):
        assert len({(decision, approval) for decision, _, approval in answers}) == 1, f"shared-{number}: {answers}"
        assert sum(not again for _, again, _ in answers) == 1, f"shared-{number} was decided more than once"

    decided = PROCESSES * CALLS + SHARED
    control = Control.open(home)
    try:
        store = control.store
        assert len(store.events("s1", limit=10**6)) == decided
        assert len(list(store.audit())) == decided
        assert store.verify_audit().problems == ()
        assert len(store.approvals(status="pending", limit=10**6)) == PROCESSES * CALLS // 3 + SHARED // 3
        assert store.state(session_id()).data["doom_loop"]["calls"] == decided
    finally:
        control.close()
