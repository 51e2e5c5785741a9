from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.messages import plain
from holdfast.core.outcome import Outcome, from_merged
from holdfast.core.verdict import Finding, Verdict, apply_mode, merge, weight

decisions = st.sampled_from(["allow", "ask", "deny"])
policies = st.sampled_from(["permission", "hard_limits", "recovery_gate", "doom_loop"])


@st.composite
def findings(draw):
    decision = draw(decisions)
    return Finding(
        policy=draw(policies),
        decision=decision,
        why=plain(draw(st.text(max_size=20))),
        hard=decision == "deny" and draw(st.booleans()),
        by_default=draw(st.booleans()),
    )


verdicts = st.lists(st.builds(lambda f: Verdict(findings=tuple(f)), st.lists(findings(), max_size=4)), max_size=6)


@given(verdicts)
def test_the_strictest_finding_decides(given_verdicts):
    merged = merge(given_verdicts)
    every = [f for v in given_verdicts for f in v.findings]
    assert list(merged.findings) == every
    if not every:
        assert (merged.decision, merged.deciding) == ("allow", None)
    else:
        assert weight(merged.deciding) == max(map(weight, every))
        assert merged.decision == merged.deciding.decision


@given(verdicts)
def test_order_of_policies_never_changes_the_decision(given_verdicts):
    assert merge(given_verdicts).decision == merge(list(reversed(given_verdicts))).decision


@given(verdicts)
def test_PE9_nobody_to_ask_means_deny_and_never_ask(given_verdicts):
    attended, alone = merge(given_verdicts), merge(given_verdicts, interactive=False)
    assert alone.decision == ("deny" if attended.decision == "ask" else attended.decision)
    if attended.decision == "ask":
        assert "Nobody can be asked" in from_merged(alone, "e").reason()


@given(findings())
def test_MO2_full_access_lifts_only_permissions_own_asks_and_default_denies(finding):
    lifted = apply_mode(finding, "full_access")
    may = finding.policy == "permission" and not finding.hard
    may = may and (finding.decision == "ask" or (finding.decision == "deny" and finding.by_default))
    assert lifted.lifted is may
    assert lifted.decision == ("allow" if may else finding.decision)
    assert apply_mode(finding, "agent") is finding


@given(verdicts)
def test_MO2_full_access_never_lifts_a_hard_limit_or_a_gate(given_verdicts):
    merged = merge(given_verdicts, "full_access")
    if any(f.hard or (f.decision == "deny" and f.policy != "permission") for v in given_verdicts for f in v.findings):
        assert merged.decision == "deny"


@given(verdicts, st.sampled_from(["en", "zh"]))
def test_an_outcome_survives_being_written_down(given_verdicts, language):
    outcome = from_merged(merge(given_verdicts), "e1")
    again = Outcome.from_dict(outcome.to_dict())
    assert again.decision == outcome.decision
    assert again.reason(language) == outcome.reason(language)
    assert [f.decision for f in again.findings] == [f.decision for f in outcome.findings]
    assert again.again
