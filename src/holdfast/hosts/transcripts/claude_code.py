"""Claude Code: one JSON object a line; a message of several blocks stands on several lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.core.model_table import find_model
from holdfast.hosts.transcripts.items import Call, Fill, Item, Words, number_of, seconds_of


class ClaudeCodeLines:
    """Sub-agents have files of their own; what is marked as a side chain is none of the main agent's."""

    def items(self, line: Mapping[str, Any]) -> Iterator[Item]:
        message = line.get("message")
        if line.get("type") != "assistant" or line.get("isSidechain") or not isinstance(message, Mapping):
            return
        at = seconds_of(line.get("timestamp"))
        for place, block in enumerate(message.get("content") or ()):
            if not isinstance(block, Mapping):
                continue
            if block.get("type") == "text" and str(block.get("text") or "").strip():
                yield Words(f"{line.get('uuid')}.{place}", at, str(block["text"]))
            elif block.get("type") == "tool_use":
                given = block.get("input")
                arguments = given if isinstance(given, Mapping) else {}
                yield Call(str(block.get("id") or ""), str(block.get("name") or ""), at, arguments)
        yield from _fill(message, at)


def _fill(message: Mapping[str, Any], at: float) -> Iterator[Item]:
    usage = message.get("usage")
    if not isinstance(usage, Mapping):
        return
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    used = sum(number_of(usage.get(name)) for name in names)
    model = str(message.get("model") or "")
    known = find_model(model)
    if used and model != "<synthetic>":
        yield Fill(used, at, known.window if known else None, model)
