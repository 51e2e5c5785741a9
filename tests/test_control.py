"""The assembly that every door uses, with a real home, a real configuration and a real database."""

import json
import time
from pathlib import Path

import pytest

from holdfast.control import Control
from holdfast.store.home import Home
from holdfast.store.interface import Session, StoreError
from holdfast.testing.builders import EventBuilder, session_id

DAY = 86_400.0
LONG = "a line of output\n" * 5000


class Clock:
    def __init__(self):
        self.now = time.time()

    def __call__(self):
        return self.now


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home")
    home.create()
    return home


@pytest.fixture
def vault(tmp_path):
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


def opened(home, vault, clock=time.time):
    control = Control.open(home, clock=clock)
    control.store.open_session(Session(session_id(), host="holdfast", vault=str(vault), started_at=1.0))
    return control


def header(control):
    return {"id": control.new_id(), "at": control.clock()}


def run(control):
    """A call that is over, with an output that is cut."""
    vault = control.store.session("s1").vault
    return control.plane.handle(EventBuilder(cwd=vault).called("read", LONG, over=header(control), path="a.md"))


def decide(control, tool, **tool_input):
    vault = control.store.session("s1").vault
    name = control.new_id()
    event = EventBuilder(cwd=vault).calling(tool, call_id=name, over=header(control), **tool_input)
    return control.plane.handle(event)


# --- PE7: a deny of the user's is never overridden


CONFIG = """{
  // what I never want
  "agents": { "runtime": { "permission": { "rules": [
    { "domain": "bash", "pattern": "git *", "decision": "ask" },
    { "domain": "bash", "pattern": "git push *", "decision": "deny" }, // by hand only
    { "domain": "read", "pattern": "vault:/private/**", "decision": "deny" }
  ] } } }
}
"""


@pytest.mark.parametrize("answer", ["always", "for_a_while"])
def test_PE7_no_answer_overrides_the_users_deny(home, vault, answer):
    home.config.write_text(CONFIG)
    control = opened(home, vault)
    asked = decide(control, "bash", command="git pull")
    assert asked.decision == "ask"
    # the widest rule a person could write into the card
    control.approvals.answer(asked.approval, answer, by="ada", rule={"domain": "bash", "pattern": "git *"})
    decided = {
        command: decide(control, "bash", command=command).decision
        for command in ("git pull --rebase", "git push origin main", "git pull && git push -f")
    }
    assert decided == {
        "git pull --rebase": "allow",
        "git push origin main": "deny",
        "git pull && git push -f": "deny",
    }
    control.close()
    text = home.config.read_text()
    assert "// what I never want" in text
    assert "// by hand only" in text
    # and so it stays after a restart
    again = Control.open(home)
    outcome = decide(again, "bash", command="git push origin main")
    assert outcome.decision == "deny"
    assert outcome.deciding.rule.pattern == "git push *"
    again.close()


def test_PE7_a_deny_holds_in_full_access_too(home, vault):
    home.config.write_text(CONFIG)
    control = opened(home, vault)
    session = control.store.session("s1")
    control.store.update_session("s1", session.version, mode="full_access")
    assert decide(control, "bash", command="git pull").decision == "allow"
    assert decide(control, "bash", command="git push x").decision == "deny"
    assert decide(control, "read", path="private/a.md").decision == "deny"
    control.close()


def test_PE3_what_was_granted_for_a_while_cannot_stall_a_decision(home, vault):
    control = opened(home, vault)
    asked = decide(control, "bash", command="make all")
    hostile = {"domain": "bash", "pattern": "regex:^(a+)+$"}
    control.approvals.answer(asked.approval, "for_a_while", by="ada", rule=hostile)
    started = time.perf_counter()
    assert decide(control, "bash", command="a" * 5000 + "!").decision == "ask"
    assert time.perf_counter() - started < 5
    control.close()


def test_PE7_an_edited_rule_that_RE2_cannot_take_is_refused_and_the_question_stays(home, vault):
    control = opened(home, vault)
    asked = decide(control, "bash", command="make all")
    with pytest.raises(StoreError, match=r"\(\?!"):
        control.approvals.answer(
            asked.approval, "always", by="ada", rule={"domain": "bash", "pattern": "regex:^make (?!all)"}
        )
    assert control.approvals.get(asked.approval).status == "pending"
    control.close()


# --- TR5: old outputs go at the start and daily


def test_TR5_old_outputs_go_at_the_start(home, vault):
    clock = Clock()
    control = opened(home, vault, clock)
    path = Path(run(control).full_output)
    assert path.exists()
    control.close()
    clock.now += 6.9 * DAY
    Control.open(home, clock=clock).close()
    assert path.exists()
    clock.now += 0.2 * DAY
    Control.open(home, clock=clock).close()
    assert not path.exists()


def test_TR5_a_process_that_lives_for_days_looks_daily_though_nothing_is_written(home, vault):
    clock = Clock()
    control = opened(home, vault, clock)
    path = Path(run(control).full_output)
    clock.now += 8 * DAY
    decide(control, "read", path="b.md")
    end = time.monotonic() + 20
    while path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not path.exists()
    control.close()


def test_TR5_starts_in_quick_succession_look_once_an_hour_and_zero_days_keep_for_ever(home, vault):
    clock = Clock()
    control = opened(home, vault, clock)
    run(control)
    clock.now += 30 * DAY
    assert control.sweep_outputs(not_since=3600).removed == 1
    run(control)
    clock.now += 600
    assert control.store.noted("outputs-swept") == clock.now - 600
    assert control.sweep_outputs(not_since=3600).removed == 0
    home.config.write_text('{"agents": {"runtime": {"truncation": {"ttlDays": 0}}}}')
    clock.now += 3000 * DAY
    assert control.sweep_outputs().removed == 0
    control.close()


# --- HK6: the mobile profile


def test_HK6_on_mobile_outputs_lie_in_the_app_data_directory_and_everything_else_loads(home, vault):
    home.config.write_text(
        json.dumps(
            {"agents": {"runtime": {"profile": "mobile", "permission": {"rules": [
                {"domain": "read", "pattern": "*.md", "decision": "ask"}]}}}}
        )
    )  # fmt: skip
    control = opened(home, vault)
    outcome = run(control)
    assert outcome.full_output.startswith(str(home.outputs))
    assert outcome.full_output in outcome.output
    assert not (vault / ".agent-output").exists()
    assert decide(control, "read", path="a.md").decision == "ask"
    control.close()


def test_HK6_on_the_desktop_they_lie_in_the_vault(home, vault):
    control = opened(home, vault)
    assert run(control).full_output.startswith(str(vault / ".agent-output"))
    control.close()


# --- what a command does is read by the table in force


def test_a_command_that_was_read_before_is_read_anew_by_another_table(home, vault):
    control = opened(home, vault)
    call = EventBuilder(cwd=str(vault)).calling("bash", command="peek notes.md").call

    def reads():
        return [str(access.target) for access in control.examine(call, str(vault)).accesses if access.domain == "read"]

    assert reads() == []  # nobody knows what `peek` does
    knowledge = '{ "peek": { "ro": true, "pos": ["read"] } }'
    home.config.write_text(f'{{ "agents": {{ "runtime": {{ "shell": {{ "commands": {knowledge} }} }} }} }}')
    assert reads() == ["vault:/notes.md"]
    control.close()
