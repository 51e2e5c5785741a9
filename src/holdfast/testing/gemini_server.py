"""A scripted model behind Gemini's protocol, as Gemini CLI speaks it.

`POST /v1beta/models/NAME:streamGenerateContent` and `:generateContent`, `:countTokens`.
Point the client at `server.url` (`GOOGLE_GEMINI_BASE_URL`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.testing.http_base import HttpCall, PlainAnswer, sse, text_pieces
from holdfast.testing.model_request import Message, ModelRequest, ToolUse
from holdfast.testing.script import ContextOverflow, Failure, ScriptError, Step, Turn
from holdfast.testing.scripted_server import ScriptedServer

_ROUTE = re.compile(r"/v1(?:beta|alpha)?/models/(?P<model>[^/:]+):(?P<verb>\w+)")
_STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def gemini_side_kind(request: ModelRequest) -> str | None:
    """Which side request of Gemini CLI this is; None for the conversation, and for every other client.

    `summary`: a compression, known by the `<state_snapshot>` its instructions ask for.
    `json`: a utility call that must answer by a schema (who speaks next, loop check, model routing).
    `helper`: any other call without tools, made for the client itself.
    """
    if not request.from_client("GeminiCLI"):
        return None
    if "state_snapshot" in request.system and not request.tools:
        return "summary"
    if (request.body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
        return "json"
    return None if request.tools else "helper"


class GeminiServer(ScriptedServer):
    """The generateContent protocol."""

    def plain_answer(self, call: HttpCall) -> PlainAnswer | None:
        route = _ROUTE.fullmatch(call.path)
        if route and route["verb"] == "countTokens":
            return PlainAnswer({"totalTokens": max(1, len(json.dumps(call.body)) // 4)})
        return None

    def read(self, call: HttpCall, number: int) -> ModelRequest | None:
        route = _ROUTE.fullmatch(call.path)
        if route is None or route["verb"] not in ("generateContent", "streamGenerateContent"):
            return None
        body = call.body
        return ModelRequest(
            number=number,
            path=call.path,
            headers=call.headers,
            body=body,
            model=route["model"],
            stream=route["verb"] == "streamGenerateContent",
            messages=tuple(_messages(body)),
            tools=tuple(_tool_names(body)),
        )

    def side_kind(self, request: ModelRequest) -> str | None:
        return gemini_side_kind(request)

    def default_side_reply(self, request: ModelRequest) -> Step:
        if request.side == "summary":
            return "<state_snapshot><overall_goal>Scripted summary.</overall_goal></state_snapshot>"
        if request.side == "json":
            config = request.body["generationConfig"]
            schema = config.get("responseJsonSchema") or config.get("responseSchema") or {}
            return json.dumps(_least_value(schema))
        return "Scripted answer."

    def whole(self, turn: Turn, request: ModelRequest) -> Mapping[str, Any]:
        parts: list[dict[str, Any]] = [{"text": turn.text}] if turn.text else []
        return _answer(request, [*parts, *_call_parts(turn)], turn)

    def events(self, turn: Turn, request: ModelRequest) -> Iterator[bytes]:
        parts = [{"text": piece} for piece in text_pieces(turn.text)] + _call_parts(turn) or [{"text": ""}]
        for number, part in enumerate(parts, start=1):
            yield sse(_answer(request, [part], turn if number == len(parts) else None))

    def error_body(self, failure: Failure) -> Mapping[str, Any]:
        name = _STATUS_NAMES.get(failure.status, "UNKNOWN")
        return {"error": {"code": failure.status, "message": failure.message, "status": name}}

    def overflow(self, overflow: ContextOverflow, request: ModelRequest) -> Failure:
        message = (
            f"The input token count ({overflow.used}) exceeds the maximum number of tokens allowed ({overflow.limit})."
        )
        return Failure(400, message)


def _answer(request: ModelRequest, parts: list[dict[str, Any]], ending: Turn | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    head = {"modelVersion": request.model, "responseId": f"response_{request.number}"}
    if ending is None:
        return {"candidates": [candidate], **head}
    reason = "MAX_TOKENS" if ending.at_limit else "STOP"
    return {"candidates": [{**candidate, "finishReason": reason}], "usageMetadata": _usage(ending), **head}


def _call_parts(turn: Turn) -> list[dict[str, Any]]:
    parts = []
    for call in turn.tool_calls:
        if isinstance(call.arguments, str):
            raise ScriptError(f"{call.name!r}: Gemini's calls carry an object, not the text {call.arguments!r}")
        parts.append({"functionCall": {"id": call.id, "name": call.name, "args": dict(call.arguments)}})
    return parts


def _usage(turn: Turn) -> dict[str, int]:
    return {
        "promptTokenCount": turn.usage.prompt_tokens,
        "cachedContentTokenCount": turn.usage.cache_read_tokens,
        "candidatesTokenCount": turn.usage.output_tokens,
        "totalTokenCount": turn.usage.total_tokens,
    }


def _least_value(schema: Mapping[str, Any]) -> Any:
    """The plainest value a JSON schema lets through: the last choice, false, nothing, zero."""
    kind = str(schema.get("type", "object")).lower()
    if schema.get("enum"):
        return schema["enum"][-1]
    if kind == "object":
        return {name: _least_value(inner) for name, inner in (schema.get("properties") or {}).items()}
    return {"array": [], "boolean": False, "integer": 0, "number": 0}.get(kind, "")


def _tool_names(body: Mapping[str, Any]) -> Iterator[str]:
    for tool in body.get("tools") or ():
        for declaration in tool.get("functionDeclarations") or ():
            yield str(declaration.get("name", ""))


def _messages(body: Mapping[str, Any]) -> Iterator[Message]:
    system = body.get("systemInstruction") or {}
    if system:
        yield Message("system", _text(system.get("parts") or ()))
    for entry in body.get("contents") or ():
        parts = entry.get("parts") or ()
        for part in parts:
            if "functionResponse" in part:
                yield _tool_result(part["functionResponse"])
        text = _text(parts)
        calls = tuple(
            ToolUse(call["name"], call.get("args") or {}, str(call.get("id", "")))
            for call in (part["functionCall"] for part in parts if "functionCall" in part)
        )
        if text or calls:
            yield Message("assistant" if entry.get("role") == "model" else "user", text, calls)


def _tool_result(response: Mapping[str, Any]) -> Message:
    given = response.get("response") or {}
    failed = "error" in given
    shown = given.get("error" if failed else "output", given)
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
    return Message("tool", text, call_id=str(response.get("id", "")), is_error=failed)


def _text(parts: Any) -> str:
    return "\n".join(str(part["text"]) for part in parts if part.get("text") and not part.get("thought"))
