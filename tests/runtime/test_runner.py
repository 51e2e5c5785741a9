"""The runner against a scripted model that speaks the real protocols."""

import asyncio
import json
from pathlib import Path

import pytest

from holdfast.core.history import is_valid
from holdfast.runtime.marks import DENIED, FAILED, INTERRUPTED
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.model_request import ToolUse
from holdfast.testing.responses_server import ResponsesServer
from holdfast.testing.script import Script, Turn, Usage
from runtime.stage import Stage, answering, play, settings

SERVERS = {"chat": ChatCompletionsServer, "responses": ResponsesServer}


def call(tool, call_id="", /, **given):
    return Turn(tool_calls=(ToolUse(tool, given, call_id),))


def calls(*uses):
    return Turn(tool_calls=tuple(ToolUse(tool, given, call_id) for tool, call_id, given in uses))


def on_stage(tmp_path, server, work, **options):
    """Play one conversation in one process."""
    runtime = options.pop("runtime", {})
    api = "responses" if isinstance(server, ResponsesServer) else "chat"

    async def whole():
        async with Stage(tmp_path, settings(server.base_url, api=api, **runtime), **options) as stage:
            return await work(stage)

    return play(whole)


@pytest.mark.parametrize("api", SERVERS)
def test_UI3_a_reply_is_streamed_recorded_and_measured(tmp_path, api):
    reply = Turn("Hello there, this is a reply in several pieces.", usage=Usage(input_tokens=123, output_tokens=9))
    with SERVERS[api](Script(reply)) as server:

        async def work(stage):
            end = await stage.conversation.send("hi")
            assert (end.reason, end.text) == ("done", reply.text)
            assert "".join(event.text for event in stage.of("text_delta")) == reply.text
            assert len(stage.of("text_delta")) > 1
            assert stage.kinds() == ["session_started", "prompt_submitted", "assistant_replied"]
            assert stage.last("usage").used == 123
            session = stage.conversation.session
            assert (session.used, session.exact) == (123, True)

        on_stage(tmp_path, server, work)
        assert server.requests[0].last_user_text == "hi"


@pytest.mark.parametrize("api", SERVERS)
def test_UI3_a_tool_runs_and_its_result_reaches_the_model(tmp_path, api):
    with SERVERS[api](
        Script(call("read", "c1", path="a.txt"), lambda request: f"It says {request.result_of('c1')}")
    ) as server:

        async def work(stage):
            (stage.vault / "a.txt").write_text("seven")
            end = await stage.conversation.send("what does a.txt say?")
            assert end.text == "It says seven"
            assert stage.last("tool_done").output == "seven"
            assert [item.kind for item in stage.history().items] == ["user", "call", "result", "assistant"]

        on_stage(tmp_path, server, work)


def test_PE6_once_runs_it_and_the_next_one_is_asked_again(tmp_path):
    script = Script(call("bash", command="touch made"), call("bash", command="touch made2"), "done")
    with ChatCompletionsServer(script) as server:

        async def work(stage):
            stage.on_event = answering(lambda: stage, "once", "once")
            await stage.conversation.send("make it")
            assert (stage.vault / "made").exists()
            assert (stage.vault / "made2").exists()
            assert len(stage.of("tool_waiting")) == 2
            assert stage.of("tool_answered")[0].approval.answered_by == "tester"

        on_stage(tmp_path, server, work)


def test_PE6_always_writes_the_rule_that_was_shown_and_is_not_asked_again(tmp_path):
    script = Script(call("bash", command="echo one"), call("bash", command="echo two"), "done")
    with ChatCompletionsServer(script) as server:

        async def work(stage):
            stage.on_event = answering(lambda: stage, "always")
            await stage.conversation.send("say it")
            assert len(stage.of("tool_waiting")) == 1
            shown = stage.of("tool_waiting")[0].approval.question["proposals"][0]
            assert shown["pattern"] in stage.control.home.config.read_text()
            assert [event.output for event in stage.of("tool_done")] == ["one\n", "two\n"]

        on_stage(tmp_path, server, work)


def test_PE6_for_a_while_holds_in_this_session_and_writes_nothing(tmp_path):
    script = Script(call("bash", command="echo one"), call("bash", command="echo two"), "done")
    with ChatCompletionsServer(script) as server:

        async def work(stage):
            stage.on_event = answering(lambda: stage, "for_a_while")
            await stage.conversation.send("say it")
            assert len(stage.of("tool_waiting")) == 1
            assert [event.output for event in stage.of("tool_done")] == ["one\n", "two\n"]
            assert not stage.control.home.config.exists()

        on_stage(tmp_path, server, work)


def test_PE6_a_denial_reaches_the_model_in_the_persons_words(tmp_path):
    script = Script(call("bash", "c1", command="touch made"), lambda request: request.result_of("c1"))
    with ChatCompletionsServer(script) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("make it"))
            await stage.until("tool_waiting")
            stage.answer("deny", message="not on my machine")
            end = await task
            assert end.text.startswith(DENIED)
            assert "not on my machine" in end.text
            assert not (stage.vault / "made").exists()
            assert "not on my machine" in stage.last("tool_denied").reason
            assert stage.history().items[2].text == end.text

        on_stage(tmp_path, server, work)


def test_PE9_unattended_an_ask_is_denied_with_a_reason_and_nothing_hangs(tmp_path):
    script = Script(call("bash", "c1", command="touch made"), lambda request: request.result_of("c1"))
    with ChatCompletionsServer(script) as server:

        async def work(stage):
            end = await stage.conversation.send("make it")
            assert end.text.startswith(DENIED)
            assert "Nobody can be asked" in end.text
            assert not stage.of("tool_waiting")
            assert not stage.control.store.approvals()

        on_stage(tmp_path, server, work, interactive=False)


def test_PE6_several_questions_of_one_reply_are_answered_in_any_order(tmp_path):
    script = Script(
        calls(
            ("bash", "c1", {"command": "echo 1"}),
            ("read", "c2", {"path": "a.txt"}),
            ("bash", "c3", {"command": "echo 3"}),
        ),
        lambda request: " ".join(request.result_of(name).strip() for name in ("c1", "c2", "c3")),
    )
    with ChatCompletionsServer(script) as server:

        async def work(stage):
            (stage.vault / "a.txt").write_text("2")
            task = asyncio.create_task(stage.conversation.send("count"))
            await stage.until("tool_waiting", 2)
            assert (await stage.until("tool_done")).output == "2"
            stage.answer("once", 1)
            await stage.until("tool_done", 2)
            stage.answer("once", 0)
            assert (await task).text == "1 2 3"
            assert [item.kind for item in stage.history().items] == [
                "user",
                *["call"] * 3,
                *["result"] * 3,
                "assistant",
            ]

        on_stage(tmp_path, server, work)


def test_PE6_an_answer_from_another_process_lets_the_run_go_on(tmp_path):
    with ChatCompletionsServer(Script(call("bash", command="echo yes"), "done")) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("go"))
            await stage.until("tool_waiting")
            other = stage.again()
            (approval,) = other.control.approvals.pending()
            other.control.approvals.answer(approval.id, "once", by="phone")
            other.control.close()
            assert (await task).reason == "done"
            assert stage.last("tool_answered").approval.answered_by == "phone"

        on_stage(tmp_path, server, work)


@pytest.mark.parametrize("answered", ["before", "after"])
def test_PE6_a_question_outlives_its_process(tmp_path, answered):
    script = Script(
        calls(("bash", "c1", {"command": "echo ran >> log"}), ("bash", "c2", {"command": "echo ran >> log"})),
        lambda request: f"{sorted(request.tool_results)}",
    )
    with ChatCompletionsServer(script) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("go"))
            await stage.until("tool_waiting", 2)
            stage.answer("once", 0)
            await stage.until("tool_done")
            stage.conversation.leave()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert stage.conversation.unfinished()
            async with stage.again() as later:
                assert later.conversation.unfinished()
                if answered == "before":
                    (approval,) = later.control.approvals.pending()
                    later.control.approvals.answer(approval.id, "once", by="phone")
                    end = await later.conversation.resume()
                    assert not later.of("tool_waiting")
                else:
                    task = asyncio.create_task(later.conversation.resume())
                    await later.until("tool_waiting")
                    later.answer("once")
                    end = await task
                assert (end.reason, end.text) == ("done", "['c1', 'c2']")
                assert (later.vault / "log").read_text() == "ran\nran\n"
                assert not later.conversation.unfinished()
                assert await later.conversation.resume() is None

        on_stage(tmp_path, server, work)


def test_PE6_a_sub_agents_question_outlives_its_process_too(tmp_path):
    def script_for(request):
        return inner if "do the inner thing" in request.messages[1].text else outer

    outer = Script(
        call("task", "t1", prompt="do the inner thing"), lambda request: f"sub-agent: {request.result_of('t1')}"
    )
    inner = Script(
        call("bash", "i1", command="echo ran >> log"),
        call("read", "i2", path="log"),
        lambda request: request.result_of("i2"),
    )
    with ChatCompletionsServer(script_for) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("delegate it"))
            waiting = await stage.until("tool_waiting")
            assert waiting.subagent == "general"
            stage.conversation.leave()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with stage.again() as later:
                task = asyncio.create_task(later.conversation.resume())
                await later.until("tool_waiting")
                later.answer("once")
                end = await task
                assert end.text == "sub-agent: ran\n"
                assert (later.vault / "log").read_text() == "ran\n"
                assert [item.kind for item in later.history().items] == ["user", "call", "result", "assistant"]

        on_stage(tmp_path, server, work)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_PE6_questions_of_nested_sub_agents_are_all_taken_up_in_another_process(tmp_path, order):
    """The main agent, its sub-agent and a sub-agent's sub-agent wait at once; each call runs exactly once."""

    def asking(call_id, log, says):
        return Script(call("bash", call_id, command=f"echo ran >> {log}"), says)

    scripts = {
        "the first thing": asking("a1", "first", "first done"),
        "the second thing": Script(call("task", "b1", prompt="the innermost thing"), "second done"),
        "the innermost thing": asking("c1", "innermost", "innermost done"),
    }
    main = Script(
        calls(
            ("bash", "m1", {"command": "echo ran >> own"}),
            ("task", "m2", {"prompt": "the first thing"}),
            ("task", "m3", {"prompt": "the second thing"}),
        ),
        lambda request: " and ".join(request.result_of(call_id) for call_id in ("m2", "m3")),
    )

    def script_for(request):
        return scripts.get(request.messages[1].text, main)

    with ChatCompletionsServer(script_for) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("do all of it"))
            await stage.until("tool_waiting", 3)
            stage.conversation.leave()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not list(stage.vault.iterdir())
            async with stage.again() as later:
                task = asyncio.create_task(later.conversation.resume())
                await later.until("tool_waiting", 3)
                for index in order:
                    later.answer("once", index)
                end = await task
                assert (end.reason, end.text) == ("done", "first done and second done")
                found = {path.name: path.read_text() for path in later.vault.iterdir()}
                assert found == dict.fromkeys(("own", "first", "innermost"), "ran\n")
                later.history()

        on_stage(tmp_path, server, work)


def test_PE6_stop_while_a_tool_runs_leaves_a_valid_history(tmp_path):
    with ChatCompletionsServer(Script(call("bash", command="echo begun > log; sleep 30"), "done")) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("go"))
            await stage.until("tool_waiting")
            stage.answer("once")
            await stage.until("tool_running")
            while not (stage.vault / "log").exists():
                await asyncio.sleep(0.01)
            assert stage.conversation.stop()
            end = await task
            assert end.reason == "stopped"
            items = stage.history().items
            assert items[2].text.startswith(INTERRUPTED)
            assert not stage.conversation.unfinished()
            assert (await stage.conversation.send("and now?")).text == "done"

        on_stage(tmp_path, server, work)
        roles = [message.role for message in server.requests[1].messages]
        assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


def test_PE6_stop_while_it_waits_ends_the_question(tmp_path):
    with ChatCompletionsServer(Script(call("bash", command="touch made"), "done")) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("go"))
            await stage.until("tool_waiting")
            stage.conversation.stop()
            assert (await task).reason == "stopped"
            assert stage.control.store.approvals()[0].status == "cancelled"
            assert stage.history().items[2].text.startswith(DENIED)
            assert await stage.conversation.resume() is None
            assert not (stage.vault / "made").exists()

        on_stage(tmp_path, server, work)


def test_PE6_stop_while_the_model_speaks(tmp_path):
    with ChatCompletionsServer(Script(Turn("word " * 200, piece_delay=0.05), "done")) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("talk"))
            await stage.until("text_delta")
            stage.conversation.stop()
            assert (await task).reason == "stopped"
            assert (await stage.conversation.send("short, please")).text == "done"

        on_stage(tmp_path, server, work)


def test_PE6_messages_that_come_meanwhile_are_queued_and_taken_next(tmp_path):
    with ChatCompletionsServer(
        Script(call("bash", command="echo 1"), "first", lambda request: f"then {request.last_user_text}")
    ) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("one"))
            await stage.until("tool_waiting")
            assert await stage.conversation.send("two") is None
            stage.answer("once")
            end = await task
            assert end.text == "then two"
            assert [event.text for event in stage.of("replied")] == ["first", "then two"]

        on_stage(tmp_path, server, work)


def test_PE6_a_queued_message_outlives_its_process(tmp_path):
    with ChatCompletionsServer(Script(call("bash", command="echo 1"), "first", "second")) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("one"))
            await stage.until("tool_waiting")
            await stage.conversation.send("two")
            stage.conversation.leave()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with stage.again() as later:
                later.on_event = answering(lambda: later, "once")
                end = await later.conversation.resume()
                assert end.reason == "done"
                prompts = [text for kind, text in later.transcript() if kind == "prompt_submitted"]
                assert sorted(prompts) == ["one", "two"]

        on_stage(tmp_path, server, work)


@pytest.mark.parametrize("api", SERVERS)
def test_UI3_an_answer_cut_at_the_output_limit_goes_on_by_itself(tmp_path, api):
    script = Script(
        Turn("The first half", at_limit=True), lambda request: f"and the rest ({request.last_user_text[:10]})"
    )
    with SERVERS[api](script) as server:

        async def work(stage):
            end = await stage.conversation.send("tell me all")
            assert end.text == "and the rest ([holdfast])"
            typed = [event.typed for event in stage.of("turn_started")]
            assert typed == [True, False]

        on_stage(tmp_path, server, work)
        assert [m.text for m in server.requests[1].messages if m.role == "assistant"] == ["The first half"]


def test_DL3_arguments_that_are_no_json_are_told_and_nothing_runs(tmp_path):
    script = Script(
        Turn(tool_calls=(ToolUse("write", '{"path": "a.txt", "content": "cut of', "c1"),)),
        lambda request: request.result_of("c1"),
    )
    with ChatCompletionsServer(script) as server:

        async def work(stage):
            end = await stage.conversation.send("write it")
            assert end.text.startswith(FAILED)
            assert "output limit" in end.text
            assert not (stage.vault / "a.txt").exists()
            assert stage.history().items[1].tool == "write"

        on_stage(tmp_path, server, work)


def test_DL3_a_tool_that_does_not_exist_is_told_to_the_model_and_recorded(tmp_path):
    with ChatCompletionsServer(
        Script(call("teleport", "c1", to="Mars"), lambda request: request.result_of("c1"))
    ) as server:

        async def work(stage):
            end = await stage.conversation.send("go")
            assert "not found" in end.text
            assert "tool_called" in stage.kinds()
            stage.history()

        on_stage(tmp_path, server, work)


def test_PE6_call_ids_that_a_server_gives_out_again_are_told_apart(tmp_path):
    script = Script(
        call("write", "call_0", path="a", content="1"), call("write", "call_0", path="a", content="2"), "done"
    )
    with ChatCompletionsServer(script) as server:

        async def work(stage):
            await stage.conversation.send("write twice")
            assert (stage.vault / "a").read_text() == "2"
            ids = [event.call_id for event in stage.of("tool_done")]
            assert len(set(ids)) == 2

        on_stage(tmp_path, server, work)


def test_UI3_a_failing_tool_is_the_models_to_read(tmp_path):
    async def broken(context, given):
        raise ZeroDivisionError("by zero")

    from holdfast.core.tools import ToolSpec
    from holdfast.runtime.tool import Tool

    tool = Tool("plan", "breaks", {"type": "object", "properties": {}}, broken, ToolSpec("plan", "none"))
    with ChatCompletionsServer(Script(call("plan", "c1"), lambda request: request.result_of("c1"))) as server:

        async def work(stage):
            end = await stage.conversation.send("plan")
            assert end.reason == "done"
            assert "ZeroDivisionError" in end.text

        on_stage(tmp_path, server, work, tools=(tool,))


def test_UI3_a_tool_that_is_cancelled_from_within_does_not_end_the_run(tmp_path):
    from holdfast.core.tools import ToolSpec
    from holdfast.runtime.tool import Tool

    async def gives_up(context, given):
        raise asyncio.CancelledError

    tool = Tool("plan", "gives up", {"type": "object", "properties": {}}, gives_up, ToolSpec("plan", "none"))
    with ChatCompletionsServer(Script(call("plan", "c1"), lambda request: request.result_of("c1"))) as server:

        async def work(stage):
            end = await stage.conversation.send("plan")
            assert "cancelled from within" in end.text

        on_stage(tmp_path, server, work, tools=(tool,))


def test_HK4_what_was_judged_is_what_runs(tmp_path):
    hooks = {"tool": {"before": [{"tool": "write", "mergeInput": {"content": "by default"}}]}}
    with ChatCompletionsServer(Script(call("write", path="a.txt"), "done")) as server:

        async def work(stage):
            await stage.conversation.send("write")
            assert (stage.vault / "a.txt").read_text() == "by default"

        on_stage(tmp_path, server, work, runtime={"hooks": hooks})


def test_TR1_a_long_output_is_cut_and_kept_whole(tmp_path):
    with ChatCompletionsServer(
        Script(call("read", "c1", path="long.txt"), lambda request: request.result_of("c1"))
    ) as server:

        async def work(stage):
            (stage.vault / "long.txt").write_text("".join(f"line {number}\n" for number in range(5000)))
            await stage.conversation.send("read it")
            done = stage.last("tool_done")
            assert Path(done.full_output).read_text().endswith("line 4999\n")
            assert len(done.output) < 60_000
            assert stage.history().items[2].kept_at == done.full_output

        on_stage(tmp_path, server, work)


def test_DL1_a_loop_is_asked_about_and_a_no_ends_it(tmp_path):
    def step(request):
        last = request.messages[-1]
        if last.role == "tool" and last.text.startswith(DENIED):
            return Turn("I stop.")
        return call("read", path="status.txt")

    with ChatCompletionsServer(Script(then=step)) as server:

        async def work(stage):
            (stage.vault / "status.txt").write_text("waiting")
            stage.on_event = answering(lambda: stage, "deny")
            end = await stage.conversation.send("watch it")
            assert end.text == "I stop."
            assert stage.of("tool_waiting")[0].approval.policy == "doom_loop"
            assert len(stage.of("tool_done")) <= 5

        on_stage(tmp_path, server, work)


def test_PE6_only_one_process_drives_a_session(tmp_path):
    with ChatCompletionsServer(Script(call("bash", command="echo 1"), "done", "and the other")) as server:

        async def work(stage):
            task = asyncio.create_task(stage.conversation.send("go"))
            await stage.until("tool_waiting")
            async with stage.again() as other:
                assert await other.conversation.resume() is None
                assert "another process" in other.last("notice").text
                assert await other.conversation.send("from elsewhere") is None
            stage.answer("once")
            assert (await task).text == "and the other"
            assert stage.of("turn_started")[-1].text == "from elsewhere"

        on_stage(tmp_path, server, work)


def test_SC4_every_message_is_in_the_transcript_before_the_next_request(tmp_path):
    seen = []

    def step(request):
        seen.append(request)
        return call("read", path="a.txt") if len(seen) < 3 else "done"

    with ChatCompletionsServer(Script(then=step)) as server:

        async def work(stage):
            (stage.vault / "a.txt").write_text("x")
            await stage.conversation.send("go")
            kinds = stage.kinds()
            assert kinds == [
                "session_started",
                "prompt_submitted",
                *["tool_calling", "tool_called"] * 2,
                "assistant_replied",
            ]
            return json.dumps([item.kind for item in stage.history().items])

        on_stage(tmp_path, server, work)
        assert is_valid([])
