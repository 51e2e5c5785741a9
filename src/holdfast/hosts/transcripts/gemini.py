"""Gemini CLI: messages by id, written again whenever they grow; the last line of an id counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.hosts.transcripts.items import Call, Fill, Item, Words, number_of, seconds_of

WINDOW = 1_048_576


class GeminiLines:
    def items(self, line: Mapping[str, Any]) -> Iterator[Item]:
        if line.get("type") != "gemini":
            return
        name = str(line.get("id") or "")
        at = seconds_of(line.get("timestamp"))
        text = line.get("content")
        if isinstance(text, str) and text.strip():
            yield Words(name, at, text)
        for call in line.get("toolCalls") or ():
            if isinstance(call, Mapping):
                given = call.get("args")
                arguments = given if isinstance(given, Mapping) else {}
                yield Call(str(call.get("id") or ""), str(call.get("name") or ""), at, arguments)
        tokens = line.get("tokens")
        used = number_of(tokens.get("input")) + number_of(tokens.get("output")) if isinstance(tokens, Mapping) else 0
        if used:
            yield Fill(used, at, WINDOW, str(line.get("model") or ""))
