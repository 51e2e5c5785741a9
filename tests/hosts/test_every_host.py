"""What holds in each of the four hosts, by payloads as their CLIs send them."""

from __future__ import annotations

import json

import pytest

from holdfast.core.host_tools import CLAUDE_CODE, CODEX, GEMINI, OPENCODE
from holdfast.hosts.registry import HOSTS
from hosts.stage import NAMES, is_allowed, reason_of, replaced, rewritten

DENY = """{ "agents": { "runtime": { "permission": { "rules": [
  { "domain": "edit", "pattern": "vault:/secret/**", "decision": "deny" } ] } } } }"""
WAITS_A_SECOND = """{ "agents": { "runtime": { "permission": { "approvalTimeoutSeconds": 1 } } } }"""
REWRITES = """{ "agents": { "runtime": {
  "permission": { "rules": [ { "domain": "bash", "pattern": "*", "decision": "allow" } ] },
  "hooks": { "tool": { "before": [ { "tool": "bash", "mergeInput": { "timeout": 5 } } ] } } } } }"""


def test_HO1_a_write_in_the_vault_is_allowed_and_audited(stage, host):
    it = stage(host)
    answer = it.write("a.py")
    assert is_allowed(host, answer), answer
    assert [decision for _, decision in it.decisions()] == ["allow"]


def test_a_rule_denies_with_its_reason(stage, host):
    it = stage(host, config=DENY)
    answer = it.write("secret/b.py")
    assert not is_allowed(host, answer)
    assert "vault:/secret/**" in reason_of(host, answer)
    assert [decision for _, decision in it.decisions()] == ["deny"]


def test_HO5_a_question_waits_for_the_inbox_and_then_runs(stage, host):
    it = stage(host)
    person = it.answering("once")
    assert is_allowed(host, it.bash("make deploy"))
    person.join(15)
    assert it.control.approvals.pending() == []


def test_HO5_a_person_denies_with_their_own_words(stage, host):
    it = stage(host)
    person = it.answering("deny", "not on Fridays")
    answer = it.bash("make deploy")
    person.join(15)
    assert not is_allowed(host, answer)
    assert "not on Fridays" in reason_of(host, answer)


@pytest.mark.slow
def test_HO5_at_the_deadline_it_is_a_deny(stage, host):
    it = stage(host, config=WAITS_A_SECOND)
    answer = it.bash("make deploy")
    assert not is_allowed(host, answer)
    assert "Nobody answered in time" in reason_of(host, answer)


def test_HO5_the_hosts_own_deadline_comes_first(stage, host):
    it = stage(host)
    answer = it.send(it.calling_payload(NAMES[host]["bash"], {"command": "make deploy"}), deadline=0.2)
    assert not is_allowed(host, answer)


def test_a_changed_input_is_what_runs(stage, host):
    it = stage(host, config=REWRITES)
    answer = it.bash("make test")
    assert is_allowed(host, answer)
    assert rewritten(host, answer) == {"command": "make test", "timeout": 5}


def test_TR1_a_long_output_is_cut_and_kept_whole(stage, host):
    it = stage(host, config='{ "agents": { "runtime": { "truncation": { "maxLines": 10 } } } }', patience=0.1)
    it.bash("seq 100")
    text = "".join(f"line {number}\n" for number in range(100))
    shown = replaced(host, it.called(NAMES[host]["bash"], {"command": "seq 100"}, text))
    assert "line 99" in shown
    assert "line 50" not in shown
    kept = list((it.vault / ".agent-output").glob("*.txt"))
    assert len(kept) == 1
    assert kept[0].read_text() == text
    assert kept[0].name in shown


def test_PE4_a_credential_file_is_asked_about(stage, host):
    it = stage(host, patience=0.1)
    (it.vault / ".env").write_text("KEY=1")
    name = NAMES[host]["read"]
    arguments = {"command": "cat .env"} if host == "codex" else {"file_path": ".env", "filePath": ".env"}
    assert not is_allowed(host, it.calling(name, arguments))
    assert it.decisions()[0][1] == "ask"


def test_an_unknown_tool_is_asked_about(stage, host):
    it = stage(host, patience=0.1)
    assert not is_allowed(host, it.calling("brand_new_tool", {"a": 1}))


def test_PE10_nobody_edits_the_hosts_own_settings(stage, host):
    it = stage(host)
    place = {
        "claude-code": ".claude/settings.local.json",
        "codex": ".codex/hooks.json",
        "gemini": ".gemini/settings.json",
        "opencode": ".opencode/plugin/x.js",
    }[host]
    answer = it.write(place)
    assert not is_allowed(host, answer)
    assert "decides what you may do" in reason_of(host, answer)


def test_HO4_a_failure_of_ours_blocks_a_write_and_lets_a_read_go_on(stage, host):
    it = stage(host)
    (it.vault / "a.py").write_text("x")
    it.control.store.close()
    answer = it.write("a.py")
    assert not is_allowed(host, answer)
    said = answer["stderr"] if answer.get("exit") else reason_of(host, answer)
    assert "Holdfast itself failed" in said
    if host != "codex":  # it has no tool that only reads
        path = {"file_path": str(it.vault / "a.py"), "filePath": str(it.vault / "a.py")}
        read = it.calling(NAMES[host]["read"], path)
        assert read in ({}, {"allow": True}), "nothing said, so the host goes on"


@pytest.mark.parametrize("body", [b"", b"\xff\x00", b"[1, 2]", b'{"cut', b"null", b'"words"'])
def test_HO4_garbage_from_the_host_is_blocked(stage, host, body):
    reply = stage(host).gateway.answer(host, body)
    answer = {**json.loads(reply.out or b"{}"), "exit": reply.code} if reply.code else json.loads(reply.out)
    assert not is_allowed(host, answer)


def test_one_session_one_thread_and_another_one_another(stage, host):
    it = stage(host)
    it.write("a.py", "c1")
    it.session = "s2"
    it.write("b.py", "c1")
    sessions = it.control.store.sessions()
    assert {session.id.session for session in sessions} == {"s1", "s2"}
    assert len({session.id.thread for session in sessions}) == 2
    assert it.kinds("s1") == it.kinds("s2") == ["tool_calling"]


def test_what_is_said_to_the_model_and_to_the_user_is_kept_apart(stage, host):
    it = stage(host)
    bank = it.vault / "memory-bank" / "details"
    bank.mkdir(parents=True)
    (bank / "patterns.md").write_text("# Patterns")
    answer = it.write("main.py")
    notice = answer.get("systemMessage") or answer.get("notice")
    assert is_allowed(host, answer)
    assert "[Memory Bank Gating]" in notice


@pytest.mark.parametrize(
    ("name", "tools"), [("claude-code", CLAUDE_CODE), ("codex", CODEX), ("gemini", GEMINI), ("opencode", OPENCODE)]
)
def test_PE1_every_name_in_a_hosts_table_is_a_tool_we_know(name, tools):
    from holdfast.core.tools import NEUTRAL_TOOLS

    assert set(tools.values()) <= set(NEUTRAL_TOOLS)
    assert name in HOSTS


def test_HO3_each_host_says_what_it_can_do(host):
    capabilities = HOSTS[host].capabilities
    assert capabilities.host == host
    assert capabilities.can("block", "tool_calling")
    assert capabilities.can("rewrite_input", "tool_calling")
    assert capabilities.can("replace_output", "tool_called")
    assert capabilities.notes, "no host is without a hole"
