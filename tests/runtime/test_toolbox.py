"""Which tools an agent gets, and how the user's own are judged."""

import asyncio

import pytest

from holdfast.control import Control
from holdfast.runtime.toolbox import Tools, toolbox, tools_in
from holdfast.store.config_file import Inline, load_text
from holdfast.store.home import Home
from holdfast.testing.builders import session_id
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.model_request import ToolUse
from holdfast.testing.script import Script, Turn
from runtime.stage import Stage, answering, play, settings

OWN_TOOL = """
from holdfast.external_tools import external_tool

@external_tool(description="Says a word backwards.")
def backwards(word: str) -> str:
    return word[::-1]

@external_tool(description="Counts.", domain="read", reads=("path",))
def count(path: str) -> dict:
    return {"path": path, "letters": 3}

tools = [backwards, count]
"""


def runtime_of(home, **runtime):
    body = {"agents": {"runtime": runtime}}
    return load_text(home.config, None, Inline(environ={}, mapping=body)).settings.runtime


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home")
    home.create()
    (home.tools / "mine.py").write_text(OWN_TOOL)
    return home


def names(box):
    return {tool.name for tool in box.tools}


def test_HK6_mobile_has_neither_bash_nor_tools_of_the_users_own(home):
    desktop = toolbox(home, runtime_of(home, tools={"external": {"enabled": True}}))
    mobile = toolbox(home, runtime_of(home, profile="mobile", tools={"external": {"enabled": True}}))
    assert {"bash", "backwards", "read", "write"} <= names(desktop)
    assert {"bash", "backwards"}.isdisjoint(names(mobile))
    assert {"read", "write"} <= names(mobile)


def test_HK3_external_tools_are_off_until_switched_on(home):
    assert "backwards" not in names(toolbox(home, runtime_of(home)))


def test_HK3_a_broken_file_is_named_and_the_others_are_there(home):
    (home.tools / "broken.py").write_text("tools = [1 / 0]\n")
    box = toolbox(home, runtime_of(home, tools={"external": {"enabled": True}}))
    assert "backwards" in names(box)
    assert "broken.py" in box.problems[0]


def test_SC5_a_thread_gets_memory_and_recall_of_its_own(home):
    control = Control.open(home, inline=Inline(environ={}))
    try:
        found = {tool.name for tool in tools_in(toolbox(home, control.settings.runtime), control, session_id())}
    finally:
        control.close()
    assert {"memory_read", "memory_propose", "session_search", "list_session_chain", "read_session_events"} <= found


def test_HK3_an_undeclared_tool_is_asked_about_and_a_declared_one_is_judged_by_its_targets(tmp_path, home):
    calls = (ToolUse("backwards", {"word": "abc"}, "c1"), ToolUse("count", {"path": "a.txt"}, "c2"))
    script = Script(Turn(tool_calls=calls), lambda request: request.result_of("c1") + request.result_of("c2"))
    with ChatCompletionsServer(script) as server:
        inline = settings(server.base_url, tools={"external": {"enabled": True}})
        box = toolbox(home, load_text(home.config, None, inline).settings.runtime)

        async def whole():
            async with Stage(tmp_path, inline, tools=box.tools, specs=box.specs) as stage:
                stage.on_event = answering(lambda: stage, "once")
                end = await stage.conversation.send("go")
                (asked,) = stage.of("tool_waiting")
                assert asked.tool == "backwards"
                assert asked.approval.question["accesses"][0]["target"] == "mcp:external/backwards"
                assert end.text.startswith("cba")
                assert '"letters": 3' in end.text

        play(whole)


def test_HK3_an_edited_tool_counts_from_the_next_run_and_is_judged_by_what_it_says_then(tmp_path, home):
    file = home.tools / "mine.py"
    script = Script(
        Turn(tool_calls=(ToolUse("backwards", {"word": "abc"}, "c1"),)),
        lambda request: request.result_of("c1"),
        Turn(tool_calls=(ToolUse("backwards", {"word": "abc"}, "c2"),)),
        lambda request: request.result_of("c2"),
    )
    with ChatCompletionsServer(script) as server:
        inline = settings(server.base_url, tools={"external": {"enabled": True}})
        tools = Tools(home)

        async def whole():
            stage = Stage(tmp_path, inline, tools=lambda: offered(stage))
            async with stage:
                stage.on_event = answering(lambda: stage, "once", "once")
                assert "cba" in (await stage.conversation.send("go")).text
                file.write_text(OWN_TOOL.replace('"Says a word backwards."', '"Shouts."').replace("[::-1]", ".upper()"))
                end = await stage.conversation.send("again")
                assert "ABC" in end.text
                file.write_text("tools = [\n")
                (problem,) = tools.current(stage.control.settings.runtime).problems
                assert "mine.py:1" in problem
                assert tools.current(stage.control.settings.runtime).problems == ()

        def offered(stage):
            found = tools.current(stage.control.settings.runtime)
            stage.control.offer(found.specs)
            return found.tools

        play(whole)


def test_HK3_a_tool_file_that_takes_its_time_holds_nothing_up(tmp_path, home):
    """The file waits for something that only happens on the event loop: loaded there, it would never come."""
    sign = tmp_path / "sign"
    waiting = f"""
import pathlib, time
end = time.monotonic() + 9
while not pathlib.Path({str(sign)!r}).exists() and time.monotonic() < end:
    time.sleep(0.01)
assert pathlib.Path({str(sign)!r}).exists(), "nothing else could happen meanwhile"
tools = []
"""
    (home.tools / "slow.py").write_text(waiting)
    with ChatCompletionsServer(Script("hello")) as server:
        inline = settings(server.base_url, tools={"external": {"enabled": True}})
        tools = Tools(home)
        problems = []

        async def whole():
            stage = Stage(tmp_path, inline, tools=lambda: offered(stage))
            async with stage:
                turn = asyncio.create_task(stage.conversation.send("hi"))
                await asyncio.sleep(0.05)
                sign.touch()
                assert (await turn).text == "hello"
                assert problems == []

        def offered(stage):
            found = tools.current(stage.control.settings.runtime)
            problems.extend(found.problems)
            return found.tools

        play(whole)
