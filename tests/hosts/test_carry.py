"""What a host cannot do is downgraded in one place, aloud (HO3)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.messages import plain
from holdfast.core.outcome import Outcome
from holdfast.core.policy import Capabilities
from holdfast.core.verdict import Finding, Inject
from holdfast.hosts.carry import Kept, carry, fitted, together
from holdfast.hosts.host import Answer
from holdfast.hosts.registry import HOSTS


def able(*abilities, limit=None):
    return Capabilities("somehost", {"tool_calling": frozenset(abilities)}, inject_limit=limit)


def outcome(decision="allow", **fields):
    finding = Finding("permission", decision, plain("because"))
    return Outcome(decision, "e1", (finding,), finding, **fields)


def carried(abilities, what, waiting=None, kind="tool_calling"):
    return carry(abilities, kind, what, "en", waiting)


def test_HO3_a_changed_input_that_cannot_run_is_denied_and_says_so():
    answer, _ = carried(able("block"), outcome(input={"a": 1}))
    assert not answer.allowed
    assert "somehost cannot run a changed call" in answer.reason
    answer, _ = carried(able("block", "rewrite_input"), outcome(input={"a": 1}))
    assert answer.allowed
    assert answer.input == {"a": 1}


def test_HO3_a_deny_that_cannot_be_carried_out_is_said_aloud():
    answer, _ = carried(able("warn_user"), outcome("deny"))
    assert answer.allowed
    assert "cannot stop this here" in answer.notice
    assert "because" in answer.notice


def test_HO3_a_warning_goes_to_the_model_where_the_person_cannot_be_reached():
    what = outcome(warnings=(plain("careful"),))
    answer, kept = carried(able("block", "warn_user", "inject"), what)
    assert (answer.notice, answer.context) == ("careful", "")
    answer, kept = carried(able("block", "inject"), what)
    assert (answer.notice, answer.context) == ("", "careful")
    assert not kept


def test_HO3_what_can_go_nowhere_waits_for_the_next_event():
    what = outcome(warnings=(plain("careful"),), inject=(Inject("remember"),))
    answer, kept = carried(able("block"), what)
    assert (answer.notice, answer.context) == ("", "")
    assert kept == Kept(context=("remember",), notice=("careful",))
    answer, kept = carried(able("block", "inject", "warn_user"), outcome(), kept)
    assert (answer.notice, answer.context) == ("careful", "remember")
    assert not kept


def test_a_finding_on_what_has_run_is_no_refusal():
    abilities = Capabilities("h", {"tool_called": frozenset({"replace_output", "warn_user"})})
    answer, _ = carried(abilities, outcome("deny", output="cut", warnings=(plain("a loop"),)), kind="tool_called")
    assert answer.allowed
    assert (answer.output, answer.notice) == ("cut", "a loop")


def test_the_language_is_the_persons():
    from holdfast.hosts.carry import CANNOT_REWRITE

    answer, _ = carry(able("block"), "tool_calling", outcome(input={"a": 1}), "zh")
    assert answer.reason == CANNOT_REWRITE(host="somehost").text("zh")


@given(st.lists(st.text(max_size=400), max_size=4), st.integers(120, 900))
def test_what_is_said_fits_and_keeps_every_short_part(parts, limit):
    text = fitted(parts, limit)
    assert len(text) <= limit
    if sum(map(len, parts)) + 2 * len(parts) <= limit:
        assert all(part in text for part in parts)


def test_a_block_that_is_cut_still_closes():
    memory = "<memory-bank>\n" + "line\n" * 5000 + "</memory-bank>"
    anchors = "<memory-bank-anchors>\n- a.md\n</memory-bank-anchors>"
    text = fitted([anchors, memory], 9000)
    assert len(text) <= 9000
    assert anchors in text
    assert text.endswith("</memory-bank>")
    assert "[cut here" in text


def test_several_answers_become_one_and_the_refusal_wins():
    first = Answer("tool_called", context="a", output="x")
    second = Answer("tool_calling", allowed=False, reason="no", notice="n", context="a")
    whole = together([first, second])
    assert not whole.allowed
    assert (whole.reason, whole.context, whole.notice) == ("no", "a", "n")


def test_HO3_no_host_claims_at_an_event_what_its_adapter_does_not_render(host):
    """A capability is a promise: whatever is claimed must show up in the answer."""
    it = HOSTS[host]
    payloads = {
        "claude-code": {"hook_event_name": "PreToolUse", "tool_name": "Bash"},
        "codex": {"hook_event_name": "PreToolUse", "tool_name": "Bash"},
        "gemini": {"hook_event_name": "BeforeTool", "tool_name": "run_shell_command"},
        "opencode": {"hook": "tool.execute.before", "tool": "bash"},
    }
    full = Answer("tool_calling", input={"command": "new"}, context="CONTEXT", notice="NOTICE")
    out = it.render(payloads[host], full).out.decode()
    assert "new" in out
    assert ("NOTICE" in out) == it.capabilities.can("warn_user", "tool_calling")
    assert ("CONTEXT" in out) == it.capabilities.can("inject", "tool_calling") or host == "opencode"
    assert "because" in it.render(payloads[host], Answer("tool_calling", allowed=False, reason="because")).out.decode()
