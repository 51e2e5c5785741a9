"""Codex: a rollout, lines of `{timestamp, type, payload}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from holdfast.hosts.transcripts.items import Call, Fill, Item, Words, number_of, seconds_of


class CodexLines:
    def __init__(self) -> None:
        self._window: int | None = None
        self._model = ""

    def items(self, line: Mapping[str, Any]) -> Iterator[Item]:
        payload = line.get("payload")
        if not isinstance(payload, Mapping):
            return
        at = seconds_of(line.get("timestamp"))
        kind = payload.get("type")
        if line.get("type") == "turn_context":
            self._model = str(payload.get("model") or self._model)
        elif line.get("type") == "event_msg" and kind == "token_count":
            yield from self._fill(payload, at)
        elif line.get("type") == "response_item" and kind == "message" and payload.get("role") == "assistant":
            text = "".join(str(part.get("text") or "") for part in payload.get("content") or () if _is_text(part))
            if text.strip():
                yield Words(str(payload.get("id") or at), at, text, _turn(payload))
        elif line.get("type") == "response_item" and kind in ("function_call", "custom_tool_call", "local_shell_call"):
            name = f"{payload.get('namespace') or ''}{payload.get('name') or kind}"
            yield Call(str(payload.get("call_id") or ""), name, at, _arguments(payload), _turn(payload))

    def _fill(self, payload: Mapping[str, Any], at: float) -> Iterator[Item]:
        info = payload.get("info")
        if not isinstance(info, Mapping):
            return
        last = info.get("last_token_usage")
        used = number_of(last.get("total_tokens")) if isinstance(last, Mapping) else 0
        if used:
            yield Fill(used, at, number_of(info.get("model_context_window")) or None, self._model)


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "output_text"


def _turn(payload: Mapping[str, Any]) -> str:
    about = payload.get("internal_chat_message_metadata_passthrough")
    return str(about.get("turn_id") or "") if isinstance(about, Mapping) else ""


def _arguments(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    given = payload.get("arguments")
    if not isinstance(given, str):
        return {"input": payload.get("input") or payload.get("action")}
    try:
        parsed = orjson.loads(given)
    except orjson.JSONDecodeError:
        return {"input": given}
    return parsed if isinstance(parsed, dict) else {"input": parsed}
