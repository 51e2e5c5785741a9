"""Each real CLI, driven by a script: the tools it calls have their effect, and the model sees the results."""

from __future__ import annotations

import json

import pytest

from e2e.cli_hosts import ClaudeCode, Codex, Gemini, OpenCode
from e2e.installed_clis import requires_cli
from holdfast.testing import (
    AnthropicServer,
    ChatCompletionsServer,
    GeminiServer,
    ResponsesServer,
    Script,
    ToolUse,
    Turn,
)

pytestmark = pytest.mark.e2e


@requires_cli("claude-code")
def test_claude_code_writes_reads_and_runs(tmp_path):
    script = Script(
        lambda request: Turn(
            "I write it.", (ToolUse("Write", {"file_path": str(host.workspace / "a.txt"), "content": "hi\n"}),)
        ),
        Turn(tool_calls=(ToolUse("Bash", {"command": "cat a.txt; echo made > b.txt"}),)),
        "done",
    )
    with AnthropicServer(script) as server:
        host = ClaudeCode(tmp_path, server.url)
        run = host.run("please write a.txt")

    assert run.exit_code == 0, run.explain()
    assert (host.workspace / "a.txt").read_text() == "hi\n"
    assert (host.workspace / "b.txt").read_text() == "made\n"
    assert run.events_of("result")[0]["result"] == "done"
    first, second, third = server.requests
    assert "please write a.txt" in first.last_user_text
    assert {"Bash", "Read", "Write"} <= set(first.tools)
    assert "File created successfully" in second.result_of("call_1_1")
    assert third.result_of("call_2_1") == "hi"
    assert "call_2_1" in run.transcript.read_text()
    assert server.unrouted == []


@requires_cli("claude-code")
def test_claude_code_takes_several_messages_from_its_input(tmp_path):
    def said(text):
        return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"

    with AnthropicServer(Script("one", "two")) as server:
        host = ClaudeCode(tmp_path, server.url)
        run = host.run("", arguments=["--input-format", "stream-json"], stdin=said("first") + said("second"))
    assert [event["result"] for event in run.events_of("result")] == ["one", "two"], run.explain()


@requires_cli("opencode")
def test_opencode_writes_reads_and_runs(tmp_path):
    script = Script(
        lambda request: Turn(
            "I write it.", (ToolUse("write", {"filePath": str(host.workspace / "a.txt"), "content": "hi\n"}),)
        ),
        Turn(tool_calls=(ToolUse("bash", {"command": "cat a.txt; echo made > b.txt", "description": "x"}),)),
        "done",
    )
    with ChatCompletionsServer(script) as server:
        host = OpenCode(tmp_path, server.url)
        run = host.run("please write a.txt")

    assert run.exit_code == 0, run.explain()
    assert (host.workspace / "a.txt").read_text() == "hi\n"
    assert (host.workspace / "b.txt").read_text() == "made\n"
    assert run.events_of("text")[-1]["part"]["text"] == "done"
    first, second, third = server.requests
    assert "please write a.txt" in first.last_user_text
    assert {"bash", "read", "write"} <= set(first.tools)
    assert "Wrote file successfully" in second.result_of("call_1_1")
    assert third.result_of("call_2_1") == "hi\n"
    assert [request.side for request in server.side_requests] == ["title"]
    assert run.transcript is not None
    assert server.unrouted == []


@requires_cli("codex")
def test_codex_runs_and_patches(tmp_path):
    patch = "*** Begin Patch\n*** Add File: b.txt\n+made\n*** End Patch\n"
    script = Script(
        Turn("I write it.", (ToolUse("exec_command", {"cmd": "echo hi > a.txt; cat a.txt"}),)),
        Turn(tool_calls=(ToolUse("apply_patch", patch),)),
        "done",
    )
    with ResponsesServer(script) as server:
        host = Codex(tmp_path, server.url)
        run = host.run("please write a.txt")

    assert run.exit_code == 0, run.explain()
    assert (host.workspace / "a.txt").read_text() == "hi\n"
    assert (host.workspace / "b.txt").read_text() == "made\n"
    said = [event["item"] for event in run.events_of("item.completed")]
    assert [item["text"] for item in said if item["type"] == "agent_message"] == ["I write it.", "done"]
    first, second, third = server.requests
    assert first.last_user_text == "please write a.txt"
    assert {"exec_command", "apply_patch"} <= set(first.tools)
    assert second.result_of("call_1_1").endswith("Output:\nhi\n")
    assert "Success." in third.result_of("call_2_1")
    assert "call_2_1" in run.transcript.read_text()
    assert server.unrouted == []


@requires_cli("gemini")
def test_gemini_writes_reads_and_runs(tmp_path):
    script = Script(
        lambda request: Turn(
            "I write it.",
            (ToolUse("write_file", {"file_path": str(host.workspace / "a.txt"), "content": "hi\n"}),),
        ),
        Turn(tool_calls=(ToolUse("run_shell_command", {"command": "cat a.txt; echo made > b.txt"}),)),
        "done",
    )
    with GeminiServer(script) as server:
        host = Gemini(tmp_path, server.url)
        run = host.run("please write a.txt")

    assert run.exit_code == 0, run.explain()
    assert (host.workspace / "a.txt").read_text() == "hi\n"
    assert (host.workspace / "b.txt").read_text() == "made\n"
    said = [event["content"] for event in run.events_of("message") if event["role"] == "assistant"]
    assert said == ["I write it.", "done"]
    first, second, third = server.requests
    assert "please write a.txt" in first.last_user_text
    assert {"read_file", "run_shell_command", "write_file"} <= set(first.tools)
    assert "Successfully created" in second.result_of("call_1_1")
    assert "Output: hi" in third.result_of("call_2_1")
    assert "call_2_1" in run.transcript.read_text()
    assert server.unrouted == []
