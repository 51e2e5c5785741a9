"""The transcripts that the four real CLIs write can be imported, read and searched (SC11)."""

from __future__ import annotations

import pytest

from e2e.cli_hosts import ClaudeCode, Codex, Gemini, OpenCode
from e2e.installed_clis import requires_cli
from holdfast.chain.digests import Digests
from holdfast.chain.importers.claude_code import ClaudeCodeImporter
from holdfast.chain.importers.codex import CodexImporter
from holdfast.chain.importers.engine import ImportEngine
from holdfast.chain.importers.gemini import GeminiImporter
from holdfast.chain.importers.opencode import OpenCodeImporter
from holdfast.chain.reach import UserReach
from holdfast.chain.recall import Recall
from holdfast.store.search import Search
from holdfast.store.sqlite import SqliteStore
from holdfast.testing import (
    AnthropicServer,
    ChatCompletionsServer,
    GeminiServer,
    ResponsesServer,
    Script,
    ToolUse,
    Turn,
    Usage,
)

PROMPT = "please write the needlework file"


@pytest.fixture
def store(tmp_path):
    opened = SqliteStore(tmp_path / "holdfast.db", audit_dir=tmp_path / "audit")
    yield opened
    opened.close()


def imported(store, importer, root):
    """Import twice: the second time nothing is new."""
    first, second = (ImportEngine(store, user="local").run(importer, [root]) for _ in range(2))
    assert (first.broken_lines, first.skipped) == (0, []), first.to_dict()
    assert second.events == 0
    (session,) = store.sessions()
    return session


def checks(store, session, host):
    """What every host's transcript must have told."""
    assert session.vault == str(host.workspace.resolve())
    records = store.events(session.id.session)
    kinds = [record.kind for record in records]
    assert kinds[0] == "prompt_submitted"
    assert PROMPT in records[0].text
    assert kinds.count("tool_calling") == kinds.count("tool_called") >= 2
    digest = Digests(store).of(session)
    assert digest.last_reply == "done"
    assert any("a.txt" in use.path for use in digest.files) or "a.txt" in digest.commands[0].command
    assert any(run.outcome in ("exit 2", "failed") for run in digest.commands), digest.commands
    assert digest.tools["bash"] >= 1


def finds(store, tmp_path, session):
    search = Search(store, tmp_path / "search")
    recall = Recall(store, Digests(store), search, clock=lambda: 0.0)
    hits = recall.session_search(UserReach(store, "local"), "needlework")["hits"]
    search.close()
    assert hits[0]["sessionId"] == session.id.session
    assert hits[0]["invocationId"]
    return hits


@requires_cli("claude-code")
def test_SC11_claude_code_with_sub_agent_and_compaction(tmp_path, store):
    task = {"description": "d", "prompt": "look at it", "subagent_type": "general-purpose", "run_in_background": False}

    def choose(request):
        return child if "/" in request.conversation else parent

    parent = Script(
        lambda _: Turn(
            "I write it.", (ToolUse("Write", {"file_path": str(host.workspace / "a.txt"), "content": "hi\n"}),)
        ),
        Turn(tool_calls=(ToolUse("Bash", {"command": "ls /nonexistent-folder"}),)),
        Turn(tool_calls=(ToolUse("Agent", task),)),
        "done",
        then="done",
        call_id_prefix="parent",
    )
    child = Script("the child has looked", call_id_prefix="child")
    with AnthropicServer(choose, side_reply={"summary": "<summary>SUMMARY OF ALL</summary>"}) as server:
        host = ClaudeCode(tmp_path, server.url)
        run = host.run(PROMPT)
        assert run.exit_code == 0, run.explain()
        compacted = host.run("/compact", arguments=["--resume", run.transcript.stem])
        assert compacted.exit_code == 0, compacted.explain()
        host.run("go on", arguments=["--resume", run.transcript.stem])
    session = imported(store, ClaudeCodeImporter(), host.home / ".claude" / "projects")
    assert session.id.session == run.transcript.stem
    checks(store, session, host)
    finds(store, tmp_path, session)
    records = store.events(session.id.session)
    assert any(r.where.subagent.startswith("general-purpose#") and "child has looked" in r.text for r in records)
    (summary,) = [record for record in records if record.kind == "compacted"]
    assert "SUMMARY OF ALL" in summary.text
    assert summary.data["trigger"] == "manual"
    assert session.compressions == 1
    assert len({record.invocation for record in records if not record.where.subagent}) >= 2


@requires_cli("codex")
def test_SC11_codex_with_a_compaction(tmp_path, store):
    patch = "*** Begin Patch\n*** Add File: a.txt\n+made\n*** End Patch\n"
    script = Script(
        Turn("I write it.", (ToolUse("exec_command", {"cmd": "ls /nonexistent-folder"}),)),
        Turn(tool_calls=(ToolUse("apply_patch", patch),), usage=Usage(input_tokens=9000)),
        "done",
    )
    with ResponsesServer(script, side_reply={"summary": "SUMMARY OF ALL"}) as server:
        host = Codex(tmp_path, server.url)
        host.prepend_config("model_auto_compact_token_limit = 5000")
        run = host.run(PROMPT)
    assert run.exit_code == 0, run.explain()
    session = imported(store, CodexImporter(), host.codex_home / "sessions")
    checks(store, session, host)
    finds(store, tmp_path, session)
    assert session.id.session in run.transcript.name
    assert (session.window or 0) > 100_000
    records = store.events(session.id.session)
    assert any(record.kind == "compacted" and "SUMMARY OF ALL" in record.text for record in records)
    assert not any("environment_context" in record.text for record in records if record.kind == "prompt_submitted")


@requires_cli("gemini")
def test_SC11_gemini(tmp_path, store):
    script = Script(
        lambda _: Turn(
            "I write it.", (ToolUse("write_file", {"file_path": str(host.workspace / "a.txt"), "content": "hi\n"}),)
        ),
        Turn(tool_calls=(ToolUse("run_shell_command", {"command": "ls /nonexistent-folder"}),)),
        "done",
    )
    with GeminiServer(script) as server:
        host = Gemini(tmp_path, server.url)
        run = host.run(PROMPT)
    assert run.exit_code == 0, run.explain()
    session = imported(store, GeminiImporter(), host.home / ".gemini" / "tmp")
    checks(store, session, host)
    finds(store, tmp_path, session)
    assert session.id.session == run.events[0]["session_id"]


@requires_cli("opencode")
def test_SC11_opencode(tmp_path, store):
    script = Script(
        lambda _: Turn(
            "I write it.", (ToolUse("write", {"filePath": str(host.workspace / "a.txt"), "content": "hi\n"}),)
        ),
        Turn(tool_calls=(ToolUse("bash", {"command": "ls /nonexistent-folder", "description": "x"}),)),
        "done",
    )
    with ChatCompletionsServer(script) as server:
        host = OpenCode(tmp_path, server.url)
        run = host.run(PROMPT)
    assert run.exit_code == 0, run.explain()
    session = imported(store, OpenCodeImporter(), run.transcript.parent)
    checks(store, session, host)
    finds(store, tmp_path, session)
