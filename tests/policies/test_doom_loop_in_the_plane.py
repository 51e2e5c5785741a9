"""DL2 through the plane: the question, its answers, and what the audit keeps."""

from dataclasses import replace
from itertools import count

import pytest

from holdfast.approvals import Approvals
from holdfast.core.messages import plain
from holdfast.core.verdict import NOTHING, Finding, Verdict
from holdfast.plane import Kept, Plane, Surroundings
from holdfast.policies.doom_loop import DoomLoop
from holdfast.store.interface import Session
from holdfast.testing.builders import EventBuilder, session_id
from holdfast.testing.fixed_clock import FixedClock
from holdfast.testing.memory_store import MemoryStore


class AsksForBash:
    name = "permission"
    on_error = "closed"

    def decide(self, event, state):
        if event.kind != "tool_calling" or event.call.tool != "bash":
            return NOTHING, state
        return Verdict(findings=(Finding("permission", "ask", plain("bash is asked about")),)), state


class Agent:
    def __init__(self, mode="agent"):
        clock, ids = FixedClock(2_000_000_000.0), count(1)
        self.store, self.build = MemoryStore(), EventBuilder()
        self.store.open_session(Session(session_id(), host="holdfast", vault="/vault", started_at=1.0, mode=mode))
        self.plane = Plane(
            self.store,
            lambda: (AsksForBash(), DoomLoop()),
            Surroundings(
                clock=clock,
                new_id=lambda: f"id{next(ids)}",
                examine=lambda call, vault: call,
                keep_output=lambda spill, where, vault, at: Kept("/x", spill.size, "abc"),
                compose_output=lambda spill, path, language: spill.preview,
                propose_rules=lambda call, outcome: [{"domain": "bash", "pattern": "ls"}],
                language=lambda vault: "en",
            ),
        )
        self.approvals = Approvals(
            self.plane, clock=clock, new_id=lambda: f"answer{next(ids)}", write_rule=lambda rule: rule
        )

    def call(self, tool="grep", over=None):
        """One more equal call; its result is always another."""
        call = self.build.call(tool, pattern="x")
        outcome = self.plane.handle(self.build.calling(call, over=over))
        if outcome.decision == "allow":
            self.plane.handle(self.build.called(call, f"result of {call.id}"))
        return outcome

    def until_asked(self, most=30):
        outcomes = [self.call() for _ in range(4)]
        while outcomes[-1].decision == "allow" and len(outcomes) < most:
            outcomes.append(self.call())
        return len(outcomes), outcomes[-1]


def test_DL2_once_resets_and_cools_down_then_asks_again():
    agent = Agent()
    calls, asked = agent.until_asked()
    assert (calls, asked.decision, asked.deciding.policy) == (5, "ask", "doom_loop")
    answered = agent.approvals.answer(asked.approval, "once", by="ada")
    assert answered.problem is None
    assert agent.until_asked()[0] == 3 + 5


def test_DL2_always_is_for_the_session_and_writes_no_rule():
    agent = Agent()
    _, asked = agent.until_asked()
    answered = agent.approvals.answer(asked.approval, "always", by="ada")
    assert answered.approval.rule is None
    assert agent.until_asked()[0] == 30
    reasons = [entry for entry in agent.store.audit() if entry.get("policy") == "doom_loop"]
    assert [entry["decision"] for entry in reasons][-1] == "allow", "what went on unasked is recorded"


def test_DL2_a_no_with_a_message_reaches_the_model_and_holds():
    agent = Agent()
    _, asked = agent.until_asked()
    agent.approvals.answer(asked.approval, "deny", by="ada", message="look at the log instead")
    after = agent.plane.after_answer(asked, agent.store.approval(asked.approval))
    assert (after.decision, after.refusal) == ("deny", "look at the log instead")
    assert agent.call().decision == "deny"


@pytest.mark.parametrize("mode", ["agent", "full_access"])
def test_DL2_where_nobody_is_asked_it_is_denied_and_the_history_stays_valid(mode):
    agent = Agent(mode)
    over = None if mode == "full_access" else {"interactive": False}
    outcomes = [agent.call(over=over) for _ in range(5)]
    assert [outcome.decision for outcome in outcomes] == ["allow"] * 4 + ["deny"]
    assert "tell the user" in outcomes[-1].reason()
    assert agent.store.approvals() == []


def test_DL2_a_card_of_permission_answers_the_loop_too():
    agent = Agent()
    asked = []
    for _ in range(8):
        outcome = agent.call("bash")
        asked.append({finding.policy for finding in outcome.findings})
        agent.approvals.answer(outcome.approval, "once", by="ada")
        call = replace(agent.build.call("bash", pattern="x"), id=agent.store.approval(outcome.approval).call_id)
        agent.plane.handle(agent.build.called(call, "another result " + call.id))
    assert asked == [{"permission"}] * 4 + [{"permission", "doom_loop"}] + [{"permission"}] * 3
