"""`web_search` against servers that answer as SearXNG, Brave and Tavily do."""

import asyncio
import json
from dataclasses import replace

import pytest

from holdfast.core.settings import Settings
from holdfast.runtime.tool import ToolFailure
from holdfast.runtime.tools.web_client import WebClient
from holdfast.runtime.tools.web_fetch import CLIENT
from tool_bench import with_runtime
from web_bench import Names, Wire, server

SEARXNG = {"results": [{"title": "A <b>title</b>", "url": "https://a.example.com/", "content": "text  of\na"}]}
BRAVE = {"web": {"results": [{"title": "B", "url": "https://b.example.com/", "description": "<strong>b</strong>"}]}}
TAVILY = {"results": [{"title": "T", "url": "https://t.example.com/", "content": "t"}]}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in ("BRAVE_API_KEY", "TAVILY_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def choose(bench, **chosen):
    bench.settings = with_runtime(Settings(), tools=replace(Settings().runtime.tools, web_search=chosen))


def search(bench, answer, *, url="", status=200, query="what is it"):
    """Searches; what the server was asked comes second."""
    asked = []

    def handler(method, target, headers, body):
        asked.append((method, target, headers, body))
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return status, {"Content-Type": "application/json"}, content

    async def go():
        async with server(handler) as port:
            if url:
                choose(bench, provider="searxng", url=url.format(port=port))
                bench.memory[CLIENT] = WebClient(resolver=Names())
            return await bench.acall("web_search", query=query)

    return asyncio.run(go()), asked


def test_without_a_provider_the_answer_says_how_to_set_one_up(bench):
    said = bench.failure("web_search", query="x")
    for word in ("searxng", "brave", "tavily", "BRAVE_API_KEY", "config.jsonc"):
        assert word in said


def test_a_searxng_on_loopback_is_allowed_because_the_user_chose_it(bench):
    output, asked = search(bench, SEARXNG, url="http://127.0.0.1:{port}/")
    assert output.text == "1. [A **title**](https://a.example.com/)\n   text of a"
    assert asked[0][:2] == ("GET", "/search?q=what+is+it&format=json")


def test_PE11_a_searxng_cannot_send_us_elsewhere_on_this_machine(bench):
    async def go():
        async with server(lambda *request: (302, {"Location": "http://127.0.0.1:1/secret"}, b"")) as port:
            choose(bench, provider="searxng", url=f"http://127.0.0.1:{port}")
            return await bench.acall("web_search", query="x")

    with pytest.raises(ToolFailure, match="which is not fetched"):
        asyncio.run(go())


@pytest.mark.parametrize("provider", ["brave", "tavily"])
def test_a_provider_needs_its_key_and_sends_it(bench, provider, monkeypatch):
    choose(bench, provider=provider)
    name = f"{provider.upper()}_API_KEY"
    assert f"{name} is not set" in bench.failure("web_search", query="x")
    monkeypatch.setenv(name, "key-1")
    answers = {"brave": BRAVE, "tavily": TAVILY}
    asked = []

    def handler(method, target, headers, body):
        asked.append((method, target, headers, body))
        return 200, {"Content-Type": "application/json"}, json.dumps(answers[provider]).encode()

    async def go():
        async with server(handler) as port:
            bench.memory[CLIENT] = WebClient(resolver=Names(), connect=Wire(port))
            return await bench.acall("web_search", query="a b")

    text = asyncio.run(go()).text
    method, target, headers, body = asked[0]
    if provider == "brave":
        assert text == "1. [B](https://b.example.com/)\n   **b**"
        assert (method, target) == ("GET", "/res/v1/web/search?q=a+b&count=8")
        assert headers["x-subscription-token"] == "key-1"
    else:
        assert text == "1. [T](https://t.example.com/)\n   t"
        assert json.loads(body) == {"query": "a b", "max_results": 8}
        assert headers["authorization"] == "Bearer key-1"


def test_the_key_may_stand_in_the_credentials_file(bench):
    file = bench.home / "credentials"
    file.write_text("TAVILY_API_KEY=k\n")
    file.chmod(0o644)
    choose(bench, provider="tavily")
    assert "others may read it" in bench.failure("web_search", query="x")
    file.chmod(0o600)
    bench.memory[CLIENT] = WebClient(resolver=Names({"api.tavily.com": ["127.0.0.1"]}))
    assert "which is not fetched" in bench.failure("web_search", query="x")


@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (403, {}, "search.formats"),
        (429, {}, "too many"),
        (500, {}, "status 500"),
        (200, b"<html>", "not understood"),
        (200, {"other": 1}, "not understood"),
        (200, [], "not understood"),
    ],
)
def test_trouble_is_explained(bench, status, answer, said):
    with pytest.raises(ToolFailure, match=said):
        search(bench, answer, url="http://127.0.0.1:{port}", status=status)


def test_nothing_found_and_an_unknown_provider(bench):
    output, _ = search(bench, {"results": []}, url="http://127.0.0.1:{port}")
    assert output.text == "No matches for 'what is it'."
    choose(bench, provider="altavista")
    assert "is not known" in bench.failure("web_search", query="x")
    choose(bench, provider="searxng", url="not an address")
    assert "no http address" in bench.failure("web_search", query="x")
