"""Several events in one step: reports go with the event behind them, and nothing else changes."""

import pytest

from holdfast.core.verdict import NOTHING, Seal, Verdict
from holdfast.plane import Plane, Surroundings
from holdfast.store.interface import Session
from holdfast.testing.builders import EventBuilder, session_id
from holdfast.testing.fixed_clock import FixedClock
from holdfast.testing.memory_store import MemoryStore
from holdfast.testing.scripted_ids import ScriptedIds


class Counts:
    name = "counts"
    on_error = "closed"

    def decide(self, event, state):
        seal = Seal("threshold", 0.95) if event.kind == "context_measured" and event.used > 90 else None
        seen = [*state.get("seen", ()), event.kind]
        return (Verdict(seal=seal) if seal else NOTHING), {"seen": seen}


class CountingStore(MemoryStore):
    commits = 0

    def commit(self, change):
        self.commits += 1
        return super().commit(change)


@pytest.fixture
def plane():
    store = CountingStore()
    store.open_session(Session(session_id(), host="holdfast", vault="", started_at=0.0))
    surroundings = Surroundings(
        clock=FixedClock(1000.0),
        new_id=ScriptedIds(),
        examine=lambda call, vault: call,
        keep_output=lambda *given: None,
        compose_output=lambda *given: "",
        propose_rules=lambda *given: (),
        language=lambda vault: "en",
    )
    policies = (Counts(),)
    return Plane(store, lambda: policies, surroundings)


def test_SC4_a_report_and_the_next_event_are_one_transaction_in_their_order(plane):
    build = EventBuilder()
    measured, calling = plane.handle_all((build.measured(10, 100), build.calling("read", path="a")))
    assert plane.store.commits == 1
    assert [record.kind for record in plane.store.events("s1")] == ["context_measured", "tool_calling"]
    assert plane.store.state(session_id()).data["counts"]["seen"] == ["context_measured", "tool_calling"]
    assert measured.event_id != calling.event_id
    assert calling.allowed


def test_SC9_each_event_has_its_own_answer(plane):
    build = EventBuilder()
    measured, prompt = plane.handle_all((build.measured(95, 100), build.prompt("go")))
    assert measured.seal is not None
    assert prompt.seal is None


def test_PE6_a_call_that_was_decided_before_keeps_its_answer_and_the_report_is_recorded(plane):
    build = EventBuilder()
    calling = build.calling("read", path="a")
    plane.handle(calling)
    measured, again = plane.handle_all((build.measured(10, 100), calling))
    assert again.again
    assert not measured.again
    assert [record.kind for record in plane.store.events("s1")] == ["tool_calling", "context_measured"]


def test_SC1_only_reports_of_the_same_agent_can_go_along(plane):
    build = EventBuilder()
    with pytest.raises(ValueError, match="one step"):
        plane.handle_all((build.calling("read", path="a"), build.prompt("go")))
    other = EventBuilder(session_id(subagent="general"))
    with pytest.raises(ValueError, match="one step"):
        plane.handle_all((other.measured(1, 2), build.prompt("go")))


def test_HO4_an_error_of_ours_answers_every_event(plane):
    build = EventBuilder()
    plane.store.commit = None
    measured, calling = plane.handle_all((build.measured(10, 100), build.calling("write", path="a")))
    assert measured.decision == "allow"
    assert calling.decision == "deny"
