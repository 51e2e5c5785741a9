"""The own agent in the session chain: a full session is sealed after its turn, and the next one knows of it."""

from holdfast.store.config_file import Inline
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.script import Script, Turn, Usage
from runtime.stage import Stage, play, settings


def handing_over(server):
    base = settings(server.base_url, about={"customContext": 10_000}, compaction={"enabled": False})
    strategy = {"id": "all", "match": {}, "features": {"sessionStrategy": {"strategy": "handoff"}}}
    return Inline(environ={}, mapping={**base.mapping, "breeds": [strategy]})


def test_SC10_after_a_seal_the_next_message_starts_a_new_session_with_its_bootstrap(tmp_path):
    full = Turn("That was the last of it.", usage=Usage(input_tokens=9_800))
    with ChatCompletionsServer(Script("hello", full, "I know of it")) as server:

        async def whole():
            async with Stage(tmp_path, handing_over(server)) as stage:
                await stage.conversation.send("we paint the fence green")
                first = stage.conversation.where
                await stage.conversation.send("more")
                assert stage.control.store.session(first.session).state == "sealed"
                assert "sealed" in stage.last("notice").text
                end = await stage.conversation.send("what were we doing?")
                assert end.text == "I know of it"
                second = stage.conversation.session
                assert second.number == 2
                assert second.id.key == first.key
                assert second.title == "we paint the fence green"

        play(whole)
        last = server.requests[-1]
        assert "<holdfast-session>" in last.system
        assert "fence green" in last.system
        assert [message.text for message in last.messages if message.role == "user"] == ["what were we doing?"]


def test_SC3_a_seal_waits_for_the_end_of_the_turn(tmp_path):
    from holdfast.testing.model_request import ToolUse

    calling = Turn(tool_calls=(ToolUse("read", {"path": "a.txt"}),), usage=Usage(input_tokens=9_800))
    with ChatCompletionsServer(Script(calling, Turn("done", usage=Usage(input_tokens=9_850)))) as server:

        async def whole():
            async with Stage(tmp_path, handing_over(server)) as stage:
                (stage.vault / "a.txt").write_text("x")
                end = await stage.conversation.send("read it")
                assert (end.reason, end.text) == ("done", "done")
                assert stage.conversation.session.state == "sealed"
                assert stage.conversation.session.used == 9_850

        play(whole)


def test_SC10_a_queued_message_goes_to_the_next_session(tmp_path):
    import asyncio

    full = Turn("full", usage=Usage(input_tokens=9_800), piece_delay=0.2, first_byte_delay=0.3)
    with ChatCompletionsServer(Script(full, "in the next session")) as server:

        async def whole():
            async with Stage(tmp_path, handing_over(server)) as stage:
                task = asyncio.create_task(stage.conversation.send("one"))
                await stage.until("turn_started")
                await stage.conversation.send("two")
                assert (await task).text == "in the next session"
                assert stage.conversation.session.number == 2

        play(whole)
