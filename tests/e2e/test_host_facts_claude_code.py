"""What our Claude Code adapter builds on, seen on the real CLI with plain hooks of a few lines."""

from __future__ import annotations

import json

import pytest

from e2e.cli_hosts import ClaudeCode
from e2e.installed_clis import requires_cli
from e2e.raw_http import raw_http_server
from holdfast.testing import AnthropicServer, Script, ToolUse, Turn, Usage
from holdfast.testing.http_base import HttpCall, LoopbackListener, PlainAnswer

pytestmark = [pytest.mark.e2e, requires_cli("claude-code")]


def pre_tool_use(**fields):
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}


def deny(reason):
    return pre_tool_use(permissionDecision="deny", permissionDecisionReason=reason)


def post_tool_use(output):
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}}


def install(host, handler, *events):
    host.settings.write_text(json.dumps({"hooks": {event: [{"hooks": [handler]}] for event in events}}))


def command(hook, **more):
    return {"type": "command", "command": hook.command, **more}


def bash(*commands):
    return Turn(tool_calls=tuple(ToolUse("Bash", {"command": command}) for command in commands))


def write(host, *names):
    calls = (ToolUse("Write", {"file_path": str(host.workspace / name), "content": "x"}) for name in names)
    return Turn(tool_calls=tuple(calls))


def files(host):
    return sorted(path.name for path in host.workspace.iterdir())


def test_a_hook_is_asked_before_each_call_and_can_deny_it(tmp_path, hook):
    hook.answer("PreToolUse", deny("keep out"), containing="by_json.txt")
    hook.answer("PreToolUse", exit_code=2, stderr="out with you", containing="by_exit.txt")
    script = Script(lambda _: write(host, "by_json.txt", "by_exit.txt", "allowed.txt"), "done")
    with AnthropicServer(script) as server:
        host = ClaudeCode(tmp_path, server.url)
        install(host, command(hook), "SessionStart", "PreToolUse", "PostToolUse", "Stop")
        run = host.run("write")

    assert files(host) == ["allowed.txt"], run.explain()
    results = server.requests[-1].tool_results
    assert results["call_1_1"] == "PreToolUse:Write hook error: keep out"
    assert results["call_1_2"].endswith("out with you")
    asked = hook.seen("PreToolUse")
    assert [payload["tool_use_id"] for payload in asked] == ["call_1_1", "call_1_2", "call_1_3"]
    assert {"session_id", "transcript_path", "cwd", "prompt_id", "permission_mode"} <= set(asked[0])
    assert asked[0]["tool_input"] == {"file_path": str(host.workspace / "by_json.txt"), "content": "x"}
    assert asked[0]["transcript_path"] == str(run.transcript)
    assert [payload["tool_use_id"] for payload in hook.seen("PostToolUse")] == ["call_1_3"]
    assert hook.seen("SessionStart")[0]["source"] == "startup"
    assert hook.seen("Stop")[0]["last_assistant_message"] == "done"


def test_deny_holds_when_permissions_are_bypassed(tmp_path, hook):
    hook.answer("PreToolUse", deny("keep out"))
    with AnthropicServer(Script(lambda _: write(host, "a.txt"), "done")) as server:
        host = ClaudeCode(tmp_path, server.url)
        host.permission_mode = "bypassPermissions"
        install(host, command(hook), "PreToolUse")
        run = host.run("write")
    assert run.exit_code == 0, run.explain()
    assert hook.seen("PreToolUse")[0]["permission_mode"] == "bypassPermissions"
    assert files(host) == []


def test_ask_without_a_terminal_is_a_deny_with_the_reason(tmp_path, hook):
    hook.answer("PreToolUse", pre_tool_use(permissionDecision="ask", permissionDecisionReason="who knows"))
    with AnthropicServer(Script(lambda _: write(host, "a.txt"), "done")) as server:
        host = ClaudeCode(tmp_path, server.url)
        install(host, command(hook), "PreToolUse", "PermissionRequest")
        host.run("write")
    assert files(host) == []
    assert "who knows" in server.requests[-1].result_of("call_1_1")
    assert hook.seen("PermissionRequest") == []


def test_input_can_be_rewritten_and_context_added(tmp_path, hook):
    rewrite = pre_tool_use(permissionDecision="allow", updatedInput={"command": "echo rewritten"})
    hook.answer("PreToolUse", rewrite, containing="echo original")
    hook.answer("PreToolUse", pre_tool_use(additionalContext="CONTEXT FROM HOOK"), containing="echo other")
    with AnthropicServer(Script(bash("echo original", "echo other"), "done")) as server:
        host = ClaudeCode(tmp_path, server.url)
        install(host, command(hook), "PreToolUse", "PostToolUse", "PostToolBatch")
        host.run("run")
    last = server.requests[-1]
    assert last.tool_results == {"call_1_1": "rewritten", "call_1_2": "other"}
    assert "CONTEXT FROM HOOK" in last.transcript
    after = {payload["tool_use_id"]: payload for payload in hook.seen("PostToolUse")}
    assert after["call_1_1"]["tool_input"] == {"command": "echo rewritten"}
    batch = hook.seen("PostToolBatch")[0]["tool_calls"]
    assert batch[0]["tool_input"] == {"command": "echo original"}, "the batch shows what the model sent"


def test_output_is_replaced_only_in_the_tools_own_shape(tmp_path, hook):
    hook.answer("PostToolUse", post_tool_use({"stdout": "NEW", "stderr": "", "interrupted": False}), containing="one")
    hook.answer("PostToolUse", post_tool_use("NEW"), containing="two")
    with AnthropicServer(Script(bash("echo one", "echo two"), "done")) as server:
        host = ClaudeCode(tmp_path, server.url)
        install(host, command(hook), "PostToolUse")
        run = host.run("run")
    assert server.requests[-1].tool_results == {"call_1_1": "NEW", "call_1_2": "two"}
    assert '"NEW"' in run.transcript.read_text(), "the transcript's copy is replaced too"


def test_failed_and_unknown_calls_are_seen_where_the_facts_say(tmp_path, hook):
    calls = (
        ToolUse("Bash", {"command": "exit 3"}),
        ToolUse("NoSuchTool", {"a": 1}),
        ToolUse("Edit", {"file_path": "/no/such", "old_string": "a", "new_string": "b"}),
        ToolUse("Read", {"wrong": True}),
    )
    with AnthropicServer(Script(Turn(tool_calls=calls), "done")) as server:
        host = ClaudeCode(tmp_path, server.url)
        install(host, command(hook), "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch")
        host.run("run")
    assert [payload["tool_name"] for payload in hook.seen("PreToolUse")] == ["Bash"]
    assert [payload["error"] for payload in hook.seen("PostToolUseFailure")] == ["Exit code 3"]
    batch = hook.seen("PostToolBatch")[0]["tool_calls"]
    assert [call["tool_name"] for call in batch] == ["Bash", "NoSuchTool", "Edit", "Read"]
    assert hook.seen("PostToolUse") == []


BROKEN = [
    ("crash", {"exit_code": 1, "stderr": "Traceback"}, "blocked"),
    ("timeout", {"delay": 20}, "blocked"),
    ("wrong_schema", {"reply": {"hookSpecificOutput": 7}}, "blocked"),
    ("invalid", {"reply": "{nonsense}"}, "blocked"),
    # The holes: only what looks like a whole object is taken for an answer, and the rest for harmless words.
    ("truncated", {"reply": '{"hookSpecificOutput": {"permissionDec'}, "passes"),
    ("no_object", {"reply": "[1, 2]"}, "passes"),
    ("words", {"reply": "this is no JSON"}, "passes"),
    ("nothing", {}, "passes"),
]


@pytest.mark.parametrize(("name", "answer", "with_block"), BROKEN, ids=[name for name, *_ in BROKEN])
@pytest.mark.parametrize("on_failure", [None, "block"])
def test_a_broken_hook_fails_open_unless_it_says_block(tmp_path, hook, name, answer, with_block, on_failure):
    hook.answer("PreToolUse", **answer)
    more = {"timeout": 1} | ({"onFailure": on_failure} if on_failure else {})
    with AnthropicServer(Script(lambda _: write(host, "a.txt"), "done")) as server:
        host = ClaudeCode(tmp_path, server.url)
        install(host, command(hook, **more), "PreToolUse")
        run = host.run("write")
    passes = on_failure is None or with_block == "passes"
    assert files(host) == (["a.txt"] if passes else []), run.explain()


def test_http_hooks_decide_and_block_when_nobody_listens(tmp_path):
    asked = []

    def answer(call: HttpCall) -> PlainAnswer:
        asked.append((call.headers.get("x-token"), call.body["tool_input"]["file_path"]))
        return PlainAnswer(deny("said over http") if "denied" in str(call.body) else {})

    listener = LoopbackListener(answer)
    handler = {
        "type": "http",
        "url": f"{listener.url}/hook",
        "headers": {"X-Token": "$HOOK_TOKEN"},
        "allowedEnvVars": ["HOOK_TOKEN"],
        "onFailure": "block",
        "timeout": 5,
    }
    script = Script(
        lambda _: write(host, "denied.txt", "allowed.txt"), "done", lambda _: write(host, "late.txt"), "done"
    )
    with AnthropicServer(script) as server:
        host = ClaudeCode(tmp_path, server.url)
        host.extra_environment["HOOK_TOKEN"] = "t0ken"
        install(host, handler, "PreToolUse")
        host.run("write")
        assert files(host) == ["allowed.txt"]
        assert "said over http" in server.requests[1].result_of("call_1_1")
        assert asked[0] == ("t0ken", str(host.workspace / "denied.txt"))
        listener.stop()
        host.run("write more")
    assert files(host) == ["allowed.txt"], "a refused connection blocks"


BROKEN_HTTP = [
    ("error", {"body": b"{}", "status": 500}, "blocked"),
    ("slow", {"body": b"{}", "delay": 20}, "blocked"),
    ("invalid", {"body": b"{nonsense}"}, "blocked"),
    ("truncated", {"body": b'{"hookSpecificOutput": {"permissionDec'}, "blocked"),
    ("words", {"body": b"this is no JSON"}, "blocked"),
    ("nothing", {"body": b""}, "passes"),
]


@pytest.mark.parametrize(("name", "answer", "with_block"), BROKEN_HTTP, ids=[name for name, *_ in BROKEN_HTTP])
def test_a_broken_http_hook_that_says_block(tmp_path, name, answer, with_block):
    script = Script(lambda _: write(host, "a.txt"), "done")
    with raw_http_server(**answer) as url, AnthropicServer(script) as server:
        host = ClaudeCode(tmp_path, server.url)
        install(host, {"type": "http", "url": url, "onFailure": "block", "timeout": 1}, "PreToolUse")
        run = host.run("write")
    assert files(host) == (["a.txt"] if with_block == "passes" else []), run.explain()


def test_compaction_fires_in_the_order_the_facts_say(tmp_path, hook):
    inject = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "ANCHORS"}}
    hook.answer("SessionStart", inject, containing='"compact"')
    events = ("SessionStart", "PreCompact", "PostCompact", "SubagentStop", "UserPromptSubmit")
    with AnthropicServer(Script("hello", "after"), side_reply={"summary": "<summary>SUMMARY</summary>"}) as server:
        host = ClaudeCode(tmp_path, server.url)
        install(host, command(hook), *events)
        first = host.run("hi")
        session = first.events[0]["session_id"]
        before = len(hook.seen())
        host.run("/compact", arguments=["--resume", session])
        fired = [payload["hook_event_name"] for payload in hook.seen()[before:]]
        host.run("go on", arguments=["--resume", session])
    assert fired == ["SessionStart", "PreCompact", "SubagentStop", "SessionStart", "PostCompact"]
    sources = [payload["source"] for payload in hook.seen("SessionStart")]
    assert sources == ["startup", "resume", "compact", "resume"]
    assert {payload["session_id"] for payload in hook.seen()} == {session}
    assert hook.seen("PreCompact")[0]["trigger"] == "manual"
    assert "SUMMARY" in hook.seen("PostCompact")[0]["compact_summary"]
    assert [request.side for request in server.side_requests] == ["summary"]
    assert "ANCHORS" in server.requests[-1].transcript
    assert "SUMMARY" in server.requests[-1].transcript


@pytest.mark.parametrize(("rounds_before", "compacts"), [(0, False), (1, True)])
def test_a_precompact_is_no_proof_of_a_compaction(tmp_path, hook, rounds_before, compacts):
    """Reported usage forces it; with a single round there is nothing to compact, yet PreCompact has fired."""
    full = Turn(tool_calls=(ToolUse("Bash", {"command": "echo full"}),), usage=Usage(input_tokens=90_000))
    with AnthropicServer(Script(*[bash("echo before")] * rounds_before, full, "done")) as server:
        host = ClaudeCode(tmp_path, server.url)
        host.extra_environment["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "100000"
        install(host, command(hook), "PreCompact", "PostCompact", "SessionStart")
        run = host.run("hi")
    assert run.exit_code == 0, run.explain()
    assert [payload["trigger"] for payload in hook.seen("PreCompact")] == ["auto"]
    after = ["compact"] if compacts else []
    assert [payload["source"] for payload in hook.seen("SessionStart")] == ["startup", *after]
    assert len(hook.seen("PostCompact")) == len(server.side_requests) == len(after)


def test_hooks_hold_in_sub_agents_and_name_them(tmp_path, hook):
    hook.answer("PreToolUse", deny("not you either"), containing="from_child.txt")

    def choose(request):
        return child if "/" in request.conversation else parent

    task = {"description": "d", "prompt": "write it", "subagent_type": "general-purpose", "run_in_background": False}
    parent = Script(Turn(tool_calls=(ToolUse("Agent", task),)), "done", then="done", call_id_prefix="parent")
    child = Script(lambda _: write(host, "from_child.txt"), "child done", call_id_prefix="child")
    with AnthropicServer(choose) as server:
        host = ClaudeCode(tmp_path, server.url)
        install(host, command(hook), "PreToolUse", "SubagentStart", "SubagentStop")
        run = host.run("delegate")
    assert run.exit_code == 0, run.explain()
    assert files(host) == []
    by_call = {payload["tool_use_id"]: payload for payload in hook.seen("PreToolUse")}
    assert "agent_id" not in by_call["parent_1_1"]
    assert by_call["child_1_1"]["agent_type"] == "general-purpose"
    assert by_call["child_1_1"]["session_id"] == by_call["parent_1_1"]["session_id"]
    assert by_call["child_1_1"]["agent_id"] == hook.seen("SubagentStart")[0]["agent_id"]
