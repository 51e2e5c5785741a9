"""Full access: announced, confirmed once, and lifting nothing but permission (MO1, MO2)."""

from holdfast.core.events import ApprovalAnswered, ModeChanged
from holdfast.core.messages import plain
from holdfast.core.policy import EMPTY
from holdfast.core.verdict import Finding, Verdict, merge
from holdfast.policies.modes import ModesPolicy
from holdfast.testing.builders import START, EventBuilder, session_id

POLICY = ModesPolicy()
FULL = {"mode": "full_access"}


def changed(to):
    return ModeChanged(id="m1", at=START, where=session_id(), to=to, by="local")


def answered(answer):
    return ApprovalAnswered(
        id="a1", at=START, where=session_id(), approval="p1", call_id="c1", answer=answer, by="local", policy="modes"
    )


def decisions(verdict):
    return [finding.decision for finding in verdict.findings]


def test_MO1_a_switch_shows_the_banner_and_needs_no_second_confirmation():
    verdict, state = POLICY.decide(changed("full_access"), EMPTY)
    assert "Full access is on" in verdict.warnings[0].text()
    assert "完全访问权限已开启" in verdict.warnings[0].text("zh")
    event = EventBuilder().calling("bash", command="ls", over=FULL)
    assert POLICY.decide(event, state)[0].findings == ()


def test_MO1_switching_back_is_announced_too():
    _, state = POLICY.decide(changed("full_access"), EMPTY)
    verdict, state = POLICY.decide(changed("agent"), state)
    assert "Full access is off" in verdict.warnings[0].text()
    assert state["confirmed"] is False


def test_MO1_full_access_by_default_is_announced_recorded_and_confirmed_at_the_first_message():
    build = EventBuilder()
    verdict, state = POLICY.decide(build.started(host="holdfast", **FULL), EMPTY)
    assert decisions(verdict) == ["allow"]
    assert verdict.warnings
    verdict, state = POLICY.decide(build.prompt("go", **FULL), state)
    assert decisions(verdict) == ["ask"]
    _, state = POLICY.decide(answered("once"), state)
    assert POLICY.decide(build.prompt("again", **FULL), state)[0].findings == ()
    assert POLICY.decide(build.calling("bash", command="ls", over=FULL), state)[0].findings == ()


def test_MO1_a_host_cannot_ask_at_a_message_so_the_first_call_asks():
    build = EventBuilder()
    _, state = POLICY.decide(build.started(host="claude-code", **FULL), EMPTY)
    assert POLICY.decide(build.prompt("go", **FULL), state)[0].findings == ()
    verdict, state = POLICY.decide(build.calling("read", path="a", over=FULL), state)
    assert decisions(verdict) == ["ask"]
    _, state = POLICY.decide(answered("once"), state)
    assert POLICY.decide(build.calling("read", path="a", over=FULL), state)[0].findings == ()


def test_MO1_a_refusal_keeps_asking_until_the_mode_is_changed():
    build = EventBuilder()
    _, state = POLICY.decide(build.started(host="holdfast", **FULL), EMPTY)
    _, state = POLICY.decide(answered("deny"), state)
    assert decisions(POLICY.decide(build.calling("bash", command="ls", over=FULL), state)[0]) == ["ask"]
    _, state = POLICY.decide(changed("agent"), state)
    assert POLICY.decide(build.calling("bash", command="ls"), state)[0].findings == ()


def test_MO1_the_confirmation_survives_a_resume():
    build = EventBuilder()
    _, state = POLICY.decide(changed("full_access"), EMPTY)
    verdict, state = POLICY.decide(build.started(source="resume", host="holdfast", **FULL), state)
    assert verdict.findings == ()


def test_MO1_an_unattended_run_is_announced_and_not_asked():
    build = EventBuilder()
    verdict, state = POLICY.decide(build.started(host="holdfast", interactive=False, **FULL), EMPTY)
    assert verdict.warnings
    event = build.calling("bash", command="ls", over={**FULL, "interactive": False})
    assert POLICY.decide(event, state)[0].findings == ()


def test_MO1_agent_mode_says_nothing():
    build = EventBuilder()
    assert POLICY.decide(build.started(), EMPTY)[0].findings == ()
    assert POLICY.decide(build.calling("bash", command="ls"), EMPTY)[0].findings == ()


def test_MO2_the_merge_lifts_permission_only():
    asked = {name: Finding(name, "ask", plain("?")) for name in ("permission", "context_gate", "modes", "doom_loop")}
    for name, finding in asked.items():
        merged = merge([Verdict((finding,))], "full_access")
        assert merged.decision == ("allow" if name == "permission" else "ask")
    hard = Finding("hard_limits", "deny", plain("!"), hard=True)
    assert merge([Verdict((hard,))], "full_access").decision == "deny"
    default = Finding("permission", "deny", plain("!"), by_default=True)
    assert merge([Verdict((default,))], "full_access").decision == "allow"
    assert merge([Verdict((default,))], "full_access").findings[0].lifted
    own = Finding("permission", "deny", plain("!"))
    assert merge([Verdict((own,))], "full_access").decision == "deny"
