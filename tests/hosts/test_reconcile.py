"""The calls that a host has made and no hook saw."""

from __future__ import annotations

import json
import sqlite3

from click.testing import CliRunner

from holdfast.doors.cli import cli
from holdfast.hosts.reconcile import reconcile


def claude_line(number, call, tool="Bash", **arguments):
    content = [{"type": "tool_use", "id": call, "name": tool, "input": arguments}]
    return {
        "type": "assistant",
        "uuid": f"u{number}",
        "timestamp": "2026-11-15T08:00:00Z",
        "message": {"content": content},
    }


def session_of(it):
    (session,) = it.control.store.sessions()
    return session


def test_a_call_that_went_past_the_hooks_is_listed(stage):
    it = stage("claude-code")
    path = it.vault.parent / "t.jsonl"
    lines = [claude_line(1, "c1", "Write", file_path="a.py"), claude_line(2, "c2", command="rm -rf src")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    it.send(it.hook("SessionStart", source="startup", transcript_path=str(path)))
    it.write("a.py", "c1")
    found = reconcile(it.control.store, session_of(it))
    assert found.compared == 2
    assert [(call.call, call.tool, dict(call.arguments)) for call in found.missed] == [
        ("c2", "Bash", {"command": "rm -rf src"})
    ]
    shown = CliRunner().invoke(cli, ["--home", str(it.home.root), "audit", "reconcile"], prog_name="holdfast")
    assert shown.exit_code == 1
    assert "rm -rf src" in shown.output


def test_all_is_well_when_every_call_was_seen(stage):
    it = stage("claude-code")
    path = it.vault.parent / "t.jsonl"
    path.write_text(json.dumps(claude_line(1, "c1", "Write", file_path="a.py")) + "\n")
    it.send(it.hook("SessionStart", source="startup", transcript_path=str(path)))
    it.write("a.py", "c1")
    arguments = ["--home", str(it.home.root), "audit", "reconcile", "--json", "--session", "s1"]
    shown = CliRunner().invoke(cli, arguments, prog_name="holdfast")
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)[0]["missed"] == []


def test_codex_calls_without_a_hook_say_why(stage):
    it = stage("codex")
    path = it.vault.parent / "t.jsonl"
    call = {"type": "function_call", "name": "write_stdin", "call_id": "c9", "arguments": '{"chars": "x"}'}
    path.write_text(json.dumps({"type": "response_item", "timestamp": "2026-11-15T08:00:00Z", "payload": call}) + "\n")
    it.send(it.hook("SessionStart", source="startup", transcript_path=str(path)))
    (missed,) = reconcile(it.control.store, session_of(it)).missed
    assert missed.why == "this host has no hook for it"


def test_gemini_calls_are_compared_by_what_they_are(stage):
    it = stage("gemini", patience=0.1)
    path = it.vault.parent / "t.jsonl"
    calls = [{"id": f"g{n}", "name": "write_file", "args": it.write_arguments("a.py")} for n in range(3)]
    line = {"id": "m1", "type": "gemini", "timestamp": "2026-11-15T08:00:00Z", "content": "", "toolCalls": calls}
    path.write_text(json.dumps(line) + "\n")
    it.send(it.hook("SessionStart", source="startup", transcript_path=str(path)))
    it.write("a.py")
    it.write("a.py")
    assert len(reconcile(it.control.store, session_of(it)).missed) == 1


def test_opencode_keeps_its_calls_in_a_database(stage, tmp_path):
    it = stage("opencode")
    it.write("a.py", "c1")
    folder = tmp_path / "share" / "opencode"
    folder.mkdir(parents=True)
    database = sqlite3.connect(folder / "opencode.db")
    database.execute("CREATE TABLE session (id TEXT, parent_id TEXT)")
    database.execute("CREATE TABLE part (session_id TEXT, time_created INTEGER, data TEXT)")
    database.executemany("INSERT INTO session VALUES (?, ?)", [("s1", None), ("child", "s1"), ("other", None)])
    for session, call in (("s1", "c1"), ("child", "c2"), ("other", "c3")):
        part = {"type": "tool", "tool": "write", "callID": call, "state": {"input": {"filePath": "x"}}}
        database.execute("INSERT INTO part VALUES (?, ?, ?)", (session, 1_794_729_873_077, json.dumps(part)))
    database.commit()
    database.close()
    found = reconcile(it.control.store, session_of(it), data_home=tmp_path / "share")
    assert [call.call for call in found.missed] == ["c2"], "a sub-agent's calls belong to its parent, others do not"


def test_what_cannot_be_compared_says_so(stage, host, tmp_path):
    it = stage(host)
    it.write("a.py", "c1")
    found = reconcile(it.control.store, session_of(it), data_home=tmp_path)
    assert found.missed == ()
    assert "cannot be read" in found.problem
