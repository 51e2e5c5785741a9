"""Calls that a crash cut off: nothing is run twice in silence, and the history stays valid.

The crash is played by committing what a process had made durable before it died.
"""

import asyncio

import pytest

from holdfast.core.events import PromptSubmitted, ToolCall, ToolCalling
from holdfast.runtime.marks import INTERRUPTED
from holdfast.runtime.transcript import started_note
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.script import Script
from runtime.stage import Stage, play, settings


def after_crash(tmp_path, server, work, *, crash, runtime=None, **options):
    async def whole():
        async with Stage(tmp_path, settings(server.base_url, **(runtime or {})), **options) as stage:
            crash(stage)
            return await work(stage)

    return play(whole)


def died_in(tool, **given):
    """A process that was killed while a call ran, or waited, or was about to begin."""

    def crash(stage):
        control, where = stage.control, stage.session.id
        header = {"at": control.clock(), "where": where, "invocation": "run-1"}
        control.plane.handle(PromptSubmitted(id="e1", **header, text="go"))
        call = ToolCall("c1", tool, given, cwd=str(stage.vault))
        control.plane.handle(ToolCalling(id="e2", **header, call=call))
        control.store.note(f"run:{where.session}", {"invocation": "run-1", "state": "running"})

    return crash


def results(request):
    return request.result_of("c1")


def test_PE6_a_write_that_may_have_happened_is_asked_about(tmp_path):
    with ChatCompletionsServer(Script(results)) as server:

        async def work(stage):
            assert stage.history().open_calls[0].standing == "started"
            assert stage.history().items[-1].text.startswith(INTERRUPTED)
            task = asyncio.create_task(stage.conversation.resume())
            waiting = await stage.until("tool_waiting")
            assert waiting.approval.policy == "interrupted"
            assert "may or may not" in waiting.approval.question["findings"][0]["why"]["en"]
            assert not (stage.vault / "a.txt").exists()
            stage.answer("once")
            assert (await task).text == "wrote a.txt"
            assert (stage.vault / "a.txt").read_text() == "x"

        after_crash(tmp_path, server, work, crash=died_in("write", path="a.txt", content="x"))


def test_PE6_a_no_leaves_it_unrepeated_and_the_model_is_told(tmp_path):
    with ChatCompletionsServer(Script(results)) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.resume())
            await stage.until("tool_waiting")
            stage.answer("deny", message="it is there already")
            end = await task
            assert end.text.startswith(INTERRUPTED)
            assert "it is there already" in end.text
            assert not (stage.vault / "a.txt").exists()

        after_crash(tmp_path, server, work, crash=died_in("write", path="a.txt", content="x"))


def test_PE9_unattended_it_is_not_repeated_and_nobody_is_asked(tmp_path):
    with ChatCompletionsServer(Script(results)) as server:

        async def work(stage):
            end = await stage.conversation.resume()
            assert "was not repeated" in end.text
            assert not stage.of("tool_waiting")

        after_crash(tmp_path, server, work, crash=died_in("write", path="a.txt", content="x"), interactive=False)


def test_PE6_a_read_is_not_repeated_either_but_needs_no_question(tmp_path):
    with ChatCompletionsServer(Script(results)) as server:

        async def work(stage):
            end = await stage.conversation.resume()
            assert "call it again" in end.text
            assert not stage.of("tool_running")
            assert not stage.of("tool_waiting")

        after_crash(tmp_path, server, work, crash=died_in("read", path="a.txt"))


def test_PE6_an_approved_call_that_had_begun_is_asked_about_again(tmp_path):
    def crash(stage):
        died_in("bash", command="touch made")(stage)
        (approval,) = stage.control.approvals.pending()
        stage.control.approvals.answer(approval.id, "once", by="tester")
        stage.control.store.note(started_note(stage.session.id, "c1"), 1.0)

    with ChatCompletionsServer(Script("done")) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.resume())
            waiting = await stage.until("tool_waiting")
            assert waiting.approval.policy == "interrupted"
            stage.answer("deny")
            await task
            assert not (stage.vault / "made").exists()

        after_crash(tmp_path, server, work, crash=crash)


def test_PE6_a_second_crash_finds_the_same_question(tmp_path):
    with ChatCompletionsServer(Script("done")) as server:

        async def work(stage):
            for _ in range(2):
                task = asyncio.create_task(stage.conversation.resume())
                await stage.until("tool_waiting", len(stage.of("tool_waiting")) + 1)
                stage.conversation.leave()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert len(stage.control.approvals.pending()) == 1

        after_crash(tmp_path, server, work, crash=died_in("write", path="a.txt", content="x"))


def test_PE6_a_run_that_died_between_words_and_calls_goes_on(tmp_path):
    from holdfast.core.events import AssistantReplied

    def crash(stage):
        control, where = stage.control, stage.session.id
        header = {"at": control.clock(), "where": where, "invocation": "run-1"}
        control.plane.handle(PromptSubmitted(id="e1", **header, text="go"))
        control.plane.handle(AssistantReplied(id="e2", **header, text="I will read it now."))
        control.store.note(f"run:{where.session}", {"invocation": "run-1", "state": "running"})

    with ChatCompletionsServer(Script("here it is")) as server:

        async def work(stage):
            end = await stage.conversation.resume()
            assert end.text == "here it is"

        after_crash(tmp_path, server, work, crash=crash)
        assert [message.role for message in server.requests[0].messages] == ["system", "user", "assistant", "user"]


def test_PE6_a_tool_that_is_gone_meanwhile_is_named(tmp_path):
    with ChatCompletionsServer(Script(results)) as server:

        async def work(stage):
            end = await stage.conversation.resume()
            assert "no tool 'write' any more" in end.text

        after_crash(tmp_path, server, work, crash=died_in("write", path="a.txt", content="x"), tools=())
