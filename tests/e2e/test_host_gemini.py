"""Holdfast inside the real Gemini CLI: what only this host has."""

from __future__ import annotations

import pytest

from e2e.attached import ALLOW_BASH, config
from e2e.installed_clis import requires_cli
from holdfast.testing import Script, ToolUse, Turn

pytestmark = [pytest.mark.e2e, requires_cli("gemini")]

DENY_SECRET = '{ "domain": "edit", "pattern": "vault:/secret/**", "decision": "deny" }'
ANCHOR = "memory-bank/details/progress.md"


def test_MB9_the_recovery_gate_holds_through_a_real_compression(attached):
    """The host tells nothing of it: it is concluded from the snapshot that the model is sent."""
    kit = attached("gemini", config(ALLOW_BASH))
    kit.remember()
    filler = " ".join(str(number) for number in range(500))
    kit.play(kit.read(ANCHOR), filler, kit.write("early.py"), kit.read(ANCHOR), kit.write("late.py"), "done")
    kit.run("begin")
    kit.host.edit_settings(model={"name": "gemini-2.5-flash", "compressionThreshold": 0.0005})
    run = kit.host.run("go on", arguments=["--resume", "latest"])
    assert run.exit_code == 0, run.explain()
    after = kit.requests[2]
    assert "SNAPSHOT" in after.transcript
    assert "<memory-bank-anchors>" in after.transcript, "in the very next request"
    assert f"- {ANCHOR}" in after.transcript
    assert "REMEMBER THIS" in after.transcript
    refused = kit.requests[3].result_of("call_3_1")
    assert "[Recovery Gate]" in refused
    assert not (kit.workspace / "early.py").exists()
    assert (kit.workspace / "late.py").exists()
    assert "<memory-bank-anchors>" in kit.requests[3].transcript, "until they were read"
    assert "<memory-bank-anchors>" not in kit.requests[4].transcript, "and no longer"
    compacted = kit.it.events("compacted")
    assert [record.data["inferred"] for record in compacted] == [True]
    assert len(kit.it.sessions()) == 1


@pytest.mark.full
def test_a_sub_agent_is_denied_too_and_its_requests_are_no_compression(attached):
    kit = attached("gemini", config(DENY_SECRET))
    done = {"result": "child done", "response": "child done"}
    child = Script(
        kit.write("secret/a.py"),
        then=Turn(tool_calls=(ToolUse("complete_task", done),)),
        call_id_prefix="child",
    )
    task = {"agent_name": "generalist", "prompt": "CHILD TASK"}
    parent = Script(Turn(tool_calls=(ToolUse("invoke_agent", task),)), "done", call_id_prefix="parent")
    kit.later.choose = lambda request: child if "complete_task" in request.tools else parent
    kit.run("delegate")
    assert not (kit.workspace / "secret").exists()
    assert ("write", "deny") in kit.it.decisions()
    assert kit.it.events("compacted") == []


@pytest.mark.full
def test_equal_calls_of_one_turn_are_told_apart(attached):
    kit = attached("gemini", config(ALLOW_BASH))
    kit.play(kit.bash("date +%N", "date +%N", "date +%N"), "done")
    kit.run()
    before = [record.data["call"]["id"] for record in kit.it.events("tool_calling")]
    after = [record.data["call"]["id"] for record in kit.it.events("tool_called")]
    assert len(set(before)) == 3
    assert sorted(before) == sorted(after)
