"""The memory bank in a run of the own agent: what the model is told, and who may write (MB1, MB5, MB8, MB10)."""

from holdfast.runtime.memory_tools import memory_tools
from holdfast.runtime.tools import all_tools
from holdfast.store.config_file import Inline
from holdfast.store.memory_layout import lay_out
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.model_request import ToolUse
from holdfast.testing.script import Script, Turn, Usage
from runtime.stage import Stage, play, settings

REQUIREMENT = "memory-bank/details/requirements/REQ-005.md"


def call(tool, call_id="", /, **given):
    return Turn(tool_calls=(ToolUse(tool, given, call_id),))


def prepared(stage):
    lay_out(stage.vault, "en")
    (stage.vault / REQUIREMENT).write_text("The gate must hold.\n" * 300)
    return stage


def test_MB1_memory_is_told_once_in_every_request_and_as_it_now_is(tmp_path):
    with ChatCompletionsServer(Script("one", "two")) as server:

        async def whole():
            stage = Stage(tmp_path, settings(server.base_url))
            prepared(stage)
            async with stage:
                await stage.conversation.send("hello")
                memory = stage.vault / "memory-bank" / "MEMORY.md"
                memory.write_text(memory.read_text().replace("- Goal:", "- Goal: paint the fence"))
                await stage.conversation.send("again")

        play(whole)
        first, second = (request.system for request in server.requests)
        assert first.count("<memory-bank>") == second.count("<memory-bank>") == 1
        assert "paint the fence" in second
        assert "paint the fence" not in first


def test_MB8_after_a_compaction_the_anchors_reach_the_model_and_hold_its_hand(tmp_path):
    """Read, compacted, a write is refused with the step to take, read again, written."""
    used = Usage(input_tokens=100)
    script = Script(
        call("read", "c1", path=REQUIREMENT),
        Turn("read it", usage=used),
        "nothing more",
        "SUMMARY: something was read",
        call("write", "c2", path="src/auth/login.ts", content="x"),
        call("read", "c3", path=REQUIREMENT),
        call("write", "c4", path="src/auth/login.ts", content="x"),
        "written",
    )
    with ChatCompletionsServer(script) as server:

        async def whole():
            inline = settings(server.base_url, compaction={"protectedTurns": 1}, memory={"guardMode": "off"})
            stage = prepared(Stage(tmp_path, inline, tools=all_tools("desktop")))
            async with stage:
                await stage.conversation.send("read the requirement")
                await stage.conversation.send("and then?")
                assert await stage.conversation.compact()
                end = await stage.conversation.send("now write")
                assert end.text == "written"
                assert (stage.vault / "src" / "auth" / "login.ts").read_text() == "x"

        play(whole)
        after = [request for request in server.requests if request.tools][3:]
        assert REQUIREMENT in after[0].system.split("<memory-bank-anchors>")[1]
        assert after[0].system.count("<memory-bank-anchors>") == 1
        refused = after[1].result_of("c2")
        assert refused.startswith("[holdfast:denied] [Recovery Gate]")
        assert f'read(path="{REQUIREMENT}")' in refused
        assert "<memory-bank-anchors>" not in after[-1].system


def test_MB8_a_compaction_in_the_middle_of_a_run_tells_its_anchors_until_they_are_read(tmp_path):
    filler = "words that fill the window " * 300

    def step(request):
        if not request.tools:
            return "SUMMARY: much was said"
        used = Usage(input_tokens=len(request.transcript) // 4)
        last = request.messages[-1]
        if "<memory-bank-anchors>" in request.system:
            return Turn(tool_calls=(ToolUse("read", {"path": REQUIREMENT}),), usage=used)
        if "begin" in last.text:
            return Turn(tool_calls=(ToolUse("read", {"path": REQUIREMENT}),), usage=used)
        return Turn("ok", usage=used)

    with ChatCompletionsServer(Script(then=step)) as server:

        async def whole():
            inline = settings(server.base_url, about={"customContext": 8000}, doomLoop={"enabled": False})
            stage = Stage(tmp_path, inline, tools=all_tools("desktop"))
            prepared(stage)
            (stage.vault / REQUIREMENT).write_text("The gate must hold.\n")
            async with stage:
                for text in ("begin", *(f"{number} {filler}" for number in range(6))):
                    assert (await stage.conversation.send(text)).text == "ok"
                assert stage.of("compaction")

        play(whole)
        asked = [request for request in server.requests if request.tools]
        assert all(request.system.count("<memory-bank>") == 1 for request in asked)
        told = [number for number, request in enumerate(asked) if "<memory-bank-anchors>" in request.system]
        assert told, "the model was never told where the truth stands"
        for number in told:  # once read, the next request is free of it
            assert number + 1 not in told


def test_MB5_the_writer_is_an_agent_of_the_own_runtime_and_the_only_one(tmp_path):
    fresh = {"path": "memory-bank/details/learnings/a.md", "content": "learned\n"}

    def main_or_writer(request):
        if "You write this project's memory bank" in request.system:
            return "done" if request.messages[-1].role == "tool" else call("write", "w1", **fresh)
        done = [message for message in request.messages if message.role == "tool"]
        steps = (call("write", "m1", **fresh), call("task", "m2", agent="memory-bank-writer", prompt="write it"), "end")
        return steps[len(done)]

    with ChatCompletionsServer(Script(then=main_or_writer)) as server:

        async def whole():
            stage = Stage(tmp_path, settings(server.base_url), tools=all_tools("desktop"))
            prepared(stage)
            async with stage:
                assert (await stage.conversation.send("keep what you learned")).text == "end"
                assert (stage.vault / fresh["path"]).read_text() == "learned\n"
                assert [event.call_id for event in stage.of("tool_denied")] == ["m1"]

        play(whole)


def test_MB10_the_reader_clears_the_gates_of_whoever_called_it(tmp_path):
    script = Script(call("memory_read", "c1"), call("write", "c2", path="src/auth/login.ts", content="x"), "written")
    with ChatCompletionsServer(script) as server:

        async def whole():
            inline = settings(server.base_url, memory={"guardMode": "block"})
            stage = Stage(tmp_path, inline, tools=lambda: (*all_tools("desktop"), *memory_tools(stage.control)))
            prepared(stage)
            async with stage:
                assert (await stage.conversation.send("write it")).text == "written"
                assert (stage.vault / "src" / "auth" / "login.ts").exists()

        play(whole)


def test_MB6_a_newcomer_can_try_it_with_the_offline_model(tmp_path):
    async def whole():
        stage = Stage(tmp_path, Inline(environ={}), tools=lambda: (*all_tools("desktop"), *memory_tools(stage.control)))
        prepared(stage)
        async with stage:
            kept = stage.vault / "memory-bank" / "details" / "learnings" / "remembered.md"
            await stage.conversation.send("remember that the parser is done")
            assert "+- the parser is done" in stage.last("tool_done").display["diff"]
            assert not kept.exists()
            assert (await stage.conversation.send("mb:write")).text == "All right."
            assert kept.read_text() == "- the parser is done\n"

    play(whole)
