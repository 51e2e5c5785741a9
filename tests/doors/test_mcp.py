"""`holdfast mcp`, driven by the official client over standard input and over HTTP (SC5)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from chain.scene import Scene
from holdfast.chain.tickets import leave_ticket

pytestmark = pytest.mark.e2e

NAMES = {
    "list_session_chain",
    "session_search",
    "read_session_events",
    "read_invocation_detail",
    "memory_read",
    "memory_propose",
}
PATIENCE = 60


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    for name, where in [(name, made.arrive(name).session.id) for name in ("h1", "h2")]:
        made.say(where, f"{name} decided to use Redis for the queue", "run-1")
        made.reply(where, f"The secret of {name} is 4711.", "run-1")
        made.seal(where)
    bank = made.vault / "memory-bank" / "details"
    bank.mkdir(parents=True)
    (bank.parent / "MEMORY.md").write_text("# Memory of the project\n")
    yield made
    made.close()


def command(scene, *more):
    return [
        sys.executable,
        "-m",
        "holdfast",
        "--home",
        str(scene.control.home.root),
        "--vault",
        str(scene.vault),
        "mcp",
        *more,
    ]


def environment():
    return {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}


def drive(scene, work, *more):
    """Run `work(client)` against a server of its own over standard input."""

    async def main():
        program, *arguments = command(scene, *more)
        server = StdioServerParameters(command=program, args=arguments, env=environment(), cwd=str(scene.vault))
        async with Client(server, read_timeout_seconds=PATIENCE) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(main(), PATIENCE))


async def ask(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    text = "".join(block.text for block in result.content)
    return text if result.is_error else json.loads(text)


def test_SC5_tools_over_standard_input(scene):
    async def work(client):
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == NAMES
        assert all(tool.input_schema["type"] == "object" for tool in tools)
        chain = await ask(client, "list_session_chain")
        found = await ask(client, "session_search", query="Redis queue")
        page = await ask(client, "read_session_events", sessionId="h1", view="chat", limit=1)
        rest = await ask(client, "read_session_events", sessionId="h1", view="chat", cursor=page["nextCursor"])
        handoff = await ask(client, "read_session_events", sessionId="h1", view="handoff")
        detail = await ask(client, "read_invocation_detail", invocationId="run-1")
        return chain, found, page, rest, handoff, detail

    chain, found, page, rest, handoff, detail = drive(scene, work, "--thread", "claude-code-h1")
    assert [session["sessionId"] for session in chain["sessions"]] == ["h1"]
    assert found["hits"][0]["sessionId"] == "h1"
    assert page["events"][0]["text"] == "h1 decided to use Redis for the queue"
    assert rest["events"][0]["text"] == "The secret of h1 is 4711."
    assert "4711" in handoff["digest"]
    assert len(detail["events"]) == 2


def test_SC5_wrong_questions_get_clear_errors_and_nothing_leaks(scene):
    questions = [
        ("read_session_events", {"sessionId": "h2"}, "no session 'h2' in your threads"),
        ("read_session_events", {"sessionId": "never"}, "no session 'never' in your threads"),
        ("read_session_events", {"sessionId": "h1", "cursor": "1-000000000000"}, "cursor '1-000000000000' is not of"),
        ("read_session_events", {"sessionId": "h1", "limit": 0}, "from 1 to 200"),
        ("read_session_events", {"sessionId": "h1", "limit": 201}, "from 1 to 200"),
        ("read_session_events", {"sessionId": "h1", "view": "everything"}, "chat, handoff, raw"),
        ("read_invocation_detail", {"invocationId": "run-9"}, "no invocation 'run-9'"),
        ("read_invocation_detail", {"invocationId": "run-1", "sessionId": "h2"}, "no session 'h2'"),
        ("list_session_chain", {"threadId": "claude-code-h2"}, "no thread 'claude-code-h2' of yours"),
        ("session_search", {"query": "Redis", "threadId": "claude-code-h2"}, "no thread"),
        ("session_search", {"query": "Redis", "sessionId": "h2"}, "no session 'h2'"),
        ("session_search", {"query": ""}, ""),
        ("session_search", {}, "needs query"),
        ("memory_propose", {"file": "../x.md", "why": "y", "append": "z"}, "no file below memory-bank"),
        ("no_such_tool", {}, "no tool 'no_such_tool'"),
    ]

    async def work(client):
        return [await ask(client, name, **arguments) for name, arguments, _ in questions]

    for (name, arguments, said), answer in zip(
        questions, drive(scene, work, "--thread", "claude-code-h1"), strict=True
    ):
        assert isinstance(answer, str), f"{name} {arguments} should be an error"
        assert said in answer
        assert "4711" not in answer
        assert "Traceback" not in answer


def test_SC5_a_thread_server_never_finds_another_thread(scene):
    async def work(client):
        return await ask(client, "session_search", query="secret", limit=50)

    hits = drive(scene, work, "--thread", "claude-code-h1")["hits"]
    assert {hit["sessionId"] for hit in hits} == {"h1"}


def test_SC5_without_a_ticket_a_ticket_server_reads_nothing(scene):
    async def work(client):
        refused = await ask(client, "session_search", query="secret")
        mine = scene.store.session("h2").id
        leave_ticket(scene.store, mine, str(scene.vault), "session_search", {"query": "secret"}, "c1", time.time())
        return (
            refused,
            await ask(client, "session_search", query="secret"),
            await ask(client, "session_search", query="secret"),
        )

    refused, found, again = drive(scene, work)
    assert "without a ticket" in refused
    assert {hit["sessionId"] for hit in found["hits"]} == {"h2"}
    assert "without a ticket" in again


def test_SC5_a_project_server_sees_the_project(scene):
    async def work(client):
        found = await ask(client, "session_search", query="secret", limit=50)
        return found, await ask(client, "list_session_chain")

    found, chain = drive(scene, work, "--scope", "vault")
    assert {hit["sessionId"] for hit in found["hits"]} == {"h1", "h2"}
    assert len(chain["sessions"]) == 2


def test_MB10_memory_over_mcp(scene):
    async def work(client):
        read = await client.call_tool("memory_read", {})
        proposed = await ask(client, "memory_propose", file="details/progress.md", why="done", append="- it works")
        return read.content[0].text, proposed

    text, proposed = drive(scene, work, "--thread", "claude-code-h1")
    assert "Memory of the project" in text
    assert "+- it works" in proposed["diff"]
    (made,) = scene.control.memory_bank.all(str(scene.vault), "pending")
    assert (made.id, made.thread) == (proposed["proposal"], "claude-code-h1")


@asynccontextmanager
async def http_server(scene, *more):
    process = subprocess.Popen(
        command(scene, "--http", *more), env=environment(), stderr=subprocess.PIPE, text=True, cwd=scene.vault
    )
    try:
        url = ""
        while not url:
            line = await asyncio.wait_for(asyncio.to_thread(process.stderr.readline), PATIENCE)
            assert line, "the server ended"
            match = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
            url = match[0] if match else ""
        yield url
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


def token(scene):
    return (scene.control.home.run / "token").read_text().strip()


def test_SC5_tools_over_http_with_the_token(scene):
    async def main():
        async with http_server(scene, "--thread", "claude-code-h1") as url:
            headers = {"authorization": f"Bearer {token(scene)}"}
            async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
                transport = streamable_http_client(url, http_client=http)
                async with Client(transport, read_timeout_seconds=PATIENCE) as client:
                    found = await ask(client, "session_search", query="secret", limit=50)
                    error = await ask(client, "read_session_events", sessionId="h2")
            return found, error

    found, error = asyncio.run(asyncio.wait_for(main(), PATIENCE))
    assert {hit["sessionId"] for hit in found["hits"]} == {"h1"}
    assert "no session 'h2' in your threads" in error


def test_SC5_http_lets_nobody_in_without_the_token_and_no_page_of_a_browser(scene):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}

    async def main():
        async with http_server(scene, "--scope", "vault") as url, httpx2.AsyncClient(timeout=PATIENCE) as http:
            good = {"authorization": f"Bearer {token(scene)}", "accept": "application/json, text/event-stream"}
            tried = [
                {},
                {"authorization": "Bearer wrong"},
                {**good, "origin": "http://evil.example"},
                {**good, "host": "evil.example"},
            ]
            return [(await http.post(url, json=call, headers=headers)).status_code for headers in tried]

    statuses = asyncio.run(asyncio.wait_for(main(), PATIENCE))
    assert statuses[:3] == [401, 401, 401]
    assert statuses[3] in (403, 421)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--thread", "nope"), "there is no thread 'nope'"),
        (("--thread", "claude-code-h1", "--scope", "vault"), "exclude one another"),
    ],
)
def test_wrong_options_are_clear_errors(scene, arguments, said):
    run = subprocess.run(
        command(scene, *arguments), env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert run.returncode == 2
    assert said in run.stderr
