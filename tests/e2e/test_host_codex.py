"""Holdfast inside the real Codex: what only this host has."""

from __future__ import annotations

import json
import subprocess

import pytest

from e2e.attached import ALLOW_BASH, config
from e2e.installed_clis import requires_cli
from holdfast.hosts.attach.codex import hook_groups, trust
from holdfast.testing import Script, ToolUse, Turn, Usage

pytestmark = [pytest.mark.e2e, requires_cli("codex")]

DENY_SECRET = '{ "domain": "edit", "pattern": "vault:/secret/**", "decision": "deny" }'
ANCHOR = "memory-bank/details/progress.md"


def test_MB9_the_recovery_gate_holds_through_a_real_compaction(attached):
    kit = attached("codex", config(ALLOW_BASH, strategy='{ "strategy": "compress" }'))
    kit.remember()
    kit.host.prepend_config("model_auto_compact_token_limit = 5000")
    full = Turn(tool_calls=kit.read(ANCHOR).tool_calls, usage=Usage(input_tokens=6000))
    kit.play(full, kit.write("early.py"), kit.read(ANCHOR), kit.write("late.py"), "done")
    kit.run()
    assert [request.side for request in kit.server.all_requests][:3] == [None, "summary", None]
    after = kit.requests[1]
    assert "<memory-bank-anchors>" in after.transcript, "in the very next request"
    assert f"- {ANCHOR}" in after.transcript
    assert "REMEMBER THIS" in after.transcript
    refused = kit.requests[2].result_of("call_2_1")
    assert "[Recovery Gate]" in refused
    assert f'cat "{ANCHOR}"' in refused
    assert not (kit.workspace / "early.py").exists()
    assert (kit.workspace / "late.py").exists()
    assert [record.kind for record in kit.it.events("compacting", "compacted")] == ["compacting", "compacted"]


def test_SC10_a_full_session_is_sealed_instead_of_compressed_and_the_next_one_is_told(attached):
    kit = attached("codex", config(ALLOW_BASH))
    kit.host.prepend_config("model_auto_compact_token_limit = 5000")
    full = Turn(text="working on it", tool_calls=kit.bash("echo a").tool_calls, usage=Usage(input_tokens=6000))
    kit.play(full, "hello again")
    first = kit.host.run("build the bridge")
    assert [request.side for request in kit.server.all_requests] == [None], first.explain()
    (session,) = kit.it.sessions()
    second = kit.host.run("go on")
    assert second.exit_code == 0, second.explain()
    sealed, fresh = (kit.it.control.store.session(name) for name in kit.it.sessions())
    assert (sealed.id.session, sealed.state) == (session, "sealed")
    assert (fresh.id.key, fresh.number) == (sealed.id.key, 2), "the new conversation goes on with the thread"
    told = kit.requests[-1].transcript
    assert "<holdfast-session>" in told
    assert "build the bridge" in told
    assert "working on it" in told


def test_a_sub_agent_is_denied_too_and_known_by_its_name(attached):
    kit = attached("codex", config(DENY_SECRET, ALLOW_BASH))
    task = {"message": "CHILD TASK", "task_name": "kid", "agent_type": "explorer", "fork_turns": "none"}
    first = []

    def choose(request):
        first.append(request.conversation)
        return parent if request.conversation == first[0] else child

    spawn = Turn(tool_calls=(ToolUse("spawn_agent", task, namespace="collaboration"),))
    wait = Turn(tool_calls=(ToolUse("wait_agent", {"timeout_ms": 8000}, namespace="collaboration"),))
    parent = Script(spawn, wait, "done", then="done", call_id_prefix="parent")
    child = Script(kit.write("secret/a.py"), kit.bash("touch by_child"), "child done", then="x", call_id_prefix="child")
    kit.later.choose = choose
    run = kit.host.run("delegate", arguments=["--enable", "multi_agent_v2"])
    assert run.exit_code == 0, run.explain()
    assert kit.it.wait_for(lambda: any(entry["decision"] == "deny" for entry in kit.it.audit()))
    assert not (kit.workspace / "secret").exists()
    denied = [entry for entry in kit.it.audit() if entry["decision"] == "deny"]
    assert [entry["subagent"].partition("#")[0] for entry in denied] == ["explorer"]


def test_typing_into_a_running_terminal_is_closed(attached):
    """The hole that `write_stdin` is: without a terminal there is nothing to type into."""
    kit = attached("codex", config(ALLOW_BASH))
    start = Turn(tool_calls=(ToolUse("exec_command", {"cmd": "bash", "tty": True, "yield_time_ms": 300}),))

    def typed(request):
        words = request.result_of("call_1_1").split()
        session = int(words[words.index("ID") + 1]) if "ID" in words and "session" in words else 1
        chars = {"session_id": session, "chars": "touch hidden; exit\n", "yield_time_ms": 1000}
        return Turn(tool_calls=(ToolUse("write_stdin", chars),))

    kit.play(start, typed, "done")
    kit.run()
    assert not (kit.workspace / "hidden").exists(), kit.requests[-1].tool_results


def test_HO2_codex_itself_says_that_our_hooks_are_trusted(attached):
    kit = attached("codex")
    program = kit.host.program("node_modules/@openai/codex-*/vendor/*/bin/codex")
    hooks = kit.host.codex_home / "hooks.json"
    said = _hooks_list(program, kit.host.environment(), str(kit.workspace))
    ours = {hook["key"]: hook["currentHash"] for hook in said if hook["sourcePath"] == str(hooks)}
    assert ours == trust(hooks, json.loads(hooks.read_text()))
    assert {hook["trustStatus"] for hook in said} == {"trusted"}
    assert len(ours) == len(hook_groups(kit.it.spec))


def _hooks_list(program, environment, cwd):
    initialize = {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "0"}}}
    ask = {"id": 2, "method": "hooks/list", "params": {"cwds": [cwd]}}
    messages = [initialize, {"method": "initialized"}, ask]
    with subprocess.Popen(
        [program, "app-server"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            server.stdin.write("".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages))
            server.stdin.flush()
            for line in server.stdout:
                answer = json.loads(line)
                if answer.get("id") == 2:
                    return answer["result"]["data"][0]["hooks"]
        finally:
            server.kill()
    raise AssertionError("codex app-server did not answer")
