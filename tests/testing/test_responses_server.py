"""Responses: the real OpenAI client understands them; Codex's freeform tools and own requests are served."""

from __future__ import annotations

import json

import openai
import pytest

from holdfast.testing import ContextOverflow, Message, ResponsesServer, Script, ToolUse, Turn, Usage
from testing.clients import local_client, post, sse_data


def openai_client(server):
    http = local_client()
    return openai.OpenAI(api_key="dummy", base_url=server.base_url, max_retries=0, http_client=http)


def test_the_real_client_reads_whole_and_stream():
    turn = Turn("Hello 世界", (ToolUse("read", {"path": "/a"}, "c1"),), Usage(10, 3, cache_read_tokens=5))
    with ResponsesServer(Script(turn, turn)) as server, openai_client(server) as client:
        whole = client.responses.create(model="m", input="hi")
        with client.responses.stream(model="m", input="hi") as stream:
            kinds = [event.type for event in stream]
            streamed = stream.get_final_response()

    assert whole.output_text == streamed.output_text == "Hello 世界"
    assert streamed.output[1].arguments == '{"path": "/a"}'
    assert streamed.output[1].call_id == "c1"
    assert streamed.usage.input_tokens == 15
    assert streamed.usage.input_tokens_details.cached_tokens == 5
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.function_call_arguments.done" in kinds


def test_a_freeform_tool_is_called_with_its_text():
    body = {
        "stream": True,
        "input": "hi",
        "tools": [{"type": "custom", "name": "apply_patch"}, {"type": "function", "name": "exec"}],
    }
    calls = (ToolUse("apply_patch", "*** Begin"), ToolUse("exec", {"cmd": "ls"}), ToolUse("echo", {}, "", "mcp__s"))
    with ResponsesServer(Script(Turn(tool_calls=calls))) as server:
        final = list(sse_data(post(f"{server.base_url}/responses", body)))[-1]["response"]
    patch, execute, echo = final["output"]
    assert (patch["type"], patch["input"], patch["call_id"]) == ("custom_tool_call", "*** Begin", "call_1_1")
    assert (execute["type"], execute["arguments"]) == ("function_call", '{"cmd": "ls"}')
    assert echo["namespace"] == "mcp__s"


def test_overflow_fails_the_stream_itself():
    with ResponsesServer(Script(ContextOverflow())) as server:
        events = list(sse_data(post(f"{server.base_url}/responses", {"stream": True, "input": "hi"})))
    assert [event["type"] for event in events] == ["response.created", "response.failed"]
    assert events[-1]["response"]["error"]["code"] == "context_length_exceeded"


def test_a_conversation_is_read_into_neutral_messages():
    body = {
        "model": "gpt",
        "instructions": "Be brief.",
        "tools": [
            {"type": "function", "name": "exec"},
            {"type": "web_search"},
            {"type": "namespace", "name": "mcp__ctl", "tools": [{"type": "function", "name": "echo"}]},
        ],
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be right."}]},
            {"role": "user", "content": "go"},
            {"type": "reasoning", "summary": []},
            {
                "type": "function_call",
                "name": "echo",
                "namespace": "mcp__ctl",
                "arguments": '{"a": 1}',
                "call_id": "c1",
            },
            {"type": "function_call_output", "call_id": "c1", "output": "AAA"},
            {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c2"},
            {
                "type": "custom_tool_call_output",
                "call_id": "c2",
                "output": [{"type": "input_text", "text": "done"}],
            },
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Good."}]},
        ],
    }
    metadata = {"x-codex-turn-metadata": json.dumps({"thread_id": "th1", "request_kind": "turn"})}
    with ResponsesServer(Script("ok")) as server:
        post(f"{server.base_url}/responses", body, metadata).raise_for_status()
        request = server.requests[0]
    assert request.messages == (
        Message("system", "Be brief."),
        Message("system", "Be right."),
        Message("user", "go"),
        Message("assistant", "", (ToolUse("echo", {"a": 1}, "c1", "mcp__ctl"),)),
        Message("tool", "AAA", call_id="c1"),
        Message("assistant", "", (ToolUse("apply_patch", "*** Begin", "c2"),)),
        Message("tool", "done", call_id="c2"),
        Message("assistant", "Good."),
    )
    assert request.tools == ("exec", "web_search", "mcp__ctl__echo")
    assert request.conversation == "th1"


@pytest.mark.parametrize(
    ("metadata", "kind"),
    [
        ({"request_kind": "compaction"}, "summary"),
        ({"request_kind": "prewarm"}, "prewarm"),
        ({"request_kind": "turn"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_side_requests_of_codex(metadata, kind):
    headers = {} if metadata is None else {"x-codex-turn-metadata": json.dumps(metadata)}
    with ResponsesServer(Script("talk"), side_reply="aside") as server:
        answer = post(f"{server.base_url}/responses", {"input": "hi"}, headers).json()
        assert [request.side for request in server.all_requests] == [kind]
        assert answer["output"][0]["content"][0]["text"] == ("aside" if kind else "talk")
