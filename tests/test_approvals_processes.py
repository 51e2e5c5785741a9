"""Questions and answers over several processes on one database: one answer counts, everybody hears of it (PE6)."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from answering_crowd import ANSWERS
from holdfast.control import Control
from holdfast.store.home import Home
from holdfast.store.interface import AlreadyDecided, Session
from holdfast.testing.builders import EventBuilder, session_id
from starting_together import reports_of

PROCESSES, QUESTIONS = 6, 12
PROGRAM = Path(__file__).with_name("answering_crowd.py")


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home")
    home.create()
    (tmp_path / "vault").mkdir()
    return home


def open_with_session(home):
    control = Control.open(home)
    vault = str(home.root.parent / "vault")
    control.store.open_session(Session(session_id(), host="holdfast", vault=vault, started_at=1.0))
    return control


def ask(control, number):
    """A question of its own: its rule stands for no other of them."""
    event = EventBuilder(cwd=str(control.home.root.parent / "vault")).calling(
        "bash", call_id=f"c{number}", command=f"make target{number}", over={"id": f"q{number}", "at": control.clock()}
    )
    outcome = control.plane.handle(event)
    assert outcome.decision == "ask"
    return event, outcome.approval


def crowd(home, questions):
    told = json.dumps(questions)
    return reports_of(home.root, [[str(PROGRAM), str(home.root), str(me), told] for me in range(PROCESSES)])


@pytest.mark.slow
def test_PE6_of_many_processes_that_answer_at_once_one_counts_and_the_others_are_told(home):
    control = open_with_session(home)
    asked = dict(reversed(ask(control, number)) for number in range(QUESTIONS))
    control.close()
    found = crowd(home, list(asked))
    winner = {question: one["me"] for one in found for question in one["won"]}
    assert sorted(question for one in found for question in one["won"]) == sorted(asked)
    assert all(len(one["won"]) + len(one["told"]) == QUESTIONS for one in found)
    after = Control.open(home)
    for question, event in asked.items():
        kept = after.approvals.get(question)
        answer = ANSWERS[winner[question] % len(ANSWERS)]
        assert (kept.status, kept.answer, kept.answered_by) == ("answered", answer, f"person {winner[question]}")
        # what the call gets is the one answer that counted
        assert after.plane.handle(event).decision == ("deny" if answer == "deny" else "allow")
    answered = [entry["approval"] for entry in after.store.audit() if entry.get("answer")]
    assert sorted(answered) == sorted(asked)
    always = [question for question, me in winner.items() if ANSWERS[me % len(ANSWERS)] == "always"]
    assert len(after.config.rules) == len(always)
    after.close()


def test_PE6_a_question_outlives_its_process_and_is_answered_from_another(home):
    control = open_with_session(home)
    event, question = ask(control, 1)
    control.close()
    later = Control.open(home)
    assert [approval.id for approval in later.approvals.pending()] == [question]
    later.approvals.answer(question, "deny", by="ada", message="use the other target")
    later.close()
    last = Control.open(home)
    outcome = last.plane.handle(event)
    assert outcome.decision == "deny"
    assert "use the other target" in outcome.reason()
    with pytest.raises(AlreadyDecided):
        last.approvals.answer(question, "once", by="bob")
    last.close()


def test_PE6_whoever_waits_hears_the_answer_that_another_connection_gave(home):
    control = open_with_session(home)
    _, question = ask(control, 1)
    elsewhere = Control.open(home)
    answering = threading.Timer(0.1, lambda: elsewhere.approvals.answer(question, "once", by="the page"))
    answering.start()
    heard = [control.approvals.wait(question, seconds=20) for _ in range(2)]
    answering.join(timeout=10)
    assert {(one.status, one.answer, one.answered_by) for one in heard} == {("answered", "once", "the page")}
    elsewhere.close()
    control.close()


@pytest.mark.parametrize("moment", ["before", "rule"])
def test_PE6_an_answer_and_its_record_are_there_together_or_not_at_all(home, moment):
    """Whoever answers may die at any time; what counts is on record, and what is not on record does not count."""
    control = open_with_session(home)
    event, question = ask(control, 1)
    program = Path(__file__).with_name("crashing_answer.py")
    died = subprocess.run([sys.executable, str(program), str(home.root), question, moment], timeout=60, check=False)
    assert died.returncode == 9
    kept = control.approvals.get(question)
    recorded = [record.data for record in control.store.events(event.where.session, kinds=("approval_answered",))]
    audited = [entry for entry in control.store.audit() if entry.get("approval") == question and "answer" in entry]
    if moment == "before":
        assert (kept.status, recorded, audited) == ("pending", [], [])
        control.approvals.answer(question, "deny", by="bob")
        assert not control.plane.handle(event).allowed
    else:
        assert (kept.status, kept.answered_by) == ("answered", "ada")
        assert [data["approval"] for data in recorded] == [question]
        assert len(audited) == 1
        assert control.plane.handle(event).allowed
        assert ask(control, 2)  # no rule was written, so the next one is asked about
    assert control.store.verify_audit().problems == ()
    control.close()


def test_PE6_a_question_of_a_sealed_session_can_be_answered_and_the_audit_says_so(home):
    control = open_with_session(home)
    event, question = ask(control, 1)
    where = event.where
    session = control.store.session(where.session)
    control.store.update_session(where.session, session.version, state="sealed")
    before = len(control.store.events(where.session))
    control.approvals.answer(question, "once", by="ada")
    assert control.approvals.get(question).answered_by == "ada"
    assert len(control.store.events(where.session)) == before
    assert [entry["answer"] for entry in control.store.audit() if "answer" in entry] == ["once"]
    with pytest.raises(AlreadyDecided):
        control.approvals.answer(question, "deny", by="bob")
    control.close()
