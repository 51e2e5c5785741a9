"""A conversation without any provider's dialect: items, turns, and calls paired with their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

ItemKind = Literal["system", "user", "assistant", "reasoning", "call", "result"]


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a history.

    `raw` keeps the provider's own form, so that an untouched item is sent exactly as it came.
    """

    kind: ItemKind
    text: str = ""
    """What is said; a call's arguments as JSON; a result's output."""
    call_id: str = ""
    tool: str = ""
    failed: bool = False
    images: int = 0
    pinned: bool = False
    tokens: int | None = None
    """Estimated size, kept so that it is not counted again at every request."""
    raw: Mapping[str, Any] | None = field(default=None, compare=False)


def turns(history: Sequence[Item]) -> list[tuple[int, int]]:
    """Half-open index ranges, each from a user's message up to the next one; leading items form the first range."""
    starts = [i for i, item in enumerate(history) if item.kind == "user"]
    if not history:
        return []
    if not starts or starts[0] != 0:
        starts.insert(0, 0)
    return list(zip(starts, [*starts[1:], len(history)], strict=True))


def unpaired(history: Sequence[Item]) -> set[int]:
    """Indices of calls without a result and of results without an earlier call."""
    open_calls: dict[str, int] = {}
    lonely: set[int] = set()
    for index, item in enumerate(history):
        if item.kind == "call":
            if item.call_id in open_calls:
                lonely.add(open_calls[item.call_id])
            open_calls[item.call_id] = index
        elif item.kind == "result" and open_calls.pop(item.call_id, None) is None:
            lonely.add(index)
    return lonely | set(open_calls.values())


def pairs(history: Sequence[Item]) -> Iterator[tuple[int, int]]:
    """Indices of each call and its result."""
    open_calls: dict[str, int] = {}
    for index, item in enumerate(history):
        if item.kind == "call":
            open_calls[item.call_id] = index
        elif item.kind == "result" and item.call_id in open_calls:
            yield open_calls.pop(item.call_id), index


def is_valid(history: Sequence[Item]) -> bool:
    """Whether every provider would accept it: no call without result, no result without call."""
    return not unpaired(history)
