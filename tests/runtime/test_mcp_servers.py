"""Tools of real MCP servers, over both transports, through the plane."""

import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyjson5
import pytest

from holdfast.core.settings import McpServer
from holdfast.runtime.mcp_servers import McpServers, tool_name
from holdfast.runtime.tool import ToolContext, ToolFailure
from holdfast.testing.builders import session_id
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.model_request import ToolUse
from holdfast.testing.script import Script, Turn
from runtime.stage import Stage, answering, play, settings

SERVER = """
import asyncio, os, sys
from mcp.server import MCPServer

server = MCPServer("demo")

@server.tool()
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b

@server.tool()
def die() -> str:
    "End the server."
    os._exit(3)

@server.tool()
async def hang() -> str:
    "Never answer."
    await asyncio.sleep(600)

if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return path


def over_stdio(program):
    return McpServer(command=sys.executable, args=(str(program), "stdio"))


def context(tmp_path):
    return ToolContext(tmp_path, tmp_path, session_id(), "c1", None, tmp_path)


def with_servers(tmp_path, configured, work, patience=None, **options):
    async def whole():
        servers = McpServers(tmp_path / "logs", **{"start_seconds": 60.0, **(patience or {})})
        await servers.open(configured, **options)
        try:
            return await work(servers)
        finally:
            await servers.close()

    return play(whole)


@pytest.mark.e2e
def test_PE1_a_servers_tools_are_listed_called_and_named_by_server(tmp_path, program):
    async def work(servers):
        tools = {tool.name: tool for tool in servers.tools}
        assert set(tools) == {"mcp__demo__add", "mcp__demo__die", "mcp__demo__hang"}
        add = tools["mcp__demo__add"]
        assert add.description == "Add two numbers."
        assert set(add.parameters["properties"]) == {"a", "b"}
        assert (add.spec.mcp_server, add.spec.mcp_tool) == ("demo", "add")
        assert (await add.run(context(tmp_path), {"a": 2, "b": 3})).text == "5"
        assert (await add.run(context(tmp_path), {"a": "x"})).failed

    with_servers(tmp_path, {"demo": over_stdio(program)}, work)


@pytest.mark.e2e
def test_PE1_a_server_that_dies_is_told_and_started_again(tmp_path, program):
    async def work(servers):
        tools = {tool.name: tool for tool in servers.tools}
        with pytest.raises(ToolFailure, match="'demo'"):
            await tools["mcp__demo__die"].run(context(tmp_path), {})
        assert (await tools["mcp__demo__add"].run(context(tmp_path), {"a": 1, "b": 1})).text == "2"

    with_servers(tmp_path, {"demo": over_stdio(program)}, work)


@pytest.mark.e2e
def test_PE1_a_server_that_does_not_start_is_named_and_the_others_are_there(tmp_path, program):
    broken = McpServer(command=str(tmp_path / "not-there"))
    off = McpServer(command="never", enabled=False)

    async def work(servers):
        assert {tool.name for tool in servers.tools} == {"mcp__demo__add", "mcp__demo__die", "mcp__demo__hang"}
        (problem,) = servers.problems
        assert "'broken'" in problem

    with_servers(tmp_path, {"broken": broken, "off": off, "demo": over_stdio(program)}, work)


BROKEN = {
    "silent": "import time; time.sleep(600)",
    "garbage": "import sys\nprint('hello {', flush=True)\nsys.stdin.read()",
    "binary": "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 9)\nsys.stdout.flush()\nsys.stdin.read()",
    "gone": "raise SystemExit('no licence')",
}


@pytest.mark.e2e
def test_PE1_servers_that_say_nothing_or_nonsense_are_left_out_in_time(tmp_path, program):
    configured = {name: McpServer(command=sys.executable, args=("-c", code)) for name, code in BROKEN.items()}

    async def work(servers):
        assert servers.tools == ()
        assert len(servers.problems) == len(BROKEN)
        for name, problem in zip(BROKEN, servers.problems, strict=True):
            assert f"{name!r} is left out" in problem
        assert "no licence" in (tmp_path / "logs" / "mcp-gone.log").read_text()

    with_servers(tmp_path, configured, work, patience={"start_seconds": 4.0})


@pytest.mark.e2e
def test_PE1_a_call_that_is_not_answered_is_given_up_and_the_server_is_still_there(tmp_path, program):
    async def work(servers):
        tools = {tool.name: tool for tool in servers.tools}
        with pytest.raises(ToolFailure, match="did not answer hang within 1 s"):
            await tools["mcp__demo__hang"].run(context(tmp_path), {})
        assert (await tools["mcp__demo__add"].run(context(tmp_path), {"a": 1, "b": 1})).text == "2"

    with_servers(tmp_path, {"demo": over_stdio(program)}, work, patience={"call_seconds": 1.0})


@pytest.mark.e2e
def test_PE4_two_tools_never_share_a_name(tmp_path, program):
    async def work(servers):
        names = [tool.name for tool in servers.tools]
        assert len(set(names)) == len(names) == 6
        assert {(spec.mcp_server, spec.mcp_tool) for spec in servers.specs.values()} == {
            (server, tool) for server in ("my.demo", "my_demo") for tool in ("add", "die", "hang")
        }

    with_servers(tmp_path, {"my.demo": over_stdio(program), "my_demo": over_stdio(program)}, work)


NOTES = """
from mcp.server import MCPServer

server = MCPServer("notes")
for name in ("search", "delete_note", "close_issue"):
    server.add_tool(lambda: "done", name=name, description=name)
server.run("stdio")
"""


@pytest.mark.e2e
def test_PE4_the_how_to_does_what_it_says(tmp_path):
    """Its configuration, with a program of ours behind both names."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "mcp-servers.md"
    (example,) = re.findall(r"```jsonc\n(.*?)```", page.read_text(), re.DOTALL)
    runtime = pyjson5.decode(example)["agents"]["runtime"]
    (tmp_path / "notes.py").write_text(NOTES)
    program = {"command": sys.executable, "args": [str(tmp_path / "notes.py")]}
    runtime["mcp"] = dict.fromkeys(runtime["mcp"], program)
    configured = {
        name: McpServer(command=sys.executable, args=(str(tmp_path / "notes.py"),)) for name in runtime["mcp"]
    }
    wanted = ("mcp__notes__search", "mcp__notes__delete_note", "mcp__tracker__close_issue", "mcp__tracker__search")
    calls = Turn(tool_calls=tuple(ToolUse(tool, {}, f"c{n}") for n, tool in enumerate(wanted)))
    with ChatCompletionsServer(
        Script(calls, lambda r: "|".join(r.result_of(f"c{n}")[:18] for n in range(4)))
    ) as server:

        async def work(servers):
            assert servers.problems == []
            inline = settings(server.base_url, **runtime)
            async with Stage(tmp_path, inline, tools=servers.tools, specs=servers.specs) as stage:
                stage.on_event = answering(lambda: stage, "once")
                end = await stage.conversation.send("tidy up")
                assert end.text == "done|done|[holdfast:denied] |done"
                assert [event.tool for event in stage.of("tool_waiting")] == ["mcp__notes__delete_note"]

        with_servers(tmp_path, configured, work)


def test_HK6_mobile_starts_no_programs(tmp_path, program):
    async def work(servers):
        assert servers.tools == ()
        assert servers.problems == []

    with_servers(tmp_path, {"demo": over_stdio(program)}, work, profile="mobile")


@pytest.mark.e2e
def test_PE1_streamable_http(tmp_path, program):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = subprocess.Popen(
        [sys.executable, str(program), str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)

        async def work(servers):
            assert servers.problems == []
            add = next(tool for tool in servers.tools if tool.name == "mcp__web__add")
            assert (await add.run(context(tmp_path), {"a": 4, "b": 5})).text == "9"

        with_servers(tmp_path, {"web": McpServer(url=f"http://127.0.0.1:{port}/mcp")}, work)
    finally:
        running.kill()
        running.wait()


@pytest.mark.e2e
@pytest.mark.parametrize("known", [True, False])
def test_PE4_servers_of_the_users_own_configuration_are_allowed_and_others_asked(tmp_path, program, known):
    script = Script(Turn(tool_calls=(ToolUse("mcp__demo__add", {"a": 1, "b": 2}, "c1"),)), lambda r: r.result_of("c1"))
    with ChatCompletionsServer(script) as server:
        mcp = {"demo": {"command": sys.executable, "args": [str(program), "stdio"]}} if known else {}

        async def work(servers):
            inline = settings(server.base_url, mcp=mcp)
            async with Stage(tmp_path, inline, tools=servers.tools, specs=servers.specs) as stage:
                stage.on_event = answering(lambda: stage, "once")
                end = await stage.conversation.send("add")
                assert end.text == "3"
                assert len(stage.of("tool_waiting")) == (0 if known else 1)

        with_servers(tmp_path, {"demo": over_stdio(program)}, work)


def test_PE1_names_fit_what_providers_take():
    assert tool_name("my.server", "do it!") == "mcp__my_server__do_it_"
    long = tool_name("server", "x" * 100)
    assert len(long) == 64
    assert long != tool_name("server", "x" * 101)
