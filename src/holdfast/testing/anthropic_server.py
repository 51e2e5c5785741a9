"""A scripted model behind Anthropic's messages protocol, as Claude Code speaks it.

`POST /v1/messages` (stream and whole) and `POST /v1/messages/count_tokens`.
Point the client at `server.url` (`ANTHROPIC_BASE_URL`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.testing.http_base import HttpCall, PlainAnswer, sse, text_pieces
from holdfast.testing.model_request import Message, ModelRequest, ToolUse
from holdfast.testing.script import ContextOverflow, Failure, Step, Turn
from holdfast.testing.scripted_server import ScriptedServer

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def claude_code_side_kind(request: ModelRequest) -> str | None:
    """Which side request of Claude Code this is; None for the conversation, and for every other client.

    `quota`: the probe with one output token. `summary`: a compaction, known by the task that closes the
    conversation (it still offers tools). `title`: a name for the session.
    `helper`: any other call without tools, made for the client itself (a fetched page, a check of a command).
    """
    if not request.from_client("claude-cli/"):
        return None
    if request.body.get("max_tokens") == 1:
        return "quota"
    if "create a detailed summary of" in request.last_user_text:
        return "summary"
    if request.tools:
        return None
    return "title" if "title" in request.system.lower() else "helper"


class AnthropicServer(ScriptedServer):
    """The messages protocol, with server-sent events."""

    def plain_answer(self, call: HttpCall) -> PlainAnswer | None:
        if call.path == "/v1/messages/count_tokens":
            return PlainAnswer({"input_tokens": max(1, len(json.dumps(call.body)) // 4)})
        return PlainAnswer({}) if call.method == "HEAD" else None

    def read(self, call: HttpCall, number: int) -> ModelRequest | None:
        if call.method != "POST" or call.path != "/v1/messages":
            return None
        body = call.body
        return ModelRequest(
            number=number,
            path=call.path,
            headers=call.headers,
            body=body,
            model=str(body.get("model", "")),
            stream=bool(body.get("stream")),
            messages=tuple(_messages(body)),
            tools=tuple(str(tool.get("name", "")) for tool in body.get("tools") or ()),
            conversation=_conversation(call.headers),
        )

    def side_kind(self, request: ModelRequest) -> str | None:
        return claude_code_side_kind(request)

    def default_side_reply(self, request: ModelRequest) -> Step:
        if request.side == "summary":
            return "<summary>Scripted summary of the conversation.</summary>"
        return json.dumps({"title": "Scripted session"})

    def whole(self, turn: Turn, request: ModelRequest) -> Mapping[str, Any]:
        content: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
        content += [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in turn.tool_calls
        ]
        return {
            **_message_head(request),
            "content": content,
            "stop_reason": _stop_reason(turn),
            "stop_sequence": None,
            "usage": _usage(turn),
        }

    def events(self, turn: Turn, request: ModelRequest) -> Iterator[bytes]:
        start_usage = {**_usage(turn), "output_tokens": 1}
        head = {**_message_head(request), "content": [], "stop_reason": None, "stop_sequence": None}
        yield _event("message_start", message={**head, "usage": start_usage})
        index = 0
        if turn.text:
            yield _event("content_block_start", index=index, content_block={"type": "text", "text": ""})
            for piece in text_pieces(turn.text):
                yield _event("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
            yield _event("content_block_stop", index=index)
            index += 1
        for call in turn.tool_calls:
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            yield _event("content_block_start", index=index, content_block=block)
            raw = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
            for piece in text_pieces(raw):
                delta = {"type": "input_json_delta", "partial_json": piece}
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
            index += 1
        ending = {"stop_reason": _stop_reason(turn), "stop_sequence": None}
        yield _event("message_delta", delta=ending, usage=_usage(turn))
        yield _event("message_stop")

    def error_body(self, failure: Failure) -> Mapping[str, Any]:
        kind = _ERROR_TYPES.get(failure.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": failure.message}}

    def overflow(self, overflow: ContextOverflow, request: ModelRequest) -> Failure:
        return Failure(400, f"prompt is too long: {overflow.used} tokens > {overflow.limit} maximum")


def _event(kind: str, **fields: Any) -> bytes:
    return sse({"type": kind, **fields}, event=kind)


def _message_head(request: ModelRequest) -> dict[str, Any]:
    return {
        "id": f"msg_{request.number}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
    }


def _stop_reason(turn: Turn) -> str:
    if turn.at_limit:
        return "max_tokens"
    return "tool_use" if turn.tool_calls else "end_turn"


def _usage(turn: Turn) -> dict[str, int]:
    return {
        "input_tokens": turn.usage.input_tokens,
        "cache_read_input_tokens": turn.usage.cache_read_tokens,
        "cache_creation_input_tokens": turn.usage.cache_write_tokens,
        "output_tokens": turn.usage.output_tokens,
    }


def _conversation(headers: Mapping[str, str]) -> str:
    session = headers.get("x-claude-code-session-id", "")
    agent = headers.get("x-claude-code-agent-id", "")
    return f"{session}/{agent}" if agent else session


def _messages(body: Mapping[str, Any]) -> Iterator[Message]:
    system = _text(body.get("system"))
    if system:
        yield Message("system", system)
    for entry in body.get("messages") or ():
        content = entry.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        for block in blocks:
            if block.get("type") == "tool_result":
                text, failed = _text(block.get("content")), bool(block.get("is_error"))
                yield Message("tool", text, call_id=str(block.get("tool_use_id")), is_error=failed)
        text = _text(blocks)
        calls = tuple(
            ToolUse(block["name"], block.get("input") or {}, block["id"])
            for block in blocks
            if block.get("type") == "tool_use"
        )
        if text or calls:
            role = entry.get("role")
            yield Message(role if role in ("assistant", "system") else "user", text, calls)


def _text(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block["text"]) for block in content or () if block.get("type") == "text")
