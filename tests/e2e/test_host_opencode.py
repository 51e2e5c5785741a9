"""Holdfast inside the real OpenCode: what only this host has."""

from __future__ import annotations

import pytest

from e2e.attached import ALLOW_BASH, config
from e2e.installed_clis import requires_cli
from holdfast.testing import Script, ToolUse, Turn

pytestmark = [pytest.mark.e2e, requires_cli("opencode")]

DENY_SECRET = '{ "domain": "edit", "pattern": "vault:/secret/**", "decision": "deny" }'
ANCHOR = "memory-bank/details/progress.md"


def test_MB9_the_recovery_gate_holds_through_a_real_compaction(attached):
    kit = attached("opencode")
    kit.remember()
    kit.play(kit.read(ANCHOR), "first", kit.write("early.py"), kit.read(ANCHOR), kit.write("late.py"), "done")
    kit.run("begin")
    kit.serve.summarize(kit.session)
    kit.serve.prompt(kit.session, "go on")
    after = kit.requests[2]
    assert "SUMMARY" in after.transcript
    assert "<memory-bank-anchors>" in after.transcript
    assert f"- {ANCHOR}" in after.transcript
    assert "REMEMBER THIS" in after.system
    refused = kit.requests[3].result_of("call_3_1")
    assert "[Recovery Gate]" in refused
    assert f'read({{ filePath: "{ANCHOR}" }})' in refused
    assert not (kit.workspace / "early.py").exists()
    assert (kit.workspace / "late.py").exists()
    assert [record.kind for record in kit.it.events("compacting", "compacted")] == ["compacting", "compacted"]
    assert [record.text for record in kit.it.events("prompt_submitted")] == ["begin", "go on"]


def test_sub_agents_are_denied_too_and_only_the_writer_writes_the_memory_bank(attached):
    kit = attached("opencode", config(DENY_SECRET))
    kit.remember()
    note = "memory-bank/details/notes.md"

    def choose(request):
        if "CHILD" not in request.last_user_text:
            return parent
        return writer if "WRITER" in request.last_user_text else child

    def task(kind, prompt):
        arguments = {"description": "d", "prompt": prompt, "subagent_type": kind}
        return Turn(tool_calls=(ToolUse("task", arguments),))

    parent = Script(
        task("general", "CHILD"), task("memory-bank-writer", "CHILD WRITER"), "done", call_id_prefix="parent"
    )
    child = Script(kit.write("secret/a.py", note), "child done", call_id_prefix="child")
    writer = Script(kit.write(note), "written", call_id_prefix="writer")
    kit.later.choose = choose
    kit.run("delegate")
    assert not (kit.workspace / "secret").exists()
    assert (kit.workspace / note).exists(), "the agent that attach installed may"
    by = [(entry["subagent"].partition("#")[0], entry["decision"]) for entry in kit.it.audit() if "tool" in entry]
    assert by.count(("general", "deny")) == 2
    assert ("memory-bank-writer", "allow") in by


def test_DL3_failed_and_unknown_calls_reach_the_loop_detector(attached):
    kit = attached("opencode", config(ALLOW_BASH))
    missing = Turn(tool_calls=(ToolUse("read", {"filePath": str(kit.workspace / "nowhere.txt")}),))
    unknown = Turn(tool_calls=(ToolUse("nosuch", {"a": 1}),))
    kit.play(missing, kit.bash("exit 3"), unknown, "done")
    kit.run()
    assert kit.it.wait_for(lambda: len(kit.it.events("tool_called")) >= 3)
    failed = {record.tool: record.data["result"]["failed"] for record in kit.it.events("tool_called")}
    assert failed["read"] is True
    assert failed["bash"] is True


def test_SC2_the_fill_is_measured(attached):
    kit = attached("opencode")
    kit.play("hello")
    kit.run()
    assert kit.it.wait_for(lambda: kit.it.events("context_measured"))
    measured = kit.it.events("context_measured")[-1].data
    assert (measured["used"], measured["window"], measured["exact"]) == (120, 100_000, True)


@pytest.mark.full
def test_a_run_without_a_server_is_watched_too(attached):
    kit = attached("opencode", config(DENY_SECRET))
    kit.play(kit.write("a.py", "secret/b.py"), "done")
    run = kit.host.run("write")
    assert run.exit_code == 0, run.explain()
    assert (kit.workspace / "a.py").exists()
    assert not (kit.workspace / "secret").exists()
