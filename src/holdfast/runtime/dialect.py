"""Between our neutral items and the input items of openai-agents, which are those of the Responses protocol.

An item that came from the library keeps its own form in `raw` and goes back as it came; one of ours is rendered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.core.history import Item, sized
from holdfast.core.tokens import Estimator, estimate
from holdfast.runtime.marks import DENIED, FAILED, INTERRUPTED

_UNSUCCESSFUL = (DENIED, FAILED, INTERRUPTED)
InputItem = dict[str, Any]


def items_from_input(given: str | list[Any], estimate: Estimator = estimate) -> list[Item]:
    """A request's input as items, each with its size."""
    if isinstance(given, str):
        return [sized(Item("user", given), estimate)]
    return [sized(item_from_input(entry), estimate) for entry in given]


def item_from_input(entry: Mapping[str, Any]) -> Item:
    raw = dict(entry)
    kind = raw.get("type") or "message"
    if kind == "function_call":
        return Item(
            "call", str(raw.get("arguments", "")), str(raw.get("call_id", "")), str(raw.get("name", "")), raw=raw
        )
    if kind == "function_call_output":
        text, images = _content(raw.get("output"))
        failed = text.startswith(_UNSUCCESSFUL)
        return Item("result", text, str(raw.get("call_id", "")), failed=failed, images=images, raw=raw)
    if kind == "message":
        text, images = _content(raw.get("content"))
        role = raw.get("role")
        if role == "assistant":
            return Item("assistant", text, raw=raw)
        return Item("system" if role in ("system", "developer") else "user", text, images=images, raw=raw)
    # Reasoning, and whatever a provider adds that only it understands: kept as it is, never taken apart.
    text, _ = _content(raw.get("summary") or raw.get("content"))
    return Item("reasoning", text, raw=raw)


def input_from_items(items: Iterable[Item]) -> list[InputItem]:
    return [dict(item.raw) if item.raw is not None else rendered(item) for item in items]


def rendered(item: Item) -> InputItem:
    """One of our own items in the library's form."""
    match item.kind:
        case "call":
            return {"type": "function_call", "call_id": item.call_id, "name": item.tool, "arguments": item.text or "{}"}
        case "result":
            return {"type": "function_call_output", "call_id": item.call_id, "output": item.text}
        case "assistant" | "reasoning":
            return {"role": "assistant", "content": item.text}
        case "system":
            return {"role": "system", "content": item.text}
        case _:
            return {"role": "user", "content": item.text}


def split_system(items: Sequence[Item]) -> tuple[str, list[Item]]:
    """Leading system items as text, and the rest: many providers take a system text at the very beginning only."""
    count = 0
    while count < len(items) and items[count].kind == "system":
        count += 1
    return "\n\n".join(item.text for item in items[:count]), list(items[count:])


def arguments_of(text: str) -> dict[str, Any] | None:
    """A call's arguments as an object; None when they are none."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _content(content: Any) -> tuple[str, int]:
    """Text and number of images."""
    if content is None:
        return "", 0
    if isinstance(content, str):
        return content, 0
    texts: list[str] = []
    images = 0
    for part in content if isinstance(content, Sequence) else (content,):
        if not isinstance(part, Mapping):
            texts.append(str(part))
        elif "image" in str(part.get("type", "")):
            images += 1
        else:
            texts.append(str(part.get("text") or part.get("refusal") or ""))
    return "\n".join(text for text in texts if text), images
