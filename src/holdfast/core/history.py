"""A conversation without any provider's dialect: items, turns, calls paired with their results, and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from holdfast.core.tokens import Estimator, estimate

ItemKind = Literal["system", "user", "assistant", "reasoning", "call", "result"]

FRAME_TOKENS: Mapping[ItemKind, int] = {
    "system": 4, "user": 4, "assistant": 4, "reasoning": 4, "call": 12, "result": 8,
}  # fmt: skip
"""What a provider adds around an item: role marks, call ids, the tool's name."""
IMAGE_TOKENS = 1000
_PAIRED = frozenset(("call", "result"))
_SPOKEN = frozenset(("user", "system"))


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a history.

    `raw` keeps the provider's own form, so that an untouched item is sent exactly as it came; an item without it is
    rendered from the other fields.
    """

    kind: ItemKind
    text: str = ""
    """What is said; a call's arguments as JSON; a result's output."""
    call_id: str = ""
    tool: str = ""
    failed: bool = False
    images: int = 0
    pinned: bool = False
    tokens: int | None = field(default=None, compare=False)
    """Estimated size, kept so that it is not counted again at every request (`sized`)."""
    raw: Mapping[str, Any] | None = field(default=None, compare=False)
    exit_code: int | None = None
    """Of a result, where the tool was a command."""
    kept_at: str = ""
    """Of a result whose text is only a preview: where the whole output lies."""


@dataclass(frozen=True, slots=True, order=False)
class Size:
    tokens: int
    characters: int

    def larger_than(self, other: Size) -> bool:
        """Larger by either measure: some limits are in tokens, one is in characters."""
        return self.tokens > other.tokens or self.characters > other.characters

    def to_dict(self) -> dict[str, int]:
        return {"tokens": self.tokens, "characters": self.characters}


def item_tokens(item: Item, estimate: Estimator = estimate) -> int:
    """The estimated size of one item, frame and images included."""
    return FRAME_TOKENS[item.kind] + estimate(item.text) + IMAGE_TOKENS * item.images


class _Draft:
    """An item while it is being filled; same slots, so that it can become one."""

    __slots__ = Item.__slots__


def shortened(item: Item, text: str, tokens: int) -> Item:
    """The same item with another text, and without images, pin and raw form.

    Compaction makes a thousand of these at once, and building a frozen dataclass takes four times as long as filling a
    draft and declaring it frozen.
    """
    draft: Any = object.__new__(_Draft)
    draft.kind, draft.call_id, draft.tool = item.kind, item.call_id, item.tool
    draft.text, draft.tokens = text, tokens
    draft.failed, draft.exit_code, draft.kept_at = item.failed, item.exit_code, item.kept_at
    draft.images, draft.pinned, draft.raw = 0, False, None
    draft.__class__ = Item
    return cast(Item, draft)


def sized(item: Item, estimate: Estimator = estimate) -> Item:
    """The same item with its size kept; whoever makes an item calls this once."""
    return item if item.tokens is not None else replace(item, tokens=item_tokens(item, estimate))


def count_tokens(history: Sequence[Item], estimate: Estimator = estimate) -> int:
    """The estimated size of a history, from the kept sizes: no text is read where every item was sized."""
    try:
        return sum([item.tokens for item in history])  # type: ignore[misc]
    except TypeError:  # some item has no size yet
        return sum(item_tokens(item, estimate) if item.tokens is None else item.tokens for item in history)


def count_characters(history: Sequence[Item]) -> int:
    return sum([len(item.text) for item in history])


def measure(history: Sequence[Item], estimate: Estimator = estimate) -> Size:
    return Size(count_tokens(history, estimate), count_characters(history))


def turns(history: Sequence[Item]) -> list[tuple[int, int]]:
    """Half-open index ranges, each from a user's message up to the next one; leading items form the first range."""
    starts = [i for i, item in enumerate(history) if item.kind == "user"]
    if not history:
        return []
    if not starts or starts[0] != 0:
        starts.insert(0, 0)
    return list(zip(starts, [*starts[1:], len(history)], strict=True))


def steps(history: Sequence[Item], start: int = 0) -> list[int]:
    """Where each reply of the model begins, from `start` on: its reasoning, words and calls are one step."""
    found: list[int] = []
    speaking = False
    for index in range(start, len(history)):
        speaks = history[index].kind in ("assistant", "reasoning", "call")
        if speaks and not speaking:
            found.append(index)
        speaking = speaks
    return found


@dataclass(frozen=True, slots=True)
class Outline:
    """What one walk over a history finds out; every list holds indices."""

    partner: Sequence[int]
    """For each item its call or result, or -1."""
    lonely: Sequence[int]
    """Calls and results that have none."""
    spoken: Sequence[int]
    """What the user and the system say."""
    results: Sequence[int]
    pinned: Sequence[int]


def outline(history: Sequence[Item]) -> Outline:
    """Of two open calls with one id the later one is answered, as a provider would read it."""
    partner = [-1] * len(history)
    lonely: list[int] = []
    spoken: list[int] = []
    results: list[int] = []
    pinned: list[int] = []
    open_calls: dict[str, int] = {}
    for index, item in enumerate(history):
        kind = item.kind
        if kind in _PAIRED:
            name = item.call_id
            if kind == "call":
                if name in open_calls:
                    lonely.append(open_calls[name])
                open_calls[name] = index
            else:
                results.append(index)
                call = open_calls.pop(name, -1)
                if call >= 0:
                    partner[index] = call
                    partner[call] = index
                else:
                    lonely.append(index)
        elif kind in _SPOKEN:
            spoken.append(index)
        if item.pinned:
            pinned.append(index)
    lonely += open_calls.values()
    return Outline(partner, lonely, spoken, results, pinned)


def partners(history: Sequence[Item]) -> tuple[Sequence[int], Sequence[int]]:
    """For each index the index of its call or result, or -1; and the indices of calls and results that have none."""
    found = outline(history)
    return found.partner, found.lonely


def unpaired(history: Sequence[Item]) -> set[int]:
    """Indices of calls without a result and of results without an earlier call."""
    return set(partners(history)[1])


def pairs(history: Sequence[Item]) -> Iterator[tuple[int, int]]:
    """Indices of each call and its result, in the order of the results."""
    for index, other in enumerate(partners(history)[0]):
        if 0 <= other < index:
            yield other, index


def is_valid(history: Sequence[Item]) -> bool:
    """Whether every provider would accept it: no call without result, no result without call."""
    return not unpaired(history)
