"""A scripted model behind OpenAI's chat completions, as OpenCode, the own runtime and many others speak it.

`POST /v1/chat/completions` (stream and whole) and `GET /v1/models`.
Point the client at `server.base_url`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.testing.http_base import HttpCall, PlainAnswer, sse, text_pieces
from holdfast.testing.model_request import Message, ModelRequest, Role, ToolUse
from holdfast.testing.script import ContextOverflow, Failure, Step, Turn
from holdfast.testing.scripted_server import ScriptedServer

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "tool": "tool",
}


def opencode_side_kind(request: ModelRequest) -> str | None:
    """Which side request of OpenCode this is; None for the conversation, and for every other client.

    `title` and `summary` (compaction) are known by their agents' prompts; `helper` is any other call without
    tools.
    """
    if request.tools or not request.from_client("opencode/"):
        return None
    if "title generator" in request.system:
        return "title"
    return "summary" if "summar" in request.system else "helper"


class ChatCompletionsServer(ScriptedServer):
    """The chat completions protocol."""

    @property
    def base_url(self) -> str:
        """What clients call the base URL: with `/v1`."""
        return f"{self.url}/v1"

    def plain_answer(self, call: HttpCall) -> PlainAnswer | None:
        if call.method == "GET" and call.path == "/v1/models":
            return PlainAnswer({"object": "list", "data": []})
        return None

    def read(self, call: HttpCall, number: int) -> ModelRequest | None:
        if call.method != "POST" or call.path != "/v1/chat/completions":
            return None
        body = call.body
        return ModelRequest(
            number=number,
            path=call.path,
            headers=call.headers,
            body=body,
            model=str(body.get("model", "")),
            stream=bool(body.get("stream")),
            messages=tuple(_message(entry) for entry in body.get("messages") or ()),
            tools=tuple(str(tool.get("function", {}).get("name", "")) for tool in body.get("tools") or ()),
            conversation=call.headers.get("x-session-id", ""),
        )

    def side_kind(self, request: ModelRequest) -> str | None:
        return opencode_side_kind(request)

    def default_side_reply(self, request: ModelRequest) -> Step:
        return "Scripted summary of the conversation." if request.side == "summary" else "Scripted session"

    def whole(self, turn: Turn, request: ModelRequest) -> Mapping[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
        if turn.tool_calls:
            message["tool_calls"] = [_wire_call(call) for call in turn.tool_calls]
        choice = {"index": 0, "message": message, "finish_reason": _finish_reason(turn), "logprobs": None}
        return {**_head(request, "chat.completion"), "choices": [choice], "usage": _usage(turn)}

    def events(self, turn: Turn, request: ModelRequest) -> Iterator[bytes]:
        def chunk(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
            return sse({**_head(request, "chat.completion.chunk"), "choices": [choice]})

        yield chunk({"role": "assistant", "content": ""})
        for piece in text_pieces(turn.text):
            yield chunk({"content": piece})
        for index, call in enumerate(turn.tool_calls):
            wire = _wire_call(call)
            raw = wire["function"]["arguments"]
            opening = {**wire, "index": index, "function": {"name": call.name, "arguments": ""}}
            yield chunk({"tool_calls": [opening]})
            for piece in text_pieces(raw):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield chunk({}, _finish_reason(turn))
        if (request.body.get("stream_options") or {}).get("include_usage"):
            yield sse({**_head(request, "chat.completion.chunk"), "choices": [], "usage": _usage(turn)})
        yield sse("[DONE]")

    def error_body(self, failure: Failure) -> Mapping[str, Any]:
        return openai_error_body(failure)

    def overflow(self, overflow: ContextOverflow, request: ModelRequest) -> Failure:
        return openai_overflow(overflow)


def openai_error_body(failure: Failure) -> Mapping[str, Any]:
    """OpenAI's form of an error."""
    kinds = {429: "rate_limit_exceeded", 500: "server_error", 503: "server_error"}
    kind = kinds.get(failure.status, "invalid_request_error")
    return {"error": {"message": failure.message, "type": kind, "param": None, "code": None}}


def openai_overflow(overflow: ContextOverflow) -> Failure:
    """OpenAI's error for a conversation that is too long."""
    message = (
        f"This model's maximum context length is {overflow.limit} tokens. "
        f"However, your messages resulted in {overflow.used} tokens."
    )
    kind = {"type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}
    return Failure(400, message, body={"error": {"message": message, **kind}})


def _head(request: ModelRequest, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{request.number}", "object": kind, "created": 0, "model": request.model}


def _finish_reason(turn: Turn) -> str:
    if turn.at_limit:
        return "length"
    return "tool_calls" if turn.tool_calls else "stop"


def _wire_call(call: ToolUse) -> dict[str, Any]:
    raw = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": raw}}


def _usage(turn: Turn) -> dict[str, Any]:
    usage = turn.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
    }


def _message(entry: Mapping[str, Any]) -> Message:
    calls = tuple(
        ToolUse(call["function"]["name"], parsed_arguments(call["function"].get("arguments", "")), call["id"])
        for call in entry.get("tool_calls") or ()
    )
    role = _ROLES.get(str(entry.get("role")), "user")
    return Message(role, _text(entry.get("content")), calls, call_id=str(entry.get("tool_call_id", "")))


def parsed_arguments(raw: str) -> Mapping[str, Any] | str:
    """A call's arguments as an object where they are one, else as the text they are."""
    try:
        parsed = json.loads(raw)
    except ValueError:
        return raw
    return parsed if isinstance(parsed, dict) else raw


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content or () if part.get("type") == "text")
