"""The inbox on the command line, over a real store."""

import json

import pytest
from click.testing import CliRunner

from holdfast.control import Control
from holdfast.doors.cli import cli
from holdfast.store.home import Home
from holdfast.store.interface import Session
from holdfast.testing.builders import EventBuilder, session_id


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


def holdfast(home, *arguments):
    return CliRunner().invoke(cli, ["--home", str(home.root), *arguments])


def ask(home, tmp_path, command, call="t1"):
    """An agent asks; nobody waits for the answer."""
    (tmp_path / "vault").mkdir(exist_ok=True)
    control = Control.open(home)
    build = EventBuilder(session_id(agent="claude-code"), cwd=str(tmp_path / "vault"), start=control.clock())
    control.store.open_session(Session(build.where, host="claude-code", vault=build.cwd, started_at=1.0))
    event = build.calling(build.call("bash", call_id=call, command=command), over={"id": control.new_id()})
    outcome = control.plane.handle(event)
    assert outcome.decision == "ask"
    return control, event, outcome


def test_PE6_nothing_waits_in_an_empty_home(home):
    assert holdfast(home, "approvals", "list").output == "nothing waits\n"
    assert json.loads(holdfast(home, "approvals", "list", "--json").output) == []


def test_PE6_list_show_and_answer(home, tmp_path):
    control, event, outcome = ask(home, tmp_path, "git status -s")
    listed = json.loads(holdfast(home, "approvals", "list", "--json").output)
    assert [one["id"] for one in listed] == [outcome.approval]
    shown = holdfast(home, "approvals", "show", outcome.approval[:8]).output
    assert "git status -s" in shown
    assert "always would write: bash shell:git status *" in shown
    done = holdfast(home, "approvals", "answer", outcome.approval[:8], "once")
    assert done.exit_code == 0, done.output
    assert control.plane.handle(event).allowed
    assert holdfast(home, "approvals", "list").output == "nothing waits\n"
    control.close()


def test_PE7_always_writes_the_rule_and_the_next_call_is_not_asked(home, tmp_path):
    control, _, outcome = ask(home, tmp_path, "git status -s")
    done = holdfast(home, "approvals", "answer", outcome.approval, "always")
    assert done.exit_code == 0, done.output
    assert "git status *" in home.config.read_text()
    control.close()
    with pytest.raises(AssertionError):
        ask(home, tmp_path, "git status --long", call="t2")


def test_PE6_a_second_answer_is_told_who_was_first(home, tmp_path):
    control, _, outcome = ask(home, tmp_path, "make")
    assert holdfast(home, "approvals", "answer", outcome.approval, "deny", "-m", "not now").exit_code == 0
    late = holdfast(home, "approvals", "answer", outcome.approval, "once")
    assert late.exit_code != 0
    assert "already decided: deny by local" in late.output
    card = holdfast(home, "approvals", "show", outcome.approval).output
    assert "deny by local: not now" in card
    assert "holdfast approvals answer" not in card
    control.close()


def test_PE7_a_compound_command_can_only_be_once(home, tmp_path):
    control, _, outcome = ask(home, tmp_path, "git status && make")
    assert "once|deny" in holdfast(home, "approvals", "show", outcome.approval).output
    refused = holdfast(home, "approvals", "answer", outcome.approval, "always")
    assert refused.exit_code != 0
    assert "only be answered once" in refused.output
    control.close()


def test_an_unknown_id_is_a_clear_error(home, tmp_path):
    control, *_ = ask(home, tmp_path, "make")
    wrong = holdfast(home, "approvals", "show", "zzz")
    assert wrong.exit_code == 2
    assert "approvals list --all" in wrong.output
    control.close()


def test_PE6_cancel_ends_a_question_without_an_answer(home, tmp_path):
    control, event, outcome = ask(home, tmp_path, "git push")
    ran = holdfast(home, "approvals", "cancel", outcome.approval[:8])
    assert (ran.exit_code, "cancelled" in ran.output) == (0, True), ran.output
    kept = control.store.approval(outcome.approval)
    assert (kept.status, kept.answer) == ("cancelled", None)
    assert not control.plane.handle(event).allowed
    again = holdfast(home, "approvals", "cancel", outcome.approval, "--json")
    assert again.exit_code == 1
    assert [one["status"] for one in json.loads(again.output)["decidedBefore"]] == ["cancelled"]
    control.close()


def test_PE6_cancel_all_or_those_of_a_session(home, tmp_path):
    control, first, _ = ask(home, tmp_path, "git push")
    control.close()
    control, _, _ = ask(home, tmp_path, "git fetch", call="t2")
    other = holdfast(home, "approvals", "cancel", "--session", "another")
    assert other.output == "nothing waits\n"
    ran = holdfast(home, "approvals", "cancel", "--session", first.where.session, "--json")
    assert len(json.loads(ran.output)["cancelled"]) == 2
    assert holdfast(home, "approvals", "cancel", "--all").output == "nothing waits\n"
    control.close()


@pytest.mark.parametrize("arguments", [(), ("x", "--all"), ("--all", "--session", "s"), ("nothing",)])
def test_PE6_cancel_needs_to_be_told_what(home, arguments):
    assert holdfast(home, "approvals", "cancel", *arguments).exit_code == 2
