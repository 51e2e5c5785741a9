"""A real host asks the recall server, started as its MCP server (SC5)."""

from __future__ import annotations

import json
import sys

from chain.scene import Scene
from e2e.cli_hosts import ClaudeCode, Codex
from e2e.installed_clis import requires_cli
from holdfast.testing import AnthropicServer, ResponsesServer, Script, ToolUse, Turn


def past(tmp_path):
    """Two threads of the past; the server is started for the first."""
    scene = Scene(tmp_path)
    for name in ("mine", "theirs"):
        where = scene.arrive(name).session.id
        scene.say(where, f"{name}: we chose Redis because the queue must survive a restart")
    return scene


def server_arguments(scene):
    home = str(scene.control.home.root)
    return ["-m", "holdfast", "--home", home, "--vault", str(scene.vault), "mcp", "--thread", "claude-code-mine"]


@requires_cli("claude-code")
def test_SC5_claude_code_searches_its_past(tmp_path):
    scene = past(tmp_path)
    config = tmp_path / "mcp.json"
    server = {"command": sys.executable, "args": server_arguments(scene)}
    config.write_text(json.dumps({"mcpServers": {"holdfast": server}}))
    search = ToolUse("mcp__holdfast__session_search", {"query": "why Redis"}, "t1")
    foreign = ToolUse("mcp__holdfast__read_session_events", {"sessionId": "theirs"}, "t2")
    with AnthropicServer(Script(Turn(tool_calls=(search,)), Turn(tool_calls=(foreign,)), "done")) as model:
        host = ClaudeCode(tmp_path, model.url)
        host.allowed_tools = ("mcp__holdfast__session_search", "mcp__holdfast__read_session_events")
        run = host.run("why Redis?", arguments=["--mcp-config", str(config), "--strict-mcp-config"])
    assert run.exit_code == 0, run.explain()
    found = json.loads(model.requests[1].result_of("t1"))
    assert [hit["sessionId"] for hit in found["hits"]] == ["mine"]
    assert "no session 'theirs' in your threads" in model.requests[2].result_of("t2")
    scene.close()


@requires_cli("codex")
def test_SC5_codex_searches_its_past(tmp_path):
    scene = past(tmp_path)
    call = ToolUse("session_search", {"query": "why Redis"}, "t1", namespace="mcp__holdfast")
    with ResponsesServer(Script(Turn(tool_calls=(call,)), "done")) as model:
        host = Codex(tmp_path, model.url)
        # Codex asks its model before a server has started, unless it must wait for it.
        server = [
            "[mcp_servers.holdfast]",
            f'command = "{sys.executable}"',
            f"args = {json.dumps(server_arguments(scene))}",
            "startup_timeout_sec = 60",
            "required = true",
        ]
        with host.config.open("a") as file:
            file.write("\n".join(["", *server, ""]))
        run = host.run("why Redis?")
    assert run.exit_code == 0, run.explain()
    assert '"sessionId":"mine"' in model.requests[1].result_of("t1").replace("\\", "")
    scene.close()
