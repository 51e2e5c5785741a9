"""Each real CLI, driven by a script: the tools it calls have their effect, and the model sees the results."""

from __future__ import annotations

import pytest

from e2e.cli_hosts import ClaudeCode, OpenCode, requires_cli
from holdfast.testing import AnthropicServer, ChatCompletionsServer, Script, ToolUse, Turn

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
