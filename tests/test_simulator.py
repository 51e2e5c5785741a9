"""Replay of past decisions against edited rules (AU3)."""

import time

import pytest

from holdfast.audit_entries import audit_entries
from holdfast.core.messages import plain
from holdfast.core.outcome import from_merged
from holdfast.core.verdict import Finding
from holdfast.simulator import simulate
from judging import bench


def entry(judged, tool, event_id="e1", **tool_input):
    """What the plane would have written about a call."""
    event = judged.event(tool, **tool_input)
    (made,) = audit_entries(event, from_merged(judged.judge(tool, **tool_input), event_id))
    return {**made, "eventId": event_id}


def replay(before, after, tool, **tool_input):
    """The change between two sets of rules for one call, as (before, after), or None."""
    result = simulate([entry(before, tool, **tool_input)], after.index())
    assert result.replayed == 1
    return (result.changes[0].before, result.changes[0].after) if result.changes else None


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("read", {"path": "a.md"}),
        ("read", {"path": ".env"}),
        ("write", {"path": "/etc/x"}),
        ("bash", {"command": "git status && rm -rf x"}),
        ("bash", {"command": "git push $X"}),
        ("bash", {"command": "/opt/x/rm y"}),
        ("bash", {"command": "rm -rf /"}),
        ("mcp:github/x", {}),
        ("frobnicate", {}),
        ("web_fetch", {"url": "https://a.org"}),
    ],
)
@pytest.mark.parametrize("mode", ["agent", "full_access"])
@pytest.mark.parametrize("interactive", [True, False])
def test_AU3_the_same_rules_decide_the_same(tool, tool_input, mode, interactive):
    rules = ("allow bash git *", "deny bash rm *")
    judged = bench(*rules, mode=mode, interactive=interactive)
    assert replay(judged, bench(*rules), tool, **tool_input) is None


def test_AU3_edited_rules_change_the_decision():
    old = bench()
    assert replay(old, bench("allow bash git status *"), "bash", command="git status -s") == ("ask", "allow")
    assert replay(old, bench("allow bash git status *"), "bash", command="git status; rm x") is None
    assert replay(old, bench("deny read *.md"), "read", path="a.md") == ("allow", "deny")


def test_AU3_templates_that_need_proof_are_replayed_by_the_record():
    from holdfast.core.settings import PermissionSettings

    new = bench(settings=PermissionSettings(templates=("read-only-commands",)))
    assert replay(bench(), new, "bash", command="ls -la") == ("ask", "allow")
    assert replay(bench(), new, "bash", command="make") is None


def test_AU3_full_access_stays_full_access():
    judged = bench(mode="full_access")
    assert replay(judged, bench("deny bash make *"), "bash", command="make") == ("allow", "deny")
    assert replay(judged, bench("ask read *.md"), "read", path="a.md") is None


def test_AU3_what_another_policy_decided_stays_decided():
    recorded = entry(bench(), "write", path="a.md")
    gate = Finding("recovery_gate", "deny", plain("read the anchors first"))
    recorded = {**recorded, "decision": "deny", "findings": [*recorded["findings"], gate.to_dict()]}
    assert simulate([recorded], bench("allow edit **").index()).changes == []


def test_AU3_what_was_granted_for_a_while_counts_as_an_ask():
    recorded = entry(bench(), "bash", command="ls")
    rule = {**recorded["findings"][0]["rule"], "source": "approval", "decision": "allow"}
    granted = {**recorded["findings"][0], "decision": "allow", "rule": rule}
    recorded = {**recorded, "decision": "allow", "findings": [granted]}
    assert simulate([recorded], bench().index()).changes == []
    (change,) = simulate([recorded], bench("allow bash ls *").index()).changes
    assert (change.before, change.after) == ("ask", "allow")


def test_AU3_a_redacted_target_cannot_be_replayed_and_says_so():
    recorded = entry(bench(), "bash", event_id="e7", command="curl -H x https://a.org")
    hidden = {**recorded["accesses"][0], "target": "shell:curl -H [redacted:bearer] https://a.org"}
    result = simulate([{**recorded, "accesses": [hidden], "redacted": ["bearer"]}], bench().index())
    assert result.redacted == ["e7"]
    assert result.replayed == 0
    # a redaction elsewhere in the record is no hindrance
    assert simulate([{**recorded, "redacted": ["bearer"]}], bench().index()).replayed == 1


def test_AU3_records_of_another_form_are_counted_and_the_rest_goes_on():
    good = entry(bench(), "read", path="a.md")
    result = simulate([{**good, "eventId": "old", "accesses": [["read", "vault:/a"]]}, good], bench().index())
    assert result.unreadable == ["old"]
    assert result.replayed == 1


def test_AU3_only_tool_decisions_count_and_only_those_since():
    good = entry(bench(), "read", path="a.md")
    answers = {"eventId": "x", "decision": "allow", "timestamp": good["timestamp"]}
    assert simulate([answers, good], bench().index()).replayed == 1
    assert simulate([good], bench().index(), since=good["timestamp"] + 1).replayed == 0


def test_AU3_equal_changes_are_counted_together():
    entries = [entry(bench(), "read", event_id=f"e{n}", path="a.md") for n in range(3)]
    entries.append(entry(bench(), "read", event_id="e9", path="b.md"))
    result = simulate(entries, bench("deny read *.md").index())
    assert [(count, change.target) for count, change in result.grouped()] == [(3, "vault:/a.md"), (1, "vault:/b.md")]
    assert result.totals() == {("allow", "deny"): 4}
    assert result.to_dict()["changed"] == 4


@pytest.mark.full
def test_AU3_a_hundred_thousand_records_take_under_thirty_seconds():
    kinds = [
        entry(bench(), "read", path="src/a.py"),
        entry(bench(), "bash", command="git status && npm test"),
        entry(bench(), "write", path="/etc/x"),
        entry(bench(), "bash", command="cat a.md | grep x > out.txt"),
    ]

    def entries():
        for number in range(100_000):
            kind = kinds[number % len(kinds)]
            access = {**kind["accesses"][0], "target": f"{kind['accesses'][0]['target']}{number}"}
            yield {**kind, "eventId": f"e{number}", "accesses": [access, *kind["accesses"][1:]]}

    told = []
    rules = bench(*(f"ask read vault:**/x{number}/*" for number in range(1000)), "deny read *.py").index()
    started = time.perf_counter()
    result = simulate(entries(), rules, progress=told.append)
    took = time.perf_counter() - started
    assert result.replayed == 100_000
    assert len(told) > 50
    assert took < 30, f"{took:.1f} s"
