"""MEMORY_BANK_GUARD_MODE of a host's environment: it may tighten the context gate, never loosen it (MB2, PE10)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from holdfast.doors import daemon_process, hook_client
from hosts.stage import NAMES, is_allowed, reason_of

RISKY = "src/security/x.py"


def with_patterns(it):
    details = it.vault / "memory-bank" / "details"
    details.mkdir(parents=True)
    (details / "patterns.md").write_text("patterns")
    return it


def configured(mode):
    return f'{{ "agents": {{ "runtime": {{ "memory": {{ "guardMode": "{mode}" }} }} }} }}'


def begin(it, guard):
    """The turn's first hook brings the variable along; later ones of Claude Code speak HTTP and cannot."""
    if it.host == "opencode":
        it.send(it.hook("chat.message", text="go", guard=guard))
    elif it.host == "gemini":
        it.send(it.hook("BeforeAgent", prompt="go"), guard=guard)
    else:
        it.send(it.hook("UserPromptSubmit", prompt="go"), guard=guard)


def test_MB2_a_host_environment_tightens_the_gate(stage, host):
    it = with_patterns(stage(host))
    begin(it, "block")
    answer = it.write(RISKY)
    assert not is_allowed(host, answer)
    assert "[Memory Bank Gating]" in reason_of(host, answer)


@pytest.mark.parametrize("wished", ["off", "warn", "nonsense", ""])
def test_PE10_a_host_environment_never_loosens_the_gate(stage, host, wished):
    it = with_patterns(stage(host, config=configured("block")))
    begin(it, wished)
    assert not is_allowed(host, it.write(RISKY))


def test_PE10_what_was_tightened_is_not_loosened_by_a_later_hook(stage, host):
    it = with_patterns(stage(host))
    begin(it, "block")
    begin(it, "off")
    assert not is_allowed(host, it.write(RISKY))


def test_MB2_another_session_of_the_host_is_not_touched(stage, host):
    it = with_patterns(stage(host))
    begin(it, "block")
    it.session = "s2"
    it.prompt()
    assert is_allowed(host, it.write(RISKY))


@pytest.mark.e2e
@pytest.mark.parametrize(("inline", "allowed"), [("block", False), ("off", False)])
def test_PE10_without_a_daemon_the_environment_loosens_nothing_either(stage, inline, allowed):
    """The whole plane in the hook's own process: variables that configure other commands are no configuration here."""
    it = with_patterns(stage("gemini", config=configured("block" if inline == "off" else "warn")))
    payload = it.hook("BeforeTool", tool_name=NAMES["gemini"]["write"], tool_input=it.write_arguments(RISKY))
    loose = json.dumps({"agents": {"runtime": {"memory": {"guardMode": "off"}}}})
    ran = subprocess.run(
        [sys.executable, "-I", "-S", hook_client.__file__, "gemini", str(it.home.root), "20"],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "MEMORY_BANK_GUARD_MODE": inline, "HOLDFAST_CONFIG_INLINE": loose},
    )
    assert is_allowed("gemini", json.loads(ran.stdout)) == allowed


def test_PE10_a_daemon_started_from_a_loose_environment_is_no_looser(stage, monkeypatch):
    it = with_patterns(stage("codex", config=configured("block")))
    monkeypatch.setenv("MEMORY_BANK_GUARD_MODE", "off")
    assert daemon_process.ensure_running(it.home, 60), (it.home.logs / "daemon.log").read_text()
    try:
        payload = it.hook("PreToolUse", tool_name="apply_patch", tool_input=it.write_arguments(RISKY), tool_use_id="c")
        client = [sys.executable, "-I", "-S", hook_client.__file__, "codex", str(it.home.root), "20"]
        ran = subprocess.run(client, input=json.dumps(payload), capture_output=True, text=True, check=True, timeout=60)
    finally:
        assert daemon_process.stop(it.home)
    assert not is_allowed("codex", json.loads(ran.stdout))
