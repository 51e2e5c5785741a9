"""The messages protocol: how a request is read, and which requests are Claude Code's own."""

from __future__ import annotations

import pytest

from holdfast.testing import AnthropicServer, Message, Script, ToolUse, Turn
from holdfast.testing.anthropic_server import claude_code_side_kind
from testing.clients import post

CLAUDE = {"user-agent": "claude-cli/2.1.325 (external, sdk-cli)"}


def test_a_conversation_is_read_into_neutral_messages():
    body = {
        "model": "claude-x",
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be right."}],
        "tools": [{"name": "Read"}, {"name": "Write"}],
        "messages": [
            {"role": "user", "content": "read it"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "Reading."},
                    {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "AAA"}]},
                    {"type": "tool_result", "tool_use_id": "t2", "content": "no", "is_error": True},
                    {"type": "text", "text": "go on"},
                ],
            },
        ],
    }
    headers = {"x-claude-code-session-id": "s1", "x-claude-code-agent-id": "a9"}
    with AnthropicServer(Script("ok")) as server:
        post(f"{server.url}/v1/messages", body, headers).raise_for_status()
        request = server.requests[0]

    assert request.messages == (
        Message("system", "Be brief.\nBe right."),
        Message("user", "read it"),
        Message("assistant", "Reading.", (ToolUse("Read", {"file_path": "/a"}, "t1"),)),
        Message("tool", "AAA", call_id="t1"),
        Message("tool", "no", call_id="t2", is_error=True),
        Message("user", "go on"),
    )
    assert request.tools == ("Read", "Write")
    assert request.system == "Be brief.\nBe right."
    assert request.tool_results == {"t1": "AAA", "t2": "no"}
    assert request.result_of("t1") == "AAA"
    assert request.conversation == "s1/a9"
    assert request.body == body
    with pytest.raises(KeyError, match=r"request 1 holds no result for 't3'; it has \['t1', 't2'\]"):
        request.result_of("t3")


def test_tokens_are_counted_without_using_up_the_script():
    with AnthropicServer(Script()) as server:
        body = {"messages": [{"role": "user", "content": "x" * 400}]}
        counted = post(f"{server.url}/v1/messages/count_tokens?beta=true", body).json()["input_tokens"]
        assert 100 < counted < 150
        assert server.all_requests == []


def test_broken_arguments_are_streamed_as_they_are():
    with AnthropicServer(Script(Turn(tool_calls=(ToolUse("Read", '{"file_path": '),)))) as server:
        text = post(f"{server.url}/v1/messages", {"stream": True, "messages": []}).text
    assert '"partial_json": "{\\"file_path\\": "' in text


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"max_tokens": 1, "messages": [{"role": "user", "content": "quota"}]}, "quota"),
        (
            {
                "tools": [{"name": "Read"}],
                "messages": [{"role": "user", "content": "Your task is to create a detailed summary of the talk."}],
            },
            "summary",
        ),
        ({"system": "Generate a concise title", "messages": [{"role": "user", "content": "hi"}]}, "title"),
        ({"messages": [{"role": "user", "content": "what does this page say"}]}, "helper"),
        ({"tools": [{"name": "Read"}], "messages": [{"role": "user", "content": "hi"}]}, None),
    ],
)
def test_side_requests_of_claude_code(body, kind):
    with AnthropicServer(Script("talk"), side_reply="aside") as server:
        said = post(f"{server.url}/v1/messages", body, CLAUDE).json()["content"][0]["text"]
        assert [request.side for request in server.all_requests] == [kind]
        assert said == ("aside" if kind else "talk")


def test_another_client_is_never_taken_for_claude_code():
    with AnthropicServer(Script("talk")) as server:
        post(f"{server.url}/v1/messages", {"max_tokens": 1, "messages": [{"role": "user", "content": "quota"}]})
        assert claude_code_side_kind(server.requests[0]) is None
