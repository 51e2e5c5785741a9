"""Gemini's protocol: how a request is read, and which requests are Gemini CLI's own."""

from __future__ import annotations

import json

import pytest

from holdfast.testing import GeminiServer, Message, Script, ToolUse
from testing.clients import post

GEMINI = {"user-agent": "GeminiCLI-tui/0.61.0/gemini-2.5-flash (linux; x64; terminal)"}
PATH = "/v1beta/models/gemini-2.5-flash"


def test_a_conversation_is_read_into_neutral_messages():
    body = {
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [{"name": "read_file"}, {"name": "glob"}]}, {"googleSearch": {}}],
        "contents": [
            {"role": "user", "parts": [{"text": "context"}, {"text": "read it"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "hm", "thought": True},
                    {"text": "Reading."},
                    {"functionCall": {"id": "c1", "name": "read_file", "args": {"p": 1}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "AAA"}}},
                    {"functionResponse": {"id": "c2", "name": "glob", "response": {"error": "no"}}},
                    {"functionResponse": {"id": "c3", "name": "glob", "response": {"n": 1}}},
                ],
            },
        ],
    }
    with GeminiServer(Script("ok")) as server:
        post(f"{server.url}{PATH}:generateContent", body).raise_for_status()
        request = server.requests[0]
    assert request.messages == (
        Message("system", "Be brief."),
        Message("user", "context\nread it"),
        Message("assistant", "Reading.", (ToolUse("read_file", {"p": 1}, "c1"),)),
        Message("tool", "AAA", call_id="c1"),
        Message("tool", "no", call_id="c2", is_error=True),
        Message("tool", '{"n": 1}', call_id="c3"),
    )
    assert request.tools == ("read_file", "glob")
    assert request.model == "gemini-2.5-flash"
    assert not request.stream


TOOLS = [{"functionDeclarations": [{"name": "read_file"}]}]
JSON_CONFIG = {
    "responseMimeType": "application/json",
    "responseJsonSchema": {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "next_speaker": {"type": "string", "enum": ["model", "user"]},
            "confidence": {"type": "number"},
            "files": {"type": "array"},
            "loop": {"type": "boolean"},
        },
    },
}


@pytest.mark.parametrize(
    ("body", "headers", "kind"),
    [
        ({"systemInstruction": {"parts": [{"text": "write a <state_snapshot>"}]}}, GEMINI, "summary"),
        ({"generationConfig": JSON_CONFIG}, GEMINI, "json"),
        ({"tools": [{"googleSearch": {}}]}, GEMINI, "helper"),
        ({"tools": TOOLS}, GEMINI, None),
        ({"generationConfig": JSON_CONFIG}, {}, None),
    ],
)
def test_side_requests_of_gemini_cli(body, headers, kind):
    with GeminiServer(Script("talk")) as server:
        post(f"{server.url}{PATH}:generateContent", body, headers).raise_for_status()
        assert [request.side for request in server.all_requests] == [kind]


def test_a_json_question_gets_the_plainest_answer_its_schema_allows():
    with GeminiServer(Script()) as server:
        body = {"generationConfig": JSON_CONFIG}
        answer = post(f"{server.url}{PATH}:generateContent", body, GEMINI).json()
    text = answer["candidates"][0]["content"]["parts"][0]["text"]
    expected = {"reasoning": "", "next_speaker": "user", "confidence": 0, "files": [], "loop": False}
    assert json.loads(text) == expected


def test_tokens_are_counted_without_using_up_the_script():
    with GeminiServer(Script()) as server:
        body = {"contents": [{"role": "user", "parts": [{"text": "x" * 400}]}]}
        assert 100 < post(f"{server.url}{PATH}:countTokens", body).json()["totalTokens"] < 150
        assert server.all_requests == []
