"""What our Codex adapter builds on, seen on the real CLI with plain hooks of a few lines."""

from __future__ import annotations

import json

import pytest

from e2e.cli_hosts import Codex, json_lines
from e2e.installed_clis import requires_cli
from holdfast.testing import ContextOverflow, ResponsesServer, Script, ToolUse, Turn, Usage

pytestmark = [pytest.mark.e2e, requires_cli("codex")]


def pre_tool_use(**fields):
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}


DENY = pre_tool_use(permissionDecision="deny", permissionDecisionReason="keep out")


def context(event, text):
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def install(host, hook, *events, timeout=10):
    handler = {"type": "command", "command": hook.command, "timeout": timeout}
    hooks = {"hooks": {event: [{"hooks": [handler]}] for event in events}}
    (host.codex_home / "hooks.json").write_text(json.dumps(hooks))


def shell(*commands):
    return Turn(tool_calls=tuple(ToolUse("exec_command", {"cmd": command}) for command in commands))


def patch(name):
    return ToolUse("apply_patch", f"*** Begin Patch\n*** Add File: {name}\n+patched\n*** End Patch\n")


def files(host):
    return sorted(path.name for path in host.workspace.iterdir())


def test_a_hook_is_asked_before_each_call_and_can_deny_it(tmp_path, hook):
    hook.answer("PreToolUse", DENY, containing="by_json")
    hook.answer("PreToolUse", exit_code=2, stderr="out with you", containing="by_exit")
    hook.answer("PreToolUse", {"decision": "block", "reason": "blocked so"}, containing="by_block")
    script = Script(
        shell("touch by_json", "touch by_exit", "touch by_block", "touch allowed"),
        Turn(tool_calls=(patch("by_json"), patch("patched"), ToolUse("nosuch", {"a": 1}))),
        "done",
    )
    with ResponsesServer(script) as server:
        host = Codex(tmp_path, server.url)
        install(host, hook, "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
        run = host.run("go")

    assert files(host) == ["allowed", "patched"], run.explain()
    results = server.requests[-1].tool_results
    assert results["call_1_1"] == "Command blocked by PreToolUse hook: keep out. Command: touch by_json"
    assert "out with you" in results["call_1_2"]
    assert "blocked so" in results["call_1_3"]
    assert "keep out" in results["call_2_1"]
    asked = {payload["tool_use_id"]: payload for payload in hook.seen("PreToolUse")}
    assert asked["call_1_1"]["tool_name"] == "Bash"
    assert asked["call_1_1"]["tool_input"] == {"command": "touch by_json"}
    assert {"session_id", "turn_id", "transcript_path", "cwd", "model", "permission_mode"} <= set(asked["call_1_1"])
    assert asked["call_2_1"]["tool_name"] == "apply_patch"
    assert asked["call_2_1"]["tool_input"]["command"].startswith("*** Begin Patch")
    assert "call_2_3" not in asked, "an unknown tool is not hooked"
    assert {payload["tool_use_id"] for payload in hook.seen("PostToolUse")} == {"call_1_4", "call_2_2"}
    assert hook.seen("SessionStart")[0]["source"] == "startup"
    assert hook.seen("UserPromptSubmit")[0]["prompt"] == "go"
    assert hook.seen("Stop")[0]["last_assistant_message"] == "done"
    assert hook.seen("SessionEnd")
    assert asked["call_1_1"]["transcript_path"] == str(run.transcript)


FAILS_OPEN = [
    ("ask", {"reply": pre_tool_use(permissionDecision="ask", permissionDecisionReason="hm")}),
    ("bare_allow", {"reply": pre_tool_use(permissionDecision="allow")}),
    ("exit_1", {"exit_code": 1, "stderr": "Traceback"}),
    ("invalid", {"reply": "{nonsense}"}),
    ("truncated", {"reply": '{"hookSpecificOutput": {"permissionDec'}),
    ("deny_with_unknown_field", {"reply": {**DENY, "extra": 1}}),
    ("timeout", {"delay": 20}),
]


@pytest.mark.parametrize(("name", "answer"), FAILS_OPEN, ids=[name for name, _ in FAILS_OPEN])
def test_anything_but_the_exact_answer_fails_open(tmp_path, hook, name, answer):
    hook.answer("PreToolUse", **answer)
    with ResponsesServer(Script(shell("touch a"), "done")) as server:
        host = Codex(tmp_path, server.url)
        install(host, hook, "PreToolUse", timeout=1)
        run = host.run("go")
    assert files(host) == ["a"], run.explain()
    assert len(hook.seen()) == 1


def test_an_untrusted_hook_is_silently_skipped(tmp_path, hook):
    hook.answer("PreToolUse", DENY)
    with ResponsesServer(Script(shell("touch a"), "done")) as server:
        host = Codex(tmp_path, server.url)
        host.trust_hooks = False
        install(host, hook, "PreToolUse")
        run = host.run("go")
    assert run.exit_code == 0, run.explain()
    assert files(host) == ["a"]
    assert hook.seen() == []


def test_rewriting_replacing_and_adding_context(tmp_path, hook):
    rewrite = pre_tool_use(permissionDecision="allow", updatedInput={"command": "echo rewritten"})
    hook.answer("PreToolUse", rewrite, containing="echo original")
    hook.answer("PreToolUse", context("PreToolUse", "FROM PRE"), containing="echo pre")
    hook.answer("PostToolUse", {"decision": "block", "reason": "REPLACED"}, containing="echo replace")
    hook.answer("PostToolUse", context("PostToolUse", "FROM POST"), containing="echo pre")
    hook.answer("SessionStart", context("SessionStart", "FROM START"))
    hook.answer("UserPromptSubmit", context("UserPromptSubmit", "FROM PROMPT"))
    script = Script(shell("echo original", "echo pre", "echo replace", "exit 3"), "done")
    with ResponsesServer(script) as server:
        host = Codex(tmp_path, server.url)
        install(host, hook, "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse")
        host.run("go")
    first, last = server.requests
    assert "FROM START" in first.transcript
    assert "FROM PROMPT" in first.transcript
    assert last.result_of("call_1_1").endswith("Output:\nrewritten\n")
    assert last.result_of("call_1_3") == "REPLACED"
    assert "FROM PRE" in last.transcript
    assert "FROM POST" in last.transcript
    after = {payload["tool_use_id"]: payload["tool_response"] for payload in hook.seen("PostToolUse")}
    assert after["call_1_1"] == "rewritten\n"
    assert after["call_1_4"] == "", "the hook is not told the exit code"


def test_a_prompt_can_be_blocked_before_any_model_call(tmp_path, hook):
    hook.answer("UserPromptSubmit", {"decision": "block", "reason": "not today"})
    with ResponsesServer(Script()) as server:
        host = Codex(tmp_path, server.url)
        install(host, hook, "UserPromptSubmit")
        host.run("go")
        assert server.all_requests == []


FULL = Usage(input_tokens=6000)


def test_compaction_is_signalled_and_its_context_reaches_the_next_request(tmp_path, hook):
    hook.answer("SessionStart", context("SessionStart", "ANCHORS"), containing='"compact"')
    script = Script(Turn(tool_calls=shell("echo a").tool_calls, usage=FULL), "done")
    with ResponsesServer(script, side_reply={"summary": "SUMMARY"}) as server:
        host = Codex(tmp_path, server.url)
        host.prepend_config("model_auto_compact_token_limit = 5000")
        install(host, hook, "SessionStart", "PreCompact", "PostCompact")
        run = host.run("go")
    assert run.exit_code == 0, run.explain()
    fired = [(payload["hook_event_name"], payload.get("source")) for payload in hook.seen()]
    assert fired == [
        ("SessionStart", "startup"),
        ("PreCompact", None),
        ("PostCompact", None),
        ("SessionStart", "compact"),
    ]
    assert hook.seen("PreCompact")[0]["trigger"] == "auto"
    assert [request.side for request in server.all_requests] == [None, "summary", None]
    assert "ANCHORS" in server.requests[-1].transcript
    assert "SUMMARY" in server.requests[-1].transcript
    assert "compacted" in [line["type"] for line in json_lines(run.transcript.read_text())]


def test_a_compaction_can_be_refused_which_ends_the_turn(tmp_path, hook):
    hook.answer("PreCompact", {"continue": False, "stopReason": "seal instead"})
    script = Script(Turn(tool_calls=shell("echo a").tool_calls, usage=FULL))
    with ResponsesServer(script) as server:
        host = Codex(tmp_path, server.url)
        host.prepend_config("model_auto_compact_token_limit = 5000")
        install(host, hook, "PreCompact", "PostCompact")
        run = host.run("go")
    assert [request.side for request in server.all_requests] == [None], run.explain()
    assert hook.seen("PostCompact") == []


def test_typing_into_a_running_shell_is_not_hooked(tmp_path, hook):
    hook.answer("PreToolUse", DENY, containing="touch hidden")
    script = Script(
        Turn(tool_calls=(ToolUse("exec_command", {"cmd": "bash", "tty": True, "yield_time_ms": 300}),)),
        lambda request: Turn(tool_calls=(ToolUse("write_stdin", typed(request)),)),
        "done",
    )

    def typed(request):
        words = request.result_of("call_1_1").split()
        session = int(words[words.index("ID") + 1]) if "ID" in words and "session" in words else 0
        return {"session_id": session, "chars": "touch hidden; exit\n", "yield_time_ms": 1000}

    with ResponsesServer(script) as server:
        host = Codex(tmp_path, server.url)
        install(host, hook, "PreToolUse", "PostToolUse")
        host.run("go")
    assert files(host) == ["hidden"], server.requests[-1].tool_results
    assert [payload["tool_use_id"] for payload in hook.seen("PreToolUse")] == ["call_1_1"]


def test_an_overflow_ends_the_turn_with_an_error_of_its_own(tmp_path):
    with ResponsesServer(Script(ContextOverflow())) as server:
        run = Codex(tmp_path, server.url).run("go")
    assert run.exit_code != 0
    assert "ran out of room" in run.stdout or "context window" in run.stdout, run.explain()
