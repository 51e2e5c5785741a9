"""What each host's transcript becomes (SC11)."""

import json
import os

import pytest

from chain.importers import transcripts
from holdfast.chain.digests import Digests
from holdfast.chain.importers.claude_code import ClaudeCodeImporter
from holdfast.chain.importers.codex import CodexImporter
from holdfast.chain.importers.engine import ImportEngine
from holdfast.chain.importers.gemini import GeminiImporter
from holdfast.chain.importers.jsonl import JsonlImporter
from holdfast.chain.importers.opencode import OpenCodeImporter
from holdfast.records import event_of
from holdfast.testing.memory_store import MemoryStore


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def engine(store):
    return ImportEngine(store, user="local")


def told(store, session):
    return [(r.where.subagent, r.kind, r.tool, r.text.split("\n")[0]) for r in store.events(session)]


def write(path, entries):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(transcripts.lines(*entries), encoding="utf-8")
    return path


def test_SC11_claude_code(store, engine, tmp_path):
    write(tmp_path / "-work-project" / "c1.jsonl", transcripts.claude())
    agent = write(tmp_path / "-work-project" / "c1" / "subagents" / "agent-abc.jsonl", transcripts.claude_agent())
    agent.with_name("agent-abc.meta.json").write_text('{"agentType": "Explore"}')
    report = engine.run(ClaudeCodeImporter(), [tmp_path])
    assert (report.files, report.events, report.broken_lines) == (2, 13, 0)
    assert told(store, "c1") == [
        ("", "prompt_submitted", "", "fix the login 修复登录"),
        ("", "assistant_replied", "", ""),
        ("", "assistant_replied", "", "I look."),
        ("", "tool_calling", "read", 'read {"file_path":"/data/project/a.py"}'),
        ("", "tool_called", "read", "code"),
        ("", "tool_calling", "bash", 'bash {"command":"make"}'),
        ("", "tool_called", "bash", "Exit code 2"),
        ("", "compacted", "", "SUMMARY so far"),
        ("", "prompt_submitted", "", "/review all"),
        ("", "prompt_submitted", "", "go on"),
        ("", "assistant_replied", "", "done"),
        ("Explore#abc", "prompt_submitted", "", "look"),
        ("Explore#abc", "assistant_replied", "", "sub-agent found it"),
    ]
    session = store.session("c1")
    assert (session.id.user, session.id.agent, session.id.thread) == ("local", "claude-code", "claude-code-c1")
    assert (session.state, session.seal_reason, session.vault) == ("sealed", "imported", "/data/project")
    assert (session.used, session.model, session.title) == (240, "opus", "fix the login 修复登录")
    assert session.compressions == 1
    failed = store.events("c1")[6]
    assert (failed.data["result"]["failed"], failed.data["result"]["exit_code"]) == (True, 2)
    compacted = store.events("c1")[7].data
    assert (compacted["trigger"], compacted["before"], compacted["after"]) == ("manual", 900, 90)
    assert [r.invocation for r in store.events("c1")][:11] == [*["p1"] * 9, "p2", "p2"]
    assert store.events("c1")[4].files == ("vault:/a.py",)


def test_SC11_codex(store, engine, tmp_path):
    name = "01a1de25-694f-7dd0-9661-8baadc4b40f1"
    write(tmp_path / "2026" / "11" / f"rollout-2026-11-15-{name}.jsonl", transcripts.codex())
    report = engine.run(CodexImporter(), [tmp_path])
    assert (report.events, report.broken_lines) == (8, 0)
    assert told(store, name) == [
        ("", "prompt_submitted", "", "fix the login"),
        ("", "assistant_replied", "", "I look."),
        ("", "tool_calling", "bash", 'bash {"cmd":"make"}'),
        ("", "tool_called", "bash", "Process exited with code 2"),
        ("", "tool_calling", "apply_patch", store.events(name)[4].text),
        ("", "tool_called", "apply_patch", "Exit code: 0"),
        ("", "compacted", "", "SUMMARY so far"),
        ("", "assistant_replied", "", "done"),
    ]
    session = store.session(name)
    assert (session.used, session.window, session.model) == (120, 258_400, "gpt-5.5")
    assert store.events(name)[3].data["result"]["exit_code"] == 2
    assert store.events(name)[4].files == ("vault:/b.txt",)
    assert {r.invocation for r in store.events(name)} == {"turn-1"}


def test_SC11_gemini_takes_the_last_version_of_a_message(store, engine, tmp_path):
    file = write(tmp_path / "project" / "chats" / "session-2026-g1.jsonl", transcripts.gemini())
    (file.parent.parent / ".project_root").write_text("/data/project")
    report = engine.run(GeminiImporter(), [tmp_path])
    assert (report.events, report.broken_lines) == (6, 0)
    assert told(store, "g1") == [
        ("", "prompt_submitted", "", "fix the login"),
        ("", "assistant_replied", "", "I look."),
        ("", "tool_calling", "bash", 'bash {"command":"make"}'),
        ("", "tool_called", "bash", "Output: no rule"),
        ("", "compacted", "", "<state_snapshot>SUMMARY</state_snapshot>"),
        ("", "assistant_replied", "", "done"),
    ]
    assert store.events("g1")[3].data["result"]["exit_code"] == 2
    assert store.events("g1")[4].data["inferred"] is True
    assert (store.session("g1").vault, store.session("g1").used) == ("/data/project", 100)


def test_SC11_opencode(store, engine, tmp_path):
    transcripts.opencode_database(tmp_path / "opencode.db")
    report = engine.run(OpenCodeImporter(), [tmp_path])
    assert (report.events, report.broken_lines) == (10, 0)
    assert told(store, "o1") == [
        ("", "prompt_submitted", "", "fix the login"),
        ("", "assistant_replied", "", ""),
        ("", "assistant_replied", "", "I look."),
        ("", "tool_calling", "bash", 'bash {"command":"make"}'),
        ("", "tool_called", "bash", "no rule"),
        ("", "tool_calling", "read", 'read {"filePath":"/data/project/a.py"}'),
        ("", "tool_called", "read", "not found"),
        ("", "compacted", "", "SUMMARY"),
        ("explore", "prompt_submitted", "", "look"),
        ("explore", "assistant_replied", "", "sub-agent found it"),
    ]
    assert store.session("o2") is None, "a child session is a sub-agent of its parent"
    assert (store.session("o1").title, store.session("o1").used) == ("Login", 110)


def test_SC11_a_database_that_is_none_of_theirs_is_said_so(engine, tmp_path):
    (tmp_path / "opencode.db").write_bytes(b"not a database at all, but long enough to look like one")
    ((_, why),) = engine.run(OpenCodeImporter(), [tmp_path]).skipped
    assert "is no database of OpenCode" in why


def test_SC11_plain_conversations(store, engine, tmp_path):
    make = {"name": "bash", "arguments": '{"command": "make"}'}
    entries = [
        {"role": "system", "content": "be nice"},
        {"role": "user", "content": "fix the login", "timestamp": 1_790_000_000},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "t1", "function": make}]},
        {"role": "tool", "tool_call_id": "t1", "name": "bash", "content": "no rule"},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        {"messages": [{"role": "user", "content": "another"}, {"role": "assistant", "content": "yes"}]},
        {"neither": "nor"},
    ]
    write(tmp_path / "talk.jsonl", entries)
    report = engine.run(JsonlImporter(), [tmp_path / "talk.jsonl"])
    assert [kind for _, kind, _, _ in told(store, "talk")] == [
        "prompt_submitted",
        "tool_calling",
        "tool_called",
        "assistant_replied",
        "prompt_submitted",
        "assistant_replied",
    ]
    (broken,) = report.broken
    assert (broken.line, broken.why) == (7, "neither a message with a role, nor a conversation with messages")


def test_SC11_what_a_plain_message_lacks_is_made_up_for_or_listed(store, engine, tmp_path):
    entries = [
        {"role": "user", "text": "why Redis?"},
        {"role": "model", "parts": [{"text": "because of expiry"}], "time": 1_790_000_000},
        {"role": "user", "content": "and when?"},
        {"role": "assistant"},
        {"messages": [{"role": "user", "content": "one"}, {"role": "user"}, "two", {"role": "ai", "content": "three"}]},
    ]
    file = tmp_path / "talk.jsonl"
    write(file, entries)
    os.utime(file, (1_780_000_000, 1_780_000_000))
    report = engine.run(JsonlImporter(), [file])
    assert [(record.text, record.at) for record in store.events("talk")] == [
        ("why Redis?", 1_780_000_000.0),
        ("because of expiry", 1_790_000_000.0),
        ("and when?", 1_790_000_000.0),
        ("one", 1_790_000_000.0),
        ("three", 1_790_000_000.0),
    ]
    assert [(broken.line, broken.why) for broken in report.broken] == [
        (4, "without content or text or parts"),
        (5, "message 2 of the conversation: without content or text or parts"),
    ]


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_SC11_imported_events_are_events_like_ours(store, engine, tmp_path, host):
    """They can be turned back into events, and the digest reads them."""
    name = {"claude": "c1", "codex": "01a1de25-694f-7dd0-9661-8baadc4b40f1"}[host]
    write(
        tmp_path / f"rollout-{name}.jsonl" if host == "codex" else tmp_path / f"{name}.jsonl",
        getattr(transcripts, host)(),
    )
    engine.run({"claude": ClaudeCodeImporter(), "codex": CodexImporter()}[host], [tmp_path])
    for record in store.events(name):
        assert event_of(record).kind == record.kind
        json.dumps(dict(record.data))
    digest = Digests(store).of(store.session(name))
    assert digest.commands[0].outcome == "exit 2"
    assert digest.prompts[0].text.startswith("fix the login")
    assert digest.last_reply == "done"
