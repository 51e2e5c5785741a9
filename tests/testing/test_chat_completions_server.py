"""Chat completions: the real OpenAI client understands them; OpenCode's own requests are told apart."""

from __future__ import annotations

import openai
import pytest

from holdfast.testing import (
    ChatCompletionsServer,
    ContextOverflow,
    Failure,
    Message,
    Script,
    ToolUse,
    Turn,
    Usage,
)
from testing.clients import local_client, post

OPENCODE = {"user-agent": "opencode/1.18.33 ai-sdk/provider-utils"}


def openai_client(server):
    http = local_client()
    return openai.OpenAI(api_key="dummy", base_url=server.base_url, max_retries=0, http_client=http)


def test_the_real_client_reads_whole_and_stream():
    turn = Turn("Hello 世界", (ToolUse("read", {"path": "/a"}, "c1"),), Usage(10, 3, cache_read_tokens=5))
    with ChatCompletionsServer(Script(turn, turn)) as server, openai_client(server) as client:
        asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        whole = client.chat.completions.create(**asked)
        chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))

    message = whole.choices[0].message
    assert message.content == "Hello 世界"
    assert message.tool_calls[0].function.arguments == '{"path": "/a"}'
    assert whole.choices[0].finish_reason == "tool_calls"
    assert whole.usage.prompt_tokens == 15
    assert whole.usage.prompt_tokens_details.cached_tokens == 5
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "Hello 世界"
    assert chunks[-1].usage.total_tokens == 18


def test_usage_is_streamed_only_when_asked_for():
    with ChatCompletionsServer(Script("hi")) as server:
        text = post(f"{server.base_url}/chat/completions", {"stream": True, "messages": []}).text
    assert '"usage"' not in text
    assert text.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Failure(429, "slow"), openai.RateLimitError),
        (Failure(500, "broken"), openai.InternalServerError),
        (ContextOverflow(), openai.BadRequestError),
    ],
)
def test_the_real_client_reads_failures(failure, error):
    def ask():
        with ChatCompletionsServer(Script(failure)) as server, openai_client(server) as client:
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])

    with pytest.raises(error) as caught:
        ask()
    if isinstance(failure, ContextOverflow):
        assert caught.value.code == "context_length_exceeded"


def test_a_conversation_is_read_into_neutral_messages():
    body = {
        "model": "m1",
        "tools": [{"type": "function", "function": {"name": "read"}}],
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"p": 1}'}},
                    {"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{broken"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "AAA"},
        ],
    }
    with ChatCompletionsServer(Script("ok")) as server:
        post(f"{server.base_url}/chat/completions", body, {"x-session-id": "ses_1"}).raise_for_status()
        request = server.requests[0]
    assert request.messages == (
        Message("system", "Be brief."),
        Message("user", "a\nb"),
        Message("assistant", "", (ToolUse("read", {"p": 1}, "c1"), ToolUse("read", "{broken", "c2"))),
        Message("tool", "AAA", call_id="c1"),
    )
    assert request.tools == ("read",)
    assert request.conversation == "ses_1"


@pytest.mark.parametrize(
    ("system", "tools", "headers", "kind"),
    [
        ("You are a title generator.", [], OPENCODE, "title"),
        ("You are a context summarization agent.", [], OPENCODE, "summary"),
        ("Something new.", [], OPENCODE, "helper"),
        ("You are opencode.", [{"function": {"name": "read"}}], OPENCODE, None),
        ("You are a title generator.", [], {}, None),
    ],
)
def test_side_requests_of_opencode(system, tools, headers, kind):
    body = {"messages": [{"role": "system", "content": system}], "tools": tools}
    with ChatCompletionsServer(Script("talk"), side_reply="aside") as server:
        answer = post(f"{server.base_url}/chat/completions", body, headers).json()
        assert [request.side for request in server.all_requests] == [kind]
        assert answer["choices"][0]["message"]["content"] == ("aside" if kind else "talk")


def test_the_list_of_models_uses_up_nothing():
    with ChatCompletionsServer(Script()) as server, openai_client(server) as client:
        assert list(client.models.list()) == []
        assert server.all_requests == []
        assert server.unrouted == []
