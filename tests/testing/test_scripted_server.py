"""What holds for every scripted server, whatever protocol it speaks."""

from __future__ import annotations

import gzip
import json
import threading
import time

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.testing import (
    AnthropicServer,
    ContextOverflow,
    Failure,
    GeminiServer,
    ResponsesServer,
    Script,
    ScriptError,
    ToolUse,
    Turn,
    Usage,
)
from testing.clients import ASK, local_client, post

SERVERS = list(ASK)
each_server = pytest.mark.parametrize("kind", SERVERS, ids=lambda kind: kind.__name__)
each_form = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


@each_server
@each_form
def test_a_turn_arrives_as_the_script_says(kind, stream):
    usage = Usage(input_tokens=7, output_tokens=5, cache_read_tokens=11, cache_write_tokens=13)
    calls = (ToolUse("first", {"a": [1, "两"]}, "id-a"), ToolUse("second"))
    with kind(Script(Turn("Hello, 世界. " * 20, calls, usage))) as server:
        heard = ASK[kind](server, "hi", stream=stream)

    assert heard.text == "Hello, 世界. " * 20
    assert heard.calls == [("id-a", "first", {"a": [1, "两"]}), ("call_1_2", "second", {})]
    assert (heard.prompt_tokens, heard.output_tokens) == (31, 5)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@each_server
@each_form
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.text(max_size=200), arguments=st.dictionaries(st.text(max_size=8), json_values, max_size=4))
def test_any_text_and_arguments_survive_the_wire(kind, stream, text, arguments):
    with kind(Script(Turn(text, (ToolUse("tool", arguments, "c"),)))) as server:
        heard = ASK[kind](server, "hi", stream=stream)
    assert heard.text == text
    assert heard.calls == [("c", "tool", arguments)]


@each_server
def test_steps_are_used_in_order_and_may_look_at_the_request(kind):
    script = Script("one", lambda request: f"you said {request.last_user_text}", then="and so on")
    with kind(script) as server:
        said = [ASK[kind](server, f"question {n}", stream=True).text for n in range(4)]
    assert said == ["one", "you said question 1", "and so on", "and so on"]
    assert [request.number for request in server.requests] == [1, 2, 3, 4]
    assert script.taken == 4
    assert script.finished


def refusal(kind, server, *, stream=True):
    """The error response to a question."""
    with pytest.raises(httpx.HTTPStatusError) as caught:
        ASK[kind](server, "a", stream=stream)
    return caught.value.response


def run_script(kind, script, *, refused=1):
    """A whole `with` block whose last questions are refused."""
    with kind(script) as server:
        for _ in range(refused):
            assert refusal(kind, server).status_code == 400
        assert len(server.errors) == refused


@each_server
def test_a_script_that_is_too_short_fails_its_test(kind):
    with pytest.raises(ScriptError, match="has 0 steps and request 1 asks for one more"):
        run_script(kind, Script(), refused=2)


@each_server
def test_an_assertion_in_a_step_fails_its_test(kind):
    def step(request):
        assert request.last_user_text == "something else"
        return "fine"

    with pytest.raises(ScriptError, match="request 1 raised AssertionError") as caught:
        run_script(kind, Script(step))
    assert isinstance(caught.value.__cause__, AssertionError)


def test_a_step_must_give_a_reply():
    with pytest.raises(ScriptError, match="gave 7; it must give"):
        run_script(AnthropicServer, Script(lambda _: 7))


def test_the_error_of_the_test_itself_comes_first():
    def body():
        with AnthropicServer(Script()) as server:
            refusal(AnthropicServer, server)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        body()


@each_server
@each_form
def test_failures_carry_status_message_and_retry_after(kind, stream):
    with kind(Script(Failure(429, "slow down", retry_after=1.5))) as server:
        response = refusal(kind, server, stream=stream)
    assert response.status_code == 429
    assert response.headers["retry-after"] == "1.5"
    assert response.json()["error"]["message"] == "slow down"


@each_server
def test_a_failure_can_replace_the_whole_body(kind):
    with kind(Script(Failure(503, body={"odd": 1}))) as server:
        assert refusal(kind, server).json() == {"odd": 1}


@each_server
def test_overflow_is_an_error_that_names_both_figures(kind):
    with kind(Script(ContextOverflow(used=5001, limit=5000))) as server:
        response = refusal(kind, server, stream=kind is not ResponsesServer)
    assert response.status_code == 400
    message = response.json()["error"]["message"]
    assert "5001" in message
    assert "5000" in message


@each_server
@each_form
def test_a_cut_reply_breaks_the_connection(kind, stream):
    with kind(Script(Turn("long " * 100, cut_after=3))) as server, pytest.raises(httpx.RemoteProtocolError):
        ASK[kind](server, "a", stream=stream)


LIMIT_WORDS = {
    "AnthropicServer": '"stop_reason": "max_tokens"',
    "ChatCompletionsServer": '"finish_reason": "length"',
    "ResponsesServer": '"reason": "max_output_tokens"',
    "GeminiServer": '"finishReason": "MAX_TOKENS"',
}


@each_server
@each_form
def test_an_answer_can_end_at_the_output_limit(kind, stream):
    paths = {
        "AnthropicServer": "/v1/messages",
        "ChatCompletionsServer": "/v1/chat/completions",
        "ResponsesServer": "/v1/responses",
        "GeminiServer": f"/v1beta/models/m:{'streamGenerateContent' if stream else 'generateContent'}",
    }
    told = LIMIT_WORDS[kind.__name__]
    with kind(Script(Turn("half", at_limit=True), "whole")) as server:
        texts = [post(f"{server.url}{paths[kind.__name__]}", {"stream": stream}).text for _ in range(2)]
    assert [told in text for text in texts] == [True, False]


@each_server
def test_a_slow_stream_takes_its_time(kind):
    with kind(Script(Turn("x" * 200, first_byte_delay=0.1, piece_delay=0.02))) as server:
        began = time.monotonic()
        heard = ASK[kind](server, "a", stream=True)
        took = time.monotonic() - began
    assert heard.text == "x" * 200
    assert took >= 0.2


def test_closing_does_not_wait_for_a_slow_stream():
    broken = threading.Event()

    def ask(server):
        try:
            ASK[AnthropicServer](server, "a", stream=True)
        except httpx.HTTPError:
            broken.set()

    with AnthropicServer(Script(Turn("x", first_byte_delay=60))) as server:
        client = threading.Thread(target=ask, args=(server,))
        client.start()
        deadline = time.monotonic() + 10
        while not server.requests and time.monotonic() < deadline:
            time.sleep(0.01)
        began = time.monotonic()
    assert time.monotonic() - began < 5
    client.join(10)
    assert broken.is_set()


def test_a_kept_alive_connection_does_not_outlive_the_server():
    before = set(threading.enumerate())
    with local_client(10) as client:
        with AnthropicServer(Script("one", "two")) as server:
            body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
            for _ in range(2):
                assert client.post(f"{server.url}/v1/messages", json=body).status_code == 200
            started = set(threading.enumerate()) - before
            assert len(started) == 2, "one that listens, one for the connection that both requests shared"
        assert [thread for thread in started if thread.is_alive()] == []


@each_server
def test_unknown_paths_are_kept_and_answered_with_404(kind):
    with kind(Script()) as server, local_client() as client:
        assert client.get(f"{server.url}/nowhere?x=1").status_code == 404
        assert server.unrouted == ["GET /nowhere"]
        assert server.requests == []


@each_server
def test_it_listens_on_loopback_only_and_only_while_open(kind):
    server = kind(Script())
    with pytest.raises(RuntimeError, match="not started"):
        _ = server.url
    with server:
        url = server.url
        assert url.startswith("http://127.0.0.1:")
        with pytest.raises(RuntimeError, match="already started"):
            server.start()
    with local_client() as client, pytest.raises(httpx.ConnectError):
        client.get(url)


def test_a_function_may_choose_the_script_by_request():
    scripts = {"a": Script("for a"), "b": Script("for b")}
    with GeminiServer(lambda request: scripts[request.last_user_text]) as server:
        ask = ASK[GeminiServer]
        assert [ask(server, who, stream=True).text for who in "ba"] == ["for b", "for a"]


def test_side_requests_do_not_use_up_the_script():
    def kind_of(request):
        return request.last_user_text if request.last_user_text != "talk" else None

    replies = {"title": "My title", "probe": lambda request: f"re {request.side}"}
    with AnthropicServer(Script("talked"), side_reply=replies, recognise_side=kind_of) as server:
        ask = ASK[AnthropicServer]
        said = [ask(server, text, stream=True).text for text in ("title", "probe", "talk", "summary")]
    assert said[:3] == ["My title", "re probe", "talked"]
    assert "Scripted summary" in said[3]
    assert [request.side for request in server.side_requests] == ["title", "probe", "summary"]
    assert [request.last_user_text for request in server.requests] == ["talk"]


def test_many_clients_at_once_use_each_step_once():
    said: list[str] = []
    with AnthropicServer(Script(*[f"step {n}" for n in range(24)])) as server:
        ask = ASK[AnthropicServer]
        threads = [threading.Thread(target=lambda: said.append(ask(server, "x", stream=True).text)) for _ in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert sorted(said) == sorted(f"step {n}" for n in range(24))
    assert [request.number for request in server.requests] == list(range(1, 25))


def test_a_body_that_is_no_json_object_is_refused():
    with AnthropicServer(Script()) as server, local_client() as client:
        for raw in (b"{", b"[1]", b"\xff"):
            response = client.post(f"{server.url}/v1/messages", content=raw)
            assert response.status_code == 400
            assert "body could not be read" in response.json()["error"]["message"]
        assert server.all_requests == []


def test_compressed_and_chunked_bodies_are_read():
    raw = gzip.compress(json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode())
    with AnthropicServer(Script("ok", "ok")) as server, local_client() as client:
        headers = {"content-encoding": "gzip"}
        client.post(f"{server.url}/v1/messages", content=raw, headers=headers).raise_for_status()
        pieces = (raw[start : start + 9] for start in range(0, len(raw), 9))
        client.post(f"{server.url}/v1/messages", content=pieces, headers=headers).raise_for_status()
        assert [request.last_user_text for request in server.requests] == ["hi", "hi"]


def test_gemini_calls_must_carry_an_object():
    with pytest.raises(ScriptError, match="carry an object"):
        run_script(GeminiServer, Script(Turn(tool_calls=(ToolUse("apply", "raw text"),))))
