"""What our Gemini CLI adapter builds on, seen on the real CLI with plain hooks of a few lines."""

from __future__ import annotations

import pytest

from e2e.cli_hosts import Gemini
from e2e.installed_clis import requires_cli
from holdfast.testing import GeminiServer, Script, ToolUse, Turn, Usage

pytestmark = [pytest.mark.e2e, requires_cli("gemini")]


def install(host, hook, *events, timeout=10_000):
    handler = {"type": "command", "name": "recording", "command": hook.command, "timeout": timeout}
    host.edit_settings(hooks={event: [{"hooks": [handler]}] for event in events})


def shell(*commands):
    return Turn(tool_calls=tuple(ToolUse("run_shell_command", {"command": command}) for command in commands))


def files(host):
    return sorted(path.name for path in host.workspace.iterdir())


def output(event, **fields):
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def test_a_hook_is_asked_before_each_call_and_can_deny_rewrite_and_replace(tmp_path, hook):
    hook.answer("BeforeTool", {"decision": "deny", "reason": "keep out"}, containing="by_json")
    hook.answer("BeforeTool", exit_code=2, stderr="out with you", containing="by_exit")
    hook.answer(
        "BeforeTool", output("BeforeTool", tool_input={"command": "echo rewritten"}), containing="echo original"
    )
    hook.answer("AfterTool", {"decision": "deny", "reason": "REPLACED"}, containing="echo replace")
    hook.answer("AfterTool", output("AfterTool", additionalContext="<b>ADDED</b>"), containing="echo added")
    commands = ("touch by_json", "touch by_exit", "touch allowed", "echo original", "echo replace", "echo added")
    script = Script(shell(*commands, "exit 3"), Turn(tool_calls=(ToolUse("nosuch", {"a": 1}),)), "done")
    with GeminiServer(script) as server:
        host = Gemini(tmp_path, server.url)
        install(host, hook, "SessionStart", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "SessionEnd")
        run = host.run("go")

    assert files(host) == ["allowed"], run.explain()
    last = server.requests[-1]
    assert last.result_of("call_1_1") == "Tool execution blocked: keep out"
    assert last.result_of("call_1_2") == "Tool execution blocked: out with you"
    assert "Output: rewritten" in last.result_of("call_1_4")
    assert "modified by a hook" in last.result_of("call_1_4"), "the model is told of a rewriting"
    assert last.result_of("call_1_5") == "REPLACED"
    assert "&lt;b&gt;ADDED" in last.result_of("call_1_6")
    before = hook.seen("BeforeTool")
    assert sorted(payload["tool_input"]["command"] for payload in before) == sorted([*commands, "exit 3"])
    known = {"session_id", "transcript_path", "cwd", "hook_event_name", "timestamp", "tool_name", "tool_input"}
    assert set(before[0]) == known, "there is no call id"
    assert before[0]["transcript_path"] == str(run.transcript)
    failed = next(p for p in hook.seen("AfterTool") if p["tool_input"]["command"] == "exit 3")
    assert "Exit Code: 3" in failed["tool_response"]["llmContent"]
    assert len(before) == 7, "an unknown tool is not hooked"
    assert hook.seen("SessionStart")[0]["source"] == "startup"
    assert hook.seen("BeforeAgent")[0]["prompt"] == "go"
    assert hook.seen("AfterAgent")[0]["prompt_response"].strip().endswith("done")
    assert hook.seen("SessionEnd")


def test_a_broken_hook_fails_open(tmp_path, hook):
    hook.answer("BeforeTool", exit_code=1, stderr="Traceback", containing="touch crash")
    hook.answer("BeforeTool", "{nonsense}", containing="touch invalid")
    hook.answer("BeforeTool", '{"decision": "de', containing="touch truncated")
    hook.answer("BeforeTool", {"decision": "deny"}, delay=20, containing="touch timeout")
    names = ["crash", "invalid", "timeout", "truncated"]
    with GeminiServer(Script(shell(*(f"touch {name}" for name in names)), "done")) as server:
        host = Gemini(tmp_path, server.url)
        install(host, hook, "BeforeTool", timeout=1000)
        run = host.run("go")
    assert files(host) == names, run.explain()


@pytest.mark.parametrize("relaunches", [False, pytest.param(True, marks=pytest.mark.full)])
def test_ask_without_a_terminal_never_ends_well(tmp_path, hook, relaunches):
    """As installed, the CLI starts itself anew in a second process, and there an `ask` hangs for good."""
    hook.answer("BeforeTool", {"decision": "ask", "reason": "who knows"})
    with GeminiServer(Script(shell("touch a"), "done")) as server:
        host = Gemini(tmp_path, server.url)
        install(host, hook, "BeforeTool")
        if not relaunches:
            host.extra_environment["GEMINI_CLI_NO_RELAUNCH"] = "true"
        run = host.run("go", deadline=25 if relaunches else 90)
    assert files(host) == []
    assert run.timed_out == relaunches, run.explain()
    assert run.exit_code == 0 or relaunches
    assert run.events_of("result") == []
    assert len(server.requests) == 1


def test_the_prompt_can_be_blocked_and_the_end_refused(tmp_path, hook):
    hook.answer("BeforeAgent", {"decision": "deny", "reason": "not today"}, containing="forbidden words")
    hook.answer("AfterAgent", {"decision": "deny", "reason": "DO MORE"}, containing='"stop_hook_active":false')
    with GeminiServer(Script("first end", "second end")) as server:
        host = Gemini(tmp_path, server.url)
        install(host, hook, "BeforeAgent", "AfterAgent")
        host.run("forbidden words")
        assert server.all_requests == []
        run = host.run("go")
    assert len(server.requests) == 2, run.explain()
    assert "DO MORE" in server.requests[1].transcript


def test_after_model_is_run_for_every_piece_of_a_stream(tmp_path, hook):
    filler = " ".join(str(number) for number in range(500))
    with GeminiServer(Script(Turn(filler[:400], usage=Usage(input_tokens=5000)))) as server:
        host = Gemini(tmp_path, server.url)
        install(host, hook, "AfterModel")
        host.run("go")
    usages = [payload["llm_response"].get("usageMetadata") for payload in hook.seen("AfterModel")]
    assert len(usages) == 10, "so it costs a process for each; the transcript tells the fill as well"
    assert usages[-1]["promptTokenCount"] == 5000


def test_compression_shows_only_in_what_the_model_is_sent(tmp_path, hook):
    filler = " ".join(str(number) for number in range(500))
    snapshot = "<state_snapshot><overall_goal>SNAPSHOT</overall_goal></state_snapshot>"
    with GeminiServer(Script(filler, "second", "third"), side_reply={"summary": snapshot}) as server:
        host = Gemini(tmp_path, server.url)
        install(host, hook, "PreCompress", "BeforeModel")
        host.run("hello there")
        assert len(hook.seen("PreCompress")) == 1, "it fires although nothing is compressed"
        assert server.side_requests == []
        host.edit_settings(model={"name": "gemini-2.5-flash", "compressionThreshold": 0.0005})
        host.run("second", arguments=["--resume", "latest"])
        run = host.run("third", arguments=["--resume", "latest"])

    assert [request.side for request in server.side_requests] == ["summary", "summary"], run.explain()
    sent = [str(payload["llm_request"]["messages"]) for payload in hook.seen("BeforeModel")]
    assert ["<state_snapshot>" in text for text in sent] == [False, True, True]
    assert "SNAPSHOT" in server.requests[1].transcript
    assert "SNAPSHOT" in run.transcript.read_text()


def test_context_added_to_a_request_does_not_stay_in_the_history(tmp_path, hook):
    hook.answer("BeforeModel", append_message="ANCHORS")
    with GeminiServer(Script(shell("echo a"), shell("echo b"), "done")) as server:
        host = Gemini(tmp_path, server.url)
        install(host, hook, "BeforeModel")
        run = host.run("go")
    assert [request.messages[-1].text for request in server.requests] == ["ANCHORS"] * 3
    assert [request.transcript.count("ANCHORS") for request in server.requests] == [1, 1, 1]
    assert "ANCHORS" not in run.transcript.read_text()
    roles = [[message["role"] for message in p["llm_request"]["messages"]] for p in hook.seen("BeforeModel")]
    assert roles == [["user"]] * 3, "a hook sees the words of the conversation, no calls and no results"


def test_a_sub_agents_calls_are_hooked_but_not_told_apart(tmp_path, hook):
    hook.answer("BeforeTool", {"decision": "deny", "reason": "not you either"}, containing="from_child")
    child = Script(
        Turn(tool_calls=(ToolUse("write_file", {"file_path": "from_child", "content": "x"}),)),
        Turn(tool_calls=(ToolUse("complete_task", {"result": "child done", "response": "child done"}),)),
        then=Turn(tool_calls=(ToolUse("complete_task", {"result": "child done", "response": "child done"}),)),
        call_id_prefix="child",
    )
    task = {"agent_name": "generalist", "prompt": "CHILD TASK"}
    parent = Script(Turn(tool_calls=(ToolUse("invoke_agent", task),)), "done", call_id_prefix="parent")
    with GeminiServer(lambda request: child if "complete_task" in request.tools else parent) as server:
        host = Gemini(tmp_path, server.url)
        install(host, hook, "BeforeTool")
        run = host.run("delegate")
    assert run.exit_code == 0, run.explain()
    assert files(host) == []
    by_tool = {payload["tool_name"]: payload for payload in hook.seen("BeforeTool")}
    assert set(by_tool) >= {"invoke_agent", "write_file"}
    assert by_tool["write_file"]["session_id"] == by_tool["invoke_agent"]["session_id"]
    assert set(by_tool["write_file"]) == set(by_tool["invoke_agent"])
