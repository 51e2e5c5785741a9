"""One call allowed, one denied by a rule in the config, both in the audit: through the real hosts."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.cli_hosts import ClaudeCode, OpenCode
from e2e.installed_clis import requires_cli
from holdfast.doors import daemon_process, hook_client
from holdfast.hosts import claude_code, opencode
from holdfast.hosts.claude_code_settings import hook_settings
from holdfast.store.home import Home
from holdfast.testing import AnthropicServer, ChatCompletionsServer, Script, ToolUse, Turn

pytestmark = pytest.mark.e2e

CONFIG = """{
  // nothing is written below secret/
  "agents": { "runtime": { "permission": { "rules": [
    { "domain": "edit", "pattern": "vault:/secret/**", "decision": "deny" },
  ] } } },
}
"""


@contextmanager
def holdfast(folder: Path):
    home = Home(folder / "holdfast")
    home.create()
    home.config.write_text(CONFIG)
    assert daemon_process.ensure_running(home)
    try:
        yield home
    finally:
        assert daemon_process.stop(home)


def audit_of(home: Home) -> list[dict]:
    command = [sys.executable, "-m", "holdfast", "--home", str(home.root), "audit", "show", "--json"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def decisions(home: Home) -> list[tuple[str, str, str]]:
    return [(entry["tool"], entry["decision"], entry["rulePattern"]) for entry in audit_of(home) if "tool" in entry]


@requires_cli("claude-code")
def test_claude_code_one_call_allowed_one_denied_both_audited(tmp_path):
    def writes(*names):
        calls = (ToolUse("Write", {"file_path": str(host.workspace / n), "content": "x"}) for n in names)
        return Turn(tool_calls=tuple(calls))

    script = Script(lambda _: writes("a.txt", "secret/b.txt"), "done")
    with holdfast(tmp_path) as home, AnthropicServer(script) as server:
        host = ClaudeCode(tmp_path, server.url)
        client = [sys.executable, "-I", "-S", hook_client.__file__, claude_code.ClaudeCode.name, str(home.root), "60"]
        hooks = hook_settings(
            port=daemon_process.port_of(home), token=daemon_process.token_of(home), client=client, timeout=90
        )
        host.settings.write_text(json.dumps({"hooks": hooks}))
        run = host.run("write two files")

        assert (host.workspace / "a.txt").read_text() == "x", run.explain()
        assert not (host.workspace / "secret" / "b.txt").exists()
        told = server.requests[-1].result_of("call_1_2")
        assert "denied by the rule vault:/secret/**" in told
        assert decisions(home) == [("write", "allow", "vault:/**"), ("write", "deny", "vault:/secret/**")]


@requires_cli("opencode")
def test_opencode_one_call_allowed_one_denied_both_audited(tmp_path):
    def writes(*names):
        calls = (ToolUse("write", {"filePath": str(host.workspace / n), "content": "x"}) for n in names)
        return Turn(tool_calls=tuple(calls))

    script = Script(lambda _: writes("a.txt", "secret/b.txt"), "done")
    with holdfast(tmp_path) as home, ChatCompletionsServer(script) as server:
        host = OpenCode(tmp_path, server.url)
        plugin = Path(opencode.__file__).with_name("opencode_plugin.js")
        host.edit_config(plugin=[[plugin.as_uri(), {"socket": str(home.run / "daemon.sock")}]])
        run = host.run("write two files")

        assert (host.workspace / "a.txt").read_text() == "x", run.explain()
        assert not (host.workspace / "secret" / "b.txt").exists()
        assert "denied by the rule vault:/secret/**" in server.requests[-1].result_of("call_1_2")
        assert decisions(home) == [("write", "allow", "vault:/**"), ("write", "deny", "vault:/secret/**")]
