"""Holdfast inside the real Claude Code: attached as a user does it, driven by a scripted model."""

from __future__ import annotations

import json
import os
import signal

import pytest

from e2e.attached import ALLOW_BASH, Later, Watched, config
from e2e.cli_hosts import ClaudeCode
from e2e.installed_clis import requires_cli
from holdfast.doors import daemon_process
from holdfast.store.home import own_pids
from holdfast.testing import AnthropicServer, Script, ToolUse, Turn, Usage

pytestmark = [pytest.mark.e2e, requires_cli("claude-code")]


@pytest.fixture
def watched(holdfast, tmp_path):
    """Attaches to a host in this test's folder, under a configuration."""

    def make(server, *, settings=PLAIN, **options):
        holdfast.configure(settings)
        return Watched(ClaudeCode(tmp_path, server.url), holdfast, **options)

    return make


PLAIN = config()


def calls(*uses):
    return Turn(tool_calls=tuple(ToolUse(name, arguments) for name, arguments in uses))


def bash(*commands):
    return calls(*(("Bash", {"command": command}) for command in commands))


def write(it, *names):
    return calls(*(("Write", {"file_path": str(it.host.workspace / n), "content": "x"}) for n in names))


def read(it, *names):
    return calls(*(("Read", {"file_path": str(it.host.workspace / n)}) for n in names))


def remember(it):
    """A memory bank with one anchor."""
    details = it.host.workspace / "memory-bank" / "details"
    details.mkdir(parents=True)
    (details.parent / "MEMORY.md").write_text("# Project\nREMEMBER THIS\n\n## Current Focus\n- Goal: ship\n")
    (details / "patterns.md").write_text("# Patterns\n")
    (details / "progress.md").write_text("# Progress\n")


def test_HO6_a_loop_of_reading_writing_and_running_is_judged_and_recorded(watched):
    rule = '{ "domain": "edit", "pattern": "vault:/secret/**", "decision": "deny" }'
    with AnthropicServer(later := Later()) as server:
        it = watched(server, settings=config(rule, ALLOW_BASH))
        (it.host.workspace / "notes.txt").write_text("hello")
        later.play(
            Script(
                read(it, "notes.txt"),
                write(it, "a.py", "secret/b.py"),
                bash("cat a.py"),
                Turn(text="all done", usage=Usage(input_tokens=50_000)),
            )
        )
        run = it.host.run("read, write, run")
    assert run.exit_code == 0, run.explain()
    assert (it.host.workspace / "a.py").read_text() == "x"
    assert not (it.host.workspace / "secret").exists()
    assert "denied by the rule vault:/secret/**" in server.requests[-1].result_of("call_2_2")
    assert it.decisions() == [("read", "allow"), ("write", "allow"), ("write", "deny"), ("bash", "allow")]
    assert it.wait_for(lambda: it.events("assistant_replied"))
    kinds = [record.kind for record in it.events()]
    assert kinds[:2] == ["session_started", "prompt_submitted"]
    assert [record.text for record in it.events("prompt_submitted")] == ["read, write, run"]
    assert [record.text for record in it.events("assistant_replied")] == ["all done"]
    assert it.events("tool_called")[0].text == "hello"
    assert len({record.invocation for record in it.events("tool_calling")}) == 1


def test_HO5_a_question_is_answered_from_the_inbox(watched):
    with AnthropicServer(Script(bash("touch asked"), "done")) as server:
        it = watched(server)
        with it.somebody_answers("once") as answered:
            run = it.host.run("run it")
    assert (it.host.workspace / "asked").exists(), run.explain()
    assert [approval.tool for approval in answered] == ["Bash"]


def test_HO5_at_the_deadline_it_is_denied_with_a_reason(watched):
    with AnthropicServer(Script(bash("touch asked"), "done")) as server:
        it = watched(server, deadline=3)
        run = it.host.run("run it")
    assert not (it.host.workspace / "asked").exists(), run.explain()
    assert "Nobody answered in time" in server.requests[-1].result_of("call_1_1")
    assert it.control.approvals.pending() == []


def test_HK4_the_input_that_was_judged_is_the_one_that_runs(watched):
    hook = '{ "tool": { "before": [ { "tool": "bash", "mergeInput": { "timeout": 1500 } } ] } }'
    with AnthropicServer(Script(bash("sleep 30; touch late"), "done")) as server:
        it = watched(server, settings=config(ALLOW_BASH, hooks=hook))
        run = it.host.run("run it")
    assert run.seconds < 25, "the timeout that the hook added has ended the command"
    assert not (it.host.workspace / "late").exists()


def test_TR1_a_long_output_is_cut_for_the_model_and_kept_whole(watched):
    with AnthropicServer(Script(bash("seq 1 3000"), "done")) as server:
        it = watched(server, settings=config(ALLOW_BASH, truncation='{ "maxLines": 20 }'))
        it.host.run("count")
    shown = server.requests[-1].result_of("call_1_1")
    assert "3000" in shown
    assert "1500" not in shown
    (kept,) = (it.host.workspace / ".agent-output").glob("*.txt")
    assert kept.read_text().split() == [str(number) for number in range(1, 3001)]
    assert kept.name in shown


def test_PE4_a_secret_file_is_asked_about_before_it_is_read(watched):
    with AnthropicServer(later := Later()) as server:
        it = watched(server)
        (it.host.workspace / ".env").write_text("KEY=s3cret")
        later.play(Script(read(it, ".env"), "done"))
        with it.somebody_answers("deny", "not that one"):
            it.host.run("look")
    assert "not that one" in server.requests[-1].result_of("call_1_1")
    assert "s3cret" not in server.requests[-1].transcript


def test_MB9_the_recovery_gate_holds_through_a_real_compaction(watched):
    with AnthropicServer(later := Later(), side_reply={"summary": "<summary>SUMMARY</summary>"}) as server:
        it = watched(server)
        remember(it)
        anchor = "memory-bank/details/progress.md"
        later.play(
            Script(
                read(it, anchor),
                "first done",
                write(it, "early.py"),
                read(it, anchor),
                write(it, "late.py"),
                "second done",
            )
        )
        first = it.host.run("begin")
        session = first.events[0]["session_id"]
        it.host.run("/compact", arguments=["--resume", session])
        run = it.host.run("go on", arguments=["--resume", session])
    assert "REMEMBER THIS" in server.requests[0].transcript, "the memory is in the first request"
    after = server.requests[2]
    assert "<memory-bank-anchors>" in after.transcript, "the anchors reach the working model"
    assert f"- {anchor}" in after.transcript
    assert after.transcript.count("REMEMBER THIS") == 1
    refused = server.requests[3].result_of("call_3_1")
    assert "[Recovery Gate]" in refused
    assert f'Read(file_path="{anchor}")' in refused
    assert not (it.host.workspace / "early.py").exists()
    assert (it.host.workspace / "late.py").exists(), run.explain()
    assert [record.kind for record in it.events("compacting", "compacted")] == ["compacting", "compacted"]
    assert it.sessions() == [session], "a compaction stays in its session"


def test_SC10_a_full_session_is_sealed_instead_of_compacted_and_the_next_one_is_told(watched):
    full = Turn(text="working on it", tool_calls=bash("echo full").tool_calls, usage=Usage(input_tokens=90_000))
    with AnthropicServer(later := Later(), side_reply={"summary": "<summary>SUMMARY</summary>"}) as server:
        it = watched(server, settings=config(ALLOW_BASH, strategy='{ "strategy": "handoff" }'))
        it.host.extra_environment["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "100000"
        later.play(Script(bash("echo before"), full, "as far as it goes", "hello again"))
        first = it.host.run("build the bridge")
        assert first.exit_code == 0, first.explain()
        (session,) = it.sessions()
        assert it.wait_for(lambda: it.control.store.session(session).state == "sealed", 30)
        assert server.side_requests == [], "it was not compacted"
        second = it.host.run("go on")
        assert second.exit_code == 0, second.explain()
    sealed, fresh = (it.control.store.session(name) for name in it.sessions())
    assert (fresh.id.key, fresh.number) == (sealed.id.key, 2), "the new conversation goes on with the thread"
    told = server.requests[-1].transcript
    assert "<holdfast-session>" in told
    assert "build the bridge" in told


def test_MB2_the_context_gate_warns_the_user_and_blocks_where_it_should(watched):
    with AnthropicServer(later := Later()) as server:
        it = watched(server, settings=config(memory='{ "guardMode": "block" }'))
        remember(it)
        later.play(
            Script(
                write(it, "src/auth/a.ts", "main.py"),
                read(it, "memory-bank/details/patterns.md"),
                write(it, "src/auth/a.ts"),
                "done",
            )
        )
        run = it.host.run("change it")
    assert "[Memory Bank Gating]" in server.requests[1].result_of("call_1_1")
    assert (it.host.workspace / "src" / "auth" / "a.ts").exists()
    shown = [event for event in run.events if "[Memory Bank Gating]" in json.dumps(event)]
    assert shown, "the warning about main.py is shown to the user"


def test_MB5_only_the_writer_writes_the_memory_bank(watched):
    def choose(request):
        return child if "/" in request.conversation else parent

    task = {
        "description": "write it down",
        "prompt": "the user confirmed",
        "subagent_type": "memory-bank-writer",
        "run_in_background": False,
    }
    with AnthropicServer(choose) as server:
        it = watched(server)
        remember(it)
        note = "memory-bank/details/notes.md"
        parent = Script(write(it, note), calls(("Agent", task)), "done", then="done", call_id_prefix="parent")
        child = Script(write(it, note, "elsewhere.py"), "written", then="written", call_id_prefix="child")
        run = it.host.run("remember it")
    assert "only memory-bank-writer" in server.requests[1].result_of("parent_1_1"), run.explain()
    assert (it.host.workspace / note).exists(), "the agent that attach installed may"
    writer = [record.where.subagent for record in it.events("tool_calling") if record.where.subagent]
    assert writer
    assert all(name.startswith("memory-bank-writer#") for name in writer)


def test_a_sub_agent_is_denied_too(watched):
    rule = '{ "domain": "edit", "pattern": "vault:/secret/**", "decision": "deny" }'

    def choose(request):
        return child if "/" in request.conversation else parent

    task = {"description": "d", "prompt": "p", "subagent_type": "general-purpose", "run_in_background": False}
    with AnthropicServer(choose) as server:
        it = watched(server, settings=config(rule))
        parent = Script(calls(("Agent", task)), "done", then="done", call_id_prefix="parent")
        child = Script(write(it, "secret/a.py"), "child done", then="child done", call_id_prefix="child")
        it.host.run("delegate")
    assert not (it.host.workspace / "secret").exists()
    denied = [entry for entry in it.audit() if entry["decision"] == "deny"]
    assert [entry["subagent"].partition("#")[0] for entry in denied] == ["general-purpose"]


def test_DL1_a_loop_is_stopped(watched):
    with AnthropicServer(Script(*[bash("cat notes.txt")] * 6, then="done")) as server:
        it = watched(server, settings=config(ALLOW_BASH))
        (it.host.workspace / "notes.txt").write_text("same")
        with it.somebody_answers("deny", "you are going in circles") as answered:
            it.host.run("look")
    assert answered
    assert answered[0].policy == "doom_loop"
    assert any("going in circles" in text for text in server.requests[-1].tool_results.values())


def test_DL3_calls_that_reached_no_hook_are_counted(watched):
    bad = calls(("NoSuchTool", {"a": 1}))
    with AnthropicServer(Script(*[bad] * 5, then="done")) as server:
        it = watched(server)
        it.host.run("try")
    unhooked = [record for record in it.events("tool_called") if record.data["hooked"] is False]
    assert len(unhooked) == 5
    assert any("the same" in request.transcript.lower() for request in server.requests[3:]), "the model is told"


def test_HO4_a_worker_that_is_killed_is_replaced_and_the_next_hook_works(watched, holdfast):
    with AnthropicServer(later := Later()) as server:
        it = watched(server)

        def kill(request):
            os.kill(own_pids(holdfast.home)[-1], signal.SIGKILL)
            return write(it, "after.py")

        later.play(Script(write(it, "before.py"), kill, write(it, "again.py"), "done"))
        run = it.host.run("write")
    assert (it.host.workspace / "before.py").exists(), run.explain()
    assert (it.host.workspace / "again.py").exists(), run.explain()
    assert daemon_process.is_alive(holdfast.home)


def test_HO4_without_any_daemon_writes_are_blocked_reads_go_on_and_the_next_prompt_starts_one(watched, holdfast):
    with AnthropicServer(later := Later()) as server:
        it = watched(server)
        (it.host.workspace / "notes.txt").write_text("hello")

        def stop(request):
            assert daemon_process.stop(holdfast.home)
            return Turn(tool_calls=(*write(it, "blocked.py").tool_calls, *read(it, "notes.txt").tool_calls))

        later.play(Script(stop, "done", write(it, "allowed.py"), "done"))
        first = it.host.run("write")
        session = first.events[0]["session_id"]
        assert not (it.host.workspace / "blocked.py").exists(), first.explain()
        assert "hello" in server.requests[1].result_of("call_1_2")
        second = it.host.run("again", arguments=["--resume", session])
    assert (it.host.workspace / "allowed.py").exists(), second.explain()
    assert it.sessions() == [session]


def test_HO1_after_detach_nothing_of_ours_runs(watched):
    with AnthropicServer(later := Later()) as server:
        it = watched(server)
        it.host.settings.write_text(it.host.settings.read_text().replace("{\n", '{\n  "model": "opus",\n', 1))
        later.play(Script(write(it, "a.py"), "done", write(it, "b.py"), "done"))
        it.host.run("write")
        it.detach()
        assert json.loads(it.host.settings.read_text()) == {"model": "opus"}
        it.host.run("write")
    assert (it.host.workspace / "b.py").exists()
    assert it.decisions() == [("write", "allow")]
