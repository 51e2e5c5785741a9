"""The plane with small policies of its own: what it promises whatever the policies say."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count

import pytest

from holdfast.approvals import A_WHILE, Approvals
from holdfast.core.messages import plain
from holdfast.core.patterns import Rule
from holdfast.core.policy import EMPTY
from holdfast.core.verdict import NOTHING, Finding, Inject, Spill, Verdict
from holdfast.plane import Kept, Plane, Surroundings
from holdfast.policies.modes import ModesPolicy
from holdfast.store.interface import AlreadyDecided, Session, StoreError
from holdfast.testing.builders import EventBuilder, session_id
from holdfast.testing.fixed_clock import FixedClock
from holdfast.testing.memory_store import MemoryStore


class Says:
    """A policy that always gives the same verdict on tool calls."""

    on_error = "closed"

    def __init__(self, decision, name="permission", **finding):
        self.name = name
        self._finding = Finding(name, decision, plain(f"{name} says {decision}"), **finding)

    def decide(self, event, state):
        return (Verdict(findings=(self._finding,)) if event.kind == "tool_calling" else NOTHING), state


class Breaks(Says):
    def decide(self, event, state):
        raise RuntimeError("broken inside")


class Counts:
    """Counts calls in its state: loses nothing under parallel calls."""

    name = "counts"
    on_error = "closed"

    def decide(self, event, state):
        return NOTHING, {"n": state.get("n", 0) + 1}


class Rewrites:
    name = "user_hooks"
    on_error = "open"

    def decide(self, event, state):
        if event.kind == "tool_calling":
            return Verdict(rewrite_input={**event.call.input, "encoding": "utf-8"}), state
        if event.kind == "tool_called":
            return Verdict(rewrite_output="[preview] " + event.result.output), state
        return NOTHING, state


class Spills:
    name = "truncation"
    on_error = "open"

    def decide(self, event, state):
        if event.kind != "tool_called":
            return NOTHING, state
        text = event.result.output
        return Verdict(spill=Spill(text, text[:5], event.call.tool, event.call.id, ".txt", 1, len(text))), state


@pytest.fixture
def clock():
    return FixedClock(1000.0)


@pytest.fixture
def store():
    store = MemoryStore()
    store.open_session(Session(session_id(), host="holdfast", vault="/vault", started_at=1.0))
    return store


def plane_of(store, clock, *policies, timeout=None, propose=None, **surroundings):
    ids = count(1)
    given = {
        "clock": clock,
        "new_id": lambda: f"id{next(ids)}",
        "examine": lambda call, vault: call,
        "keep_output": lambda spill, where, vault, at: Kept(f"{vault}/.agent-output/x.txt", spill.size, "abc"),
        "compose_output": lambda spill, path, language: f"{spill.preview}... full: {path}",
        "propose_rules": propose or (lambda call, outcome: [{"domain": "bash", "pattern": "git status *"}]),
        "language": lambda vault: "en",
    }
    return Plane(store, lambda: policies, Surroundings(**{**given, **surroundings}), approval_timeout=lambda: timeout)


def approvals_of(plane, clock, write_rule=lambda rule: rule):
    ids = count(1)
    return Approvals(
        plane, clock=clock, new_id=lambda: f"answer-{next(ids)}", write_rule=write_rule, sleep=clock.advance
    )


def test_the_step_is_in_transcript_state_and_audit_before_it_is_answered(store, clock):
    build = EventBuilder()
    outcome = plane_of(store, clock, Says("deny"), Counts()).handle(build.calling("bash", command="rm x"))
    assert outcome.decision == "deny"
    (record,) = store.events("s1")
    assert (record.kind, record.data["decision"]) == ("tool_calling", "deny")
    assert store.state(session_id()).data["counts"] == {"n": 1}
    (entry,) = store.audit()
    assert (entry["decision"], entry["eventId"], entry["sessionId"]) == ("deny", outcome.event_id, "s1")


def test_AU1_what_is_allowed_by_itself_is_audited_too(store, clock):
    plane_of(store, clock, Says("allow")).handle(EventBuilder().calling("read", path="a"))
    (entry,) = store.audit()
    assert entry["decision"] == "allow"
    assert {
        "eventId",
        "sessionId",
        "mode",
        "permissionDomain",
        "targets",
        "rulePattern",
        "timestamp",
        "decidedBy",
    } <= set(entry)


def test_the_same_call_id_is_decided_once(store, clock):
    build, counts = EventBuilder(), Counts()
    plane = plane_of(store, clock, Says("allow"), counts)
    call = build.call("write", path="a")
    first, second = plane.handle(build.calling(call)), plane.handle(build.calling(call))
    assert not first.again
    assert second.again
    assert len(store.events("s1")) == 1
    changed = replace(call, input={"path": "b"})
    assert not plane.handle(build.calling(changed)).again, "another input is another question"


def test_an_id_that_is_used_again_is_another_question(store, clock):
    build = EventBuilder()
    plane = plane_of(store, clock, Says("ask"))
    call = build.call("bash", call_id="call_0", command="make")
    first = plane.handle(build.calling(call))
    approvals_of(plane, clock).answer(first.approval, "once", by="ada")
    assert plane.handle(build.calling(call)).allowed
    plane.handle(build.called(call, "done"))
    again = plane.handle(build.calling(call))
    assert again.decision == "ask"
    assert again.approval != first.approval


def test_the_same_call_asked_at_once_by_many_is_one_question(store, clock):
    build = EventBuilder()
    call = build.call("bash", command="make")
    plane = plane_of(store, clock, Says("ask"))
    events = [build.calling(call) for _ in range(40)]
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(plane.handle, events))
    assert len({outcome.approval for outcome in outcomes}) == 1
    assert len(store.approvals()) == 1


def test_what_is_judged_is_what_runs(store, clock):
    seen = []

    class Watches(Says):
        def decide(self, event, state):
            seen.append(dict(event.call.input))
            return super().decide(event, state)

    outcome = plane_of(store, clock, Rewrites(), Watches("allow")).handle(EventBuilder().calling("read", path="a"))
    assert seen == [{"path": "a", "encoding": "utf-8"}]
    assert outcome.input == seen[0]


def test_a_failing_judge_denies_writes_and_lets_reads_go_on_HO4(store, clock):
    build = EventBuilder()
    plane = plane_of(store, clock, Breaks("allow", name="recovery_gate"))
    write = plane.handle(build.calling(replace(build.call("write", path="a"), domain="edit")))
    assert write.decision == "deny"
    assert "Holdfast itself failed in recovery_gate" in write.reason()
    assert "RuntimeError: broken inside" in write.reason()
    read = plane.handle(build.calling(replace(build.call("read", path="a"), domain="read")))
    assert read.decision == "allow"
    assert "it goes on" in read.warnings[0].text()


def test_a_failing_open_policy_only_warns(store, clock):
    broken = Breaks("allow", name="user_hooks")
    broken.on_error = "open"
    outcome = plane_of(store, clock, broken, Says("allow")).handle(EventBuilder().calling("write", path="a"))
    assert outcome.allowed
    assert "user_hooks" in outcome.warnings[0].text()


def test_a_store_that_fails_denies_a_write(clock):
    class Full(MemoryStore):
        def commit(self, change):
            raise StoreError("disk full: data/holdfast.db; free some space")

    outcome = plane_of(Full(), clock, Says("allow")).handle(EventBuilder().calling("write", path="a"))
    assert outcome.decision == "deny"
    assert "disk full" in outcome.reason()


def test_a_sealed_session_takes_nothing_more(store, clock):
    session = store.session("s1")
    store.update_session("s1", session.version, state="sealed")
    outcome = plane_of(store, clock, Says("allow")).handle(EventBuilder().calling("write", path="a"))
    assert outcome.decision == "deny"
    assert "sealed" in outcome.reason()


def test_SC1_an_event_of_another_thread_is_refused(store, clock):
    build = EventBuilder(session_id(thread="tea"))
    outcome = plane_of(store, clock, Says("allow")).handle(build.calling("write", path="a"))
    assert outcome.decision == "deny"
    assert "thread 'tea'" in outcome.reason()
    assert store.events("s1") == []


def test_parallel_calls_lose_no_state(store, clock):
    build = EventBuilder()
    plane = plane_of(store, clock, Counts())
    events = [build.calling("read", path=str(i)) for i in range(200)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(plane.handle, events))
    assert store.state(session_id()).data["counts"]["n"] == 200


def test_MB10_a_subagent_starts_with_a_copy_and_keeps_its_own(store, clock):
    plane = plane_of(store, clock, Counts())
    plane.handle(EventBuilder().calling("read", path="a"))
    child = session_id(subagent="reader")
    plane.handle(EventBuilder(child).calling("read", path="b", over={"id": "x1"}))
    assert store.state(child).data["counts"]["n"] == 2
    assert store.state(session_id()).data["counts"]["n"] == 1


def test_the_sessions_mode_counts_not_the_callers_word(store, clock):
    build = EventBuilder()
    plane = plane_of(store, clock, Says("ask"))
    claimed = plane.handle(build.calling("bash", command="x", over={"mode": "full_access"}))
    assert claimed.decision == "ask"
    session = store.session("s1")
    store.update_session("s1", session.version, mode="full_access")
    assert plane.handle(build.calling("bash", command="y")).allowed


def test_a_long_output_is_kept_and_cut(store, clock):
    build = EventBuilder()
    outcome = plane_of(store, clock, Rewrites(), Spills()).handle(build.called("bash", "0123456789", command="x"))
    assert outcome.output == "[prev... full: /vault/.agent-output/x.txt"
    assert outcome.full_output == "/vault/.agent-output/x.txt"
    (record,) = store.events("s1")
    assert record.data["spilled"]["sha256"] == "abc"
    assert record.data["result"]["output"] == outcome.output


def test_an_output_that_cannot_be_kept_is_still_cut(store, clock):
    plane = plane_of(store, clock, Spills(), keep_output=lambda spill, where, vault, at: None)
    outcome = plane.handle(EventBuilder().called("bash", "0123456789", command="x"))
    assert outcome.output == "01234... full: None"


def ask(store, clock, **plane_arguments):
    build = EventBuilder()
    plane = plane_of(store, clock, Says("ask"), **plane_arguments)
    event = build.calling("bash", command="git status -s")
    outcome = plane.handle(event)
    assert outcome.decision == "ask"
    return plane, event, outcome


def test_PE6_a_question_is_stored_and_asking_again_is_the_same_question(store, clock):
    plane, event, outcome = ask(store, clock)
    (approval,) = store.approvals(status="pending")
    assert approval.id == outcome.approval
    assert approval.question["input"] == {"command": "git status -s"}
    again = plane.handle(event)
    assert (again.decision, again.approval) == ("ask", outcome.approval)
    assert len(store.approvals()) == 1


@pytest.mark.parametrize(("answer", "decision"), [("once", "allow"), ("always", "allow"), ("deny", "deny")])
def test_PE6_the_answer_is_what_the_call_gets(store, clock, answer, decision):
    plane, event, outcome = ask(store, clock)
    approvals_of(plane, clock).answer(outcome.approval, answer, by="ada", message="use the other branch")
    final = plane.handle(event)
    assert final.decision == decision
    if decision == "deny":
        assert "ada denied this." in final.reason()
        assert "use the other branch" in final.reason()
    assert [e["answer"] for e in store.audit() if "answer" in e] == [answer]


def test_PE6_a_stale_answer_is_already_decided(store, clock):
    plane, event, outcome = ask(store, clock)
    service = approvals_of(plane, clock)
    service.answer(outcome.approval, "once", by="ada")
    with pytest.raises(AlreadyDecided) as caught:
        service.answer(outcome.approval, "deny", by="bob")
    assert caught.value.approval.answered_by == "ada"
    assert plane.handle(event).allowed


def test_PE6_of_many_answers_at_once_exactly_one_counts(store, clock):
    plane, _, outcome = ask(store, clock)
    service = approvals_of(plane, clock)

    def answer(n):
        try:
            return service.answer(outcome.approval, "once" if n % 2 else "deny", by=str(n)).approval.answered_by
        except AlreadyDecided:
            return None

    with ThreadPoolExecutor(8) as pool:
        winners = [who for who in pool.map(answer, range(32)) if who]
    assert winners == [store.approval(outcome.approval).answered_by]


def test_PE7_always_writes_the_rule_that_was_shown(store, clock):
    written = []
    plane, _, outcome = ask(store, clock)
    service = approvals_of(plane, clock, write_rule=lambda rule: written.append(rule) or rule)
    service.answer(outcome.approval, "always", by="ada")
    assert written == [Rule("bash", "git status *", "allow")]


def test_PE7_a_rule_that_cannot_be_written_is_said_and_counts_once(store, clock):
    def fails(rule):
        raise OSError("read-only")

    plane, event, outcome = ask(store, clock)
    answered = approvals_of(plane, clock, write_rule=fails).answer(outcome.approval, "always", by="ada")
    assert "read-only" in answered.problem.text()
    assert plane.handle(event).allowed
    *_, last = store.audit()
    assert last["what"] == "rule_not_written"
    assert "read-only" in last["message"]


def test_PE7_without_a_proposal_only_once_is_possible(store, clock):
    plane, _, outcome = ask(store, clock, propose=lambda call, outcome: [])
    with pytest.raises(StoreError, match="only be answered once"):
        approvals_of(plane, clock).answer(outcome.approval, "always", by="ada")
    assert store.approval(outcome.approval).status == "pending"


@pytest.mark.parametrize("rule", [{"domain": "edit", "pattern": "**"}, {"domain": "bash", "pattern": " "}])
def test_PE7_an_edited_rule_must_be_about_what_was_asked(store, clock, rule):
    plane, _, outcome = ask(store, clock)
    with pytest.raises(StoreError, match="not about what was asked"):
        approvals_of(plane, clock).answer(outcome.approval, "always", by="ada", rule=rule)
    assert store.approval(outcome.approval).status == "pending"


def test_PE7_a_person_may_edit_the_rule(store, clock):
    written = []
    plane, _, outcome = ask(store, clock)
    service = approvals_of(plane, clock, write_rule=lambda rule: written.append(rule) or rule)
    service.answer(outcome.approval, "always", by="ada", rule={"domain": "bash", "pattern": "git *"})
    assert written == [Rule("bash", "git *", "allow")]


def test_MO1_full_access_that_is_not_confirmed_goes_back_to_agent(store, clock):
    session = store.session("s1")
    store.update_session("s1", session.version, mode="full_access")
    build = EventBuilder()
    plane = plane_of(store, clock, ModesPolicy())
    started = plane.handle(build.started(host="holdfast"))
    assert "Full access is on" in started.warnings[0].text()
    asked = plane.handle(build.prompt("hello"))
    assert asked.decision == "ask"
    approvals_of(plane, clock).answer(asked.approval, "deny", by="ada")
    assert store.session("s1").mode == "agent"
    assert plane.handle(build.prompt("hello")).allowed
    assert [e["to"] for e in store.audit() if e.get("what") == "mode_changed"] == ["agent"]
    assert any(e.get("what") == "session_started" for e in store.audit()), "a start in full access is on the record"


def test_PE6_for_a_while_grants_the_session_a_rule_that_ends(store, clock):
    plane, _, outcome = ask(store, clock)
    approvals_of(plane, clock).answer(outcome.approval, "for_a_while", by="ada")
    (record,) = [r for r in store.events("s1") if r.kind == "approval_answered"]
    assert record.data["rules"][0]["expires"] == clock() + A_WHILE


def test_PE6_an_approval_expires_at_its_deadline(store, clock):
    plane, event, outcome = ask(store, clock, timeout=300.0)
    clock.advance(event.at + 301 - clock())
    service = approvals_of(plane, clock)
    assert service.pending() == []
    assert store.approval(outcome.approval).status == "expired"
    assert "Nobody answered in time" in plane.handle(event).reason()
    with pytest.raises(AlreadyDecided):
        service.answer(outcome.approval, "once", by="ada")


def test_PE6_waiting_ends_with_the_answer_or_the_time(store, clock):
    plane, _, outcome = ask(store, clock, timeout=10**10)
    service = approvals_of(plane, clock)
    before = clock()
    assert service.wait(outcome.approval, seconds=5).status == "pending"
    assert 5 <= clock() - before < 6
    service.answer(outcome.approval, "once", by="ada")
    assert service.wait(outcome.approval, seconds=5).status == "answered"


def test_PE6_stop_cancels_what_waits(store, clock):
    plane, event, _ = ask(store, clock)
    assert approvals_of(plane, clock).cancel(where=session_id()) == 1
    assert "cancelled" in plane.handle(event).reason()


def test_injected_text_and_findings_reach_the_caller(store, clock):
    class Injects:
        name = "memory"
        on_error = "open"

        def decide(self, event, state):
            return Verdict(inject=(Inject("remember"),)), EMPTY

    outcome = plane_of(store, clock, Injects()).handle(EventBuilder().prompt())
    assert [part.text for part in outcome.inject] == ["remember"]
