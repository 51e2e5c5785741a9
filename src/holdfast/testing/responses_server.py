"""A scripted model behind OpenAI's responses protocol, as Codex and the own runtime speak it.

`POST /v1/responses` (stream and whole) and `GET /v1/models`. Point the client at `server.base_url`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.testing.chat_completions_server import openai_error_body, openai_overflow, parsed_arguments
from holdfast.testing.http_base import HttpCall, PlainAnswer, sse, text_pieces
from holdfast.testing.model_request import Message, ModelRequest, Role, ToolUse
from holdfast.testing.script import ContextOverflow, Failure, Step, Turn
from holdfast.testing.scripted_server import ScriptedServer

_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "assistant": "assistant"}
_CALLS = ("function_call", "custom_tool_call")
_CALL_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def codex_side_kind(request: ModelRequest) -> str | None:
    """Which side request of Codex this is; None for the conversation, and for every other client.

    Codex says it itself, as `request_kind` in a header: a `compaction` is called `summary` here as with the
    other hosts, any further kind but `turn` keeps Codex's own name.
    """
    kind = str(_turn_metadata(request.headers).get("request_kind", "turn"))
    return {"turn": None, "compaction": "summary"}.get(kind, kind)


def _turn_metadata(headers: Mapping[str, str]) -> Mapping[str, Any]:
    parsed = parsed_arguments(headers.get("x-codex-turn-metadata", ""))
    return {} if isinstance(parsed, str) else parsed


class ResponsesServer(ScriptedServer):
    """The responses protocol. A tool call whose tool was offered as freeform goes out as a custom call."""

    @property
    def base_url(self) -> str:
        """What clients call the base URL: with `/v1`."""
        return f"{self.url}/v1"

    def plain_answer(self, call: HttpCall) -> PlainAnswer | None:
        if call.method == "GET" and call.path == "/v1/models":
            return PlainAnswer({"object": "list", "data": [], "models": []})
        return None

    def read(self, call: HttpCall, number: int) -> ModelRequest | None:
        if call.method != "POST" or call.path != "/v1/responses":
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
            tools=tuple(_tool_names(body)),
            conversation=str(_turn_metadata(call.headers).get("thread_id", "")),
        )

    def side_kind(self, request: ModelRequest) -> str | None:
        return codex_side_kind(request)

    def default_side_reply(self, request: ModelRequest) -> Step:
        return "Scripted summary of the conversation."

    def whole(self, turn: Turn, request: ModelRequest) -> Mapping[str, Any]:
        return _response(request, _status(turn), _items(turn, request), turn)

    def events(self, turn: Turn, request: ModelRequest) -> Iterator[bytes]:
        number = 0

        def event(kind: str, **fields: Any) -> bytes:
            nonlocal number
            number += 1
            return sse({"type": kind, "sequence_number": number - 1, **fields}, event=kind)

        items = _items(turn, request)
        opening = _response(request, "in_progress", [], None)
        yield event("response.created", response=opening)
        yield event("response.in_progress", response=opening)
        for index, item in enumerate(items):
            place = {"output_index": index, "item_id": item["id"]}
            unfilled = {**item, **_EMPTY[item["type"]], "status": "in_progress"}
            yield event("response.output_item.added", output_index=index, item=unfilled)
            if item["type"] == "message":
                part = item["content"][0]
                inside = {**place, "content_index": 0}
                yield event("response.content_part.added", **inside, part={**part, "text": ""})
                for piece in text_pieces(part["text"]):
                    yield event("response.output_text.delta", **inside, delta=piece, logprobs=[])
                yield event("response.output_text.done", **inside, text=part["text"], logprobs=[])
                yield event("response.content_part.done", **inside, part=part)
            else:
                kind, key = _ARGUMENT_EVENTS[item["type"]]
                for piece in text_pieces(item[key]):
                    yield event(f"{kind}.delta", **place, delta=piece)
                yield event(f"{kind}.done", **place, **{key: item[key]}, name=item["name"])
            yield event("response.output_item.done", output_index=index, item=item)
        ended = _status(turn)
        yield event(f"response.{ended}", response=_response(request, ended, items, turn))

    def error_body(self, failure: Failure) -> Mapping[str, Any]:
        return openai_error_body(failure)

    def overflow(self, overflow: ContextOverflow, request: ModelRequest) -> Failure | tuple[bytes, ...]:
        """In a stream the error is an event of the stream; Codex reads it only there."""
        failure = openai_overflow(overflow)
        if not request.stream:
            return failure
        error = {"code": "context_length_exceeded", "message": failure.message}
        failed = {**_response(request, "failed", [], None), "error": error}
        opening = _response(request, "in_progress", [], None)
        return tuple(
            sse({"type": kind, "sequence_number": number, "response": response}, event=kind)
            for number, (kind, response) in enumerate([("response.created", opening), ("response.failed", failed)])
        )


_EMPTY: dict[str, dict[str, Any]] = {
    "message": {"content": []},
    "function_call": {"arguments": ""},
    "custom_tool_call": {"input": ""},
}
_ARGUMENT_EVENTS = {
    "function_call": ("response.function_call_arguments", "arguments"),
    "custom_tool_call": ("response.custom_tool_call_input", "input"),
}


def _items(turn: Turn, request: ModelRequest) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": [], "logprobs": []}]
        head = {"id": f"msg_{request.number}", "type": "message", "role": "assistant"}
        items.append({**head, "status": "completed", "content": content})
    freeform = {tool.get("name") for tool in request.body.get("tools") or () if tool.get("type") == "custom"}
    for place, call in enumerate(turn.tool_calls, start=1):
        raw = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        item: dict[str, Any] = {"call_id": call.id, "name": call.name, "status": "completed"}
        if call.name in freeform:
            item |= {"id": f"ctc_{request.number}_{place}", "type": "custom_tool_call", "input": raw}
        else:
            item |= {"id": f"fc_{request.number}_{place}", "type": "function_call", "arguments": raw}
        if call.namespace:
            item["namespace"] = call.namespace
        items.append(item)
    return items


def _status(turn: Turn) -> str:
    return "incomplete" if turn.at_limit else "completed"


def _response(request: ModelRequest, status: str, output: list[dict[str, Any]], turn: Turn | None) -> dict[str, Any]:
    return {
        "id": f"resp_{request.number}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": request.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": request.body.get("tool_choice") or "auto",
        "tools": [],
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "usage": None if turn is None else _usage(turn),
    }


def _usage(turn: Turn) -> dict[str, Any]:
    usage = turn.usage
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.total_tokens,
    }


def _tool_names(body: Mapping[str, Any]) -> Iterator[str]:
    for tool in body.get("tools") or ():
        if tool.get("type") == "namespace":
            for inner in tool.get("tools") or ():
                yield f"{tool.get('name')}__{inner.get('name')}"
        else:
            yield str(tool.get("name") or tool.get("type") or "")


def _messages(body: Mapping[str, Any]) -> Iterator[Message]:
    if body.get("instructions"):
        yield Message("system", str(body["instructions"]))
    given = body.get("input") or ()
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = item.get("type", "message")
        if kind in _CALLS:
            arguments = item["input"] if kind == "custom_tool_call" else parsed_arguments(item["arguments"])
            call = ToolUse(item["name"], arguments, item["call_id"], item.get("namespace") or "")
            yield Message("assistant", tool_calls=(call,))
        elif kind in _CALL_OUTPUTS:
            yield Message("tool", _text(item.get("output")), call_id=str(item.get("call_id")))
        elif kind == "message":
            yield Message(_ROLES.get(str(item.get("role")), "user"), _text(item.get("content")))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _text(content.get("content"))
    return "\n".join(str(part["text"]) for part in content or () if "text" in part)
