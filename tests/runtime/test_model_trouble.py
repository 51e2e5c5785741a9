"""What a person sees when a model cannot answer, and when asking again helps."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.runtime.models import choose, key_for
from holdfast.runtime.trouble import backoff
from holdfast.store.home import Home
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.model_request import ToolUse
from holdfast.testing.responses_server import ResponsesServer
from holdfast.testing.script import ContextOverflow, Failure, Script, Turn, Usage
from runtime.stage import Stage, play, settings

SERVERS = {"chat": ChatCompletionsServer, "responses": ResponsesServer}


def turn(tmp_path, server, message="hi", *, check=None, inline=None, messages=(), **runtime):
    api = "responses" if isinstance(server, ResponsesServer) else "chat"

    async def whole():
        chosen = inline or settings(server.base_url, api=api, **runtime)
        async with Stage(tmp_path, chosen) as stage:
            for before in messages:
                await stage.conversation.send(before)
            end = await stage.conversation.send(message)
            stage.history()
            if check:
                check(stage)
            return end, stage

    return play(whole)


@pytest.mark.parametrize("api", SERVERS)
def test_DL1_a_rate_limit_is_waited_for_in_sight_and_then_passes(tmp_path, api):
    with SERVERS[api](Script(Failure(429, "slow down", retry_after=0.05), "here I am")) as server:
        end, stage = turn(tmp_path, server)
    assert end.text == "here I am"
    (retry,) = stage.of("retry_in")
    assert (retry.seconds, retry.attempt) == (0.05, 1)
    assert "slow down" in retry.why


def test_DL1_three_tries_are_enough(tmp_path):
    with ChatCompletionsServer(Script(then=Failure(503, "down", retry_after=0.01))) as server:
        end, stage = turn(tmp_path, server)
        assert len(server.requests) == 3
    assert end.reason == "failed"
    assert stage.last("problem").code == "attempts"


def test_CO1_too_long_is_compacted_and_tried_once_more(tmp_path):
    def after_overflow(request):
        return f"short again: {'【会话摘要】' in request.system}"

    script = Script("one", "two", "three", "four", ContextOverflow(), "SUMMARY OF IT ALL", after_overflow)
    with ChatCompletionsServer(script) as server:
        end, stage = turn(tmp_path, server, messages=["word " * 400, "b " * 300, "c " * 300, "d"])
        assert end.text == "short again: True"
        assert len(server.requests) == 7
    assert stage.last("compaction").method == "summary"


def test_CO1_too_long_twice_is_told(tmp_path):
    def step(request):
        return ContextOverflow() if request.tools else "a summary"

    with ChatCompletionsServer(Script(then=step)) as server:
        end, stage = turn(tmp_path, server)
    assert end.reason == "failed"
    assert stage.last("problem").code == "overflow"
    assert "/compact" in stage.last("problem").next_step


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (Failure(401, "bad key"), "key_refused", "bad key"),
        (Failure(404, "The model `scripted` does not exist"), "model_unknown", "does not exist"),
        (Failure(429, "You exceeded your current quota"), "quota", "used up"),
        (Failure(400, "temperature is out of range"), "refused", "temperature"),
    ],
)
def test_UI3_what_cannot_be_helped_by_trying_again_is_told_at_once(tmp_path, failure, code, words):
    with ChatCompletionsServer(Script(failure)) as server:
        end, stage = turn(tmp_path, server)
        assert len(server.requests) == 1
    problem = stage.last("problem")
    assert (end.reason, problem.code) == ("failed", code)
    assert words in problem.text
    assert problem.next_step


def test_UI3_a_stream_that_breaks_off_is_asked_for_again(tmp_path):
    with ChatCompletionsServer(Script(Turn("a long answer that breaks", cut_after=3), "whole")) as server:
        end, stage = turn(tmp_path, server)
    assert end.text == "whole"
    assert stage.of("text_reset")
    assert [text for kind, text in stage_texts(stage) if kind == "replied"] == ["whole"]


def stage_texts(stage):
    return [(event.kind, event.text) for event in stage.events if hasattr(event, "text")]


def test_UI3_a_server_that_is_not_there(tmp_path):
    with ChatCompletionsServer(Script()) as server:
        gone = server.base_url
    inline = settings(gone, doomLoop={"maxAttempts": 1})

    async def whole():
        async with Stage(tmp_path, inline) as stage:
            await stage.conversation.send("hi")
            return stage

    stage = play(whole)
    assert stage.last("problem").code in ("attempts", "unreachable")
    assert "cannot be reached" in stage.last("retry_in").why


def test_UI3_a_missing_key_names_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    inline = settings("https://models.invalid/v1", about={"keyEnv": "SOME_KEY"})

    async def whole():
        async with Stage(tmp_path, inline) as stage:
            await stage.conversation.send("hi")
            return stage

    problem = play(whole).last("problem")
    assert problem.code == "key_missing"
    assert "SOME_KEY" in problem.text
    assert "credentials" in problem.next_step


def test_UI3_keys_come_from_the_environment_then_from_the_file(tmp_path):
    home = Home(tmp_path)
    runtime = Stage(
        tmp_path, settings("https://models.invalid/v1", about={"keyEnv": "SOME_KEY"})
    ).control.settings.runtime
    choice = choose(runtime)
    assert key_for(choice, home, {}) is None
    home.credentials.write_text("SOME_KEY=from-file\n")
    home.credentials.chmod(0o600)
    assert key_for(choice, home, {}) == "from-file"
    assert key_for(choice, home, {"SOME_KEY": "from-environment"}) == "from-environment"


def test_UI3_a_budget_stops_the_thread_before_the_next_request(tmp_path):
    expensive = Turn("ok", usage=Usage(input_tokens=900, output_tokens=200))
    with ChatCompletionsServer(Script(expensive)) as server:
        end, stage = turn(tmp_path, server, messages=["first"], budget={"maxTokens": 1000})
        assert len(server.requests) == 1
    assert end.reason == "failed"
    assert stage.last("problem").code == "budget"
    assert "1100" in stage.last("problem").text


def test_UI3_cost_is_counted_over_the_thread(tmp_path):
    reply = Turn("ok", usage=Usage(input_tokens=1_000_000, output_tokens=500_000))
    prices = {"inputPrice": 2.0, "outputPrice": 10.0}
    with ChatCompletionsServer(Script(reply, reply)) as server:
        _, stage = turn(tmp_path, server, messages=["first"], about=prices)
    assert stage.last("usage").thread_cost == pytest.approx(14.0)
    assert stage.last("usage").thread_tokens == 3_000_000


def test_HK5_prompt_and_parameters_reach_the_wire_in_their_order(tmp_path):
    runtime = {
        "systemPrompt": {"mode": "custom", "text": "Custom prompt.", "params": {"temperature": 0.1, "topP": 0.5}},
        "hooks": {"chat": {"system": {"text": "Hooked on."}, "params": {"temperature": 0.7}}},
    }
    with ChatCompletionsServer(Script("ok")) as server:
        turn(tmp_path, server, **runtime)
        (request,) = server.requests
    assert request.system.startswith("Custom prompt.\n\nHooked on.")
    assert (request.body["temperature"], request.body["top_p"]) == (0.7, 0.5)


AGENT = """---
{ id: 'brief', name: 'Brief', modelSettings: { temperature: 0.3, maxTokens: 99 } }
---
You are brief.
"""


@pytest.mark.parametrize("chosen_by", ["configuration", "conversation"])
def test_HK2_the_chosen_agents_prompt_and_parameters_reach_the_wire(tmp_path, chosen_by):
    with ChatCompletionsServer(Script("ok")) as server:
        runtime = {"agent": {"id": "brief"}} if chosen_by == "configuration" else {}

        async def whole():
            async with Stage(tmp_path, settings(server.base_url, **runtime)) as stage:
                (stage.control.home.agents / "brief.md").write_text(AGENT)
                if chosen_by == "conversation":
                    stage.conversation.setup.agent = "brief"
                await stage.conversation.send("hi")

        play(whole)
        (request,) = server.requests
    assert request.system.startswith("You are brief.")
    assert (request.body["temperature"], request.body["max_tokens"]) == (0.3, 99)


def test_CO9_compaction_runs_before_sending_and_history_and_store_stay_in_step(tmp_path):
    def summary_or_reply(request):
        if not request.tools:
            return "SUMMARY: earlier talk"
        return Turn("ok", usage=Usage(input_tokens=len(request.transcript) // 4 + 50))

    long = "lorem ipsum dolor sit amet " * 60
    with ChatCompletionsServer(Script(then=summary_or_reply)) as server:

        async def whole():
            inline = settings(server.base_url, about={"customContext": 4000})
            async with Stage(tmp_path, inline) as stage:
                for number in range(8):
                    await stage.conversation.send(f"{number} {long}")
                compaction = stage.of("compaction")[0]
                assert compaction.method == "summary"
                assert compaction.after < compaction.before
                assert "compacted" in stage.kinds()
                items = stage.history().items
                assert items[0].text.startswith("【会话摘要】")
                async with stage.again() as later:
                    assert [item.text for item in later.history().items] == [item.text for item in items]
                    await later.conversation.send("and now?")

        play(whole)
        assert "SUMMARY: earlier talk" in server.requests[-1].system
        assert not [m for m in server.requests[-1].messages if m.text.startswith("0 lorem")]


def test_CO9_a_long_run_is_compacted_once_and_every_request_tells_the_whole(tmp_path):
    """Many more turns than one run of the library: what it forgets between them is with us."""
    turns = 20
    made = []

    def step(request):
        if not request.tools:
            return "SUMMARY: files were read"
        made.append(request)
        calls = (ToolUse("read", {"path": f"{len(made)}.txt"}),) if len(made) <= turns else ()
        used = Usage(input_tokens=len(request.transcript) // 4 + 50)
        return Turn("" if calls else "all read", tool_calls=calls, usage=used)

    with ChatCompletionsServer(Script(then=step)) as server:

        async def whole():
            async with Stage(tmp_path, settings(server.base_url, about={"customContext": 20000})) as stage:
                for number in range(1, turns + 1):
                    (stage.vault / f"{number}.txt").write_text(f"file {number}\n" + f"words {number} here\n" * 250)
                end = await stage.conversation.send("read them all")
                assert (end.reason, end.text) == ("done", "all read")
                assert stage.of("compaction")
                assert len(stage.of("compaction")) < 5  # not anew with every run of the library
                assert len(stage.of("tool_done")) == turns
                stage.history()

        play(whole)
    for number, request in enumerate(made[1:], start=1):
        results = [message.text for message in request.messages if message.role == "tool"]
        assert results[-1].startswith(f"file {number}\n")
        assert "read them all" in request.transcript or "SUMMARY: files were read" in request.transcript


def test_CO7_without_a_summary_it_is_pruned_and_the_run_goes_on(tmp_path):
    def step(request):
        if not request.tools:
            return Failure(500, "no summary today")
        seen = sum(1 for message in request.messages if message.role == "tool")
        asked = sum(1 for message in request.messages if message.role == "user")
        used = Usage(input_tokens=len(request.transcript) // 4 + 50)
        calls = (ToolUse("read", {"path": "long.txt"}),) if seen < asked else ()
        return Turn("" if calls else "ok", tool_calls=calls, usage=used)

    with ChatCompletionsServer(Script(then=step)) as server:

        async def whole():
            inline = settings(server.base_url, about={"customContext": 6000}, doomLoop={"enabled": False})
            async with Stage(tmp_path, inline) as stage:
                (stage.vault / "long.txt").write_text("some words here\n" * 200)
                for number in range(7):
                    end = await stage.conversation.send(f"read it, {number}")
                    assert end.reason == "done", end
                assert {event.method for event in stage.of("compaction")} == {"pruned"}
                assert stage.history()

        play(whole)


def test_CO9_compact_by_hand_and_off_switch(tmp_path):
    def step(request):
        return "SUMMARY" if not request.tools else "ok"

    long = "lorem ipsum dolor sit amet " * 60
    with ChatCompletionsServer(Script(then=step)) as server:

        async def whole():
            inline = settings(server.base_url, about={"customContext": 4000}, compaction={"enabled": False})
            async with Stage(tmp_path, inline) as stage:
                for number in range(6):
                    await stage.conversation.send(f"{number} {long}")
                assert not stage.of("compaction")
                assert await stage.conversation.compact()
                assert stage.last("compaction").method == "summary"
                assert stage.history().items[0].text.startswith("【会话摘要】")
                assert (await stage.conversation.send("next")).reason == "done"

        play(whole)


@pytest.mark.parametrize("answer", ["once", "deny"])
def test_MO1_full_access_by_default_is_confirmed_before_the_first_message_is_worked_on(tmp_path, answer):
    script = Script(Turn(tool_calls=(ToolUse("bash", {"command": "touch made"}),)), "done")
    with ChatCompletionsServer(script) as server:

        async def whole():
            async with Stage(tmp_path, settings(server.base_url, mode={"default": "full_access"})) as stage:
                task = asyncio.create_task(stage.conversation.send("make it"))
                waiting = await stage.until("tool_waiting")
                assert waiting.approval.policy == "modes"
                assert not server.requests
                stage.answer(answer)
                if answer == "deny":  # it goes on in agent mode, which asks about the command
                    second = await stage.until("tool_waiting", 2)
                    assert second.approval.policy == "permission"
                    stage.answer("deny")
                assert (await task).text == "done"
                full = answer == "once"
                assert stage.conversation.session.mode == ("full_access" if full else "agent")
                assert (stage.vault / "made").exists() == full
                assert len(stage.of("tool_waiting")) == (1 if full else 2)

        play(whole)


def test_MO1_the_confirmation_outlives_its_process(tmp_path):
    with ChatCompletionsServer(Script("done")) as server:

        async def whole():
            async with Stage(tmp_path, settings(server.base_url, mode={"default": "full_access"})) as stage:
                task = asyncio.create_task(stage.conversation.send("hello"))
                await stage.until("tool_waiting")
                stage.conversation.leave()
                with pytest.raises(asyncio.CancelledError):
                    await task
                async with stage.again() as later:
                    task = asyncio.create_task(later.conversation.resume())
                    await later.until("tool_waiting")
                    assert not server.requests
                    later.answer("once")
                    assert (await task).text == "done"

        play(whole)


@given(st.integers(1, 50), st.one_of(st.none(), st.floats(0, 10_000)))
def test_DL1_a_pause_is_never_longer_than_a_minute(attempt, wait):
    assert 0 <= backoff(attempt, wait) <= 60
