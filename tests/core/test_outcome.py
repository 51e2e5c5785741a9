"""The answer of the plane: its words, and what of it is written down."""

import json
from dataclasses import replace

import pytest

from holdfast.core.messages import Phrase
from holdfast.core.outcome import Outcome, denied, from_merged, settled
from holdfast.core.verdict import Finding, Inject, Verdict, merge

WHY = Phrase("test.why", "{path} is shut", "{path} 已关闭")
NEXT = Phrase("test.next", "Ask first.", "请先询问。")
SHUT = Finding("permission", "deny", WHY(path="a"), next_step=NEXT())
OPEN = Finding("permission", "allow", WHY(path="b"))


def test_the_reason_is_the_deciding_finding_with_its_next_step_in_either_language():
    outcome = from_merged(merge([Verdict(findings=(OPEN, SHUT))]), "e1")
    assert outcome.deciding == SHUT
    assert outcome.reason() == "a is shut\nAsk first."
    assert outcome.reason("zh") == "a 已关闭\n请先询问。"


def test_PE6_a_persons_own_words_follow_the_reason():
    answered = settled(replace(denied("e1", SHUT), decision="ask"), "deny", refusal="use the other branch")
    assert answered.reason().endswith("\nuse the other branch")
    assert answered.again
    assert not answered.allowed


@pytest.mark.parametrize("deciding", [None, OPEN, SHUT])
def test_what_is_remembered_is_plain_json_and_comes_back(deciding):
    outcome = Outcome("ask", "e1", (OPEN, SHUT), deciding, approval="a1", input={"path": "b"}, refusal="no")
    again = Outcome.from_dict(json.loads(json.dumps(outcome.to_dict())))
    assert again.again
    assert (again.decision, again.approval, again.input, again.refusal) == ("ask", "a1", {"path": "b"}, "no")
    assert again.to_dict()["deciding"] == outcome.to_dict()["deciding"]
    assert [again.reason(language) for language in ("en", "zh")] == [
        outcome.reason(language) for language in ("en", "zh")
    ]


def test_acts_of_the_moment_are_not_remembered():
    outcome = Outcome("allow", "e1", inject=(Inject("a note"),), history=(), system="x", output="cut")
    again = Outcome.from_dict(outcome.to_dict())
    assert (again.inject, again.history, again.system, again.output) == ((), None, None, None)


def test_nothing_said_is_allowed_without_a_reason():
    outcome = from_merged(merge([]), "e1")
    assert outcome.allowed
    assert outcome.reason() == ""
