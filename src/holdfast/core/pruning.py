"""What of a history may go, and the work on it that needs no model: repair, division, pruning (CO3, CO4).

Old items are divided from the protected ones by index, so that everything protected passes through untouched, and a
call is never parted from its result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate

from holdfast.core.history import FRAME_TOKENS, Item, Size, measure, shortened, steps, turns
from holdfast.core.tokens import Estimator, estimate

PRUNED_MARK = "[pruned: "
SUMMARY_MARK = "【会话摘要】"
PINNED_MARK = "[pinned lines]"
"""How the item begins that carries the user's pinned lines."""
NOT_RECORDED = "[no result was recorded: this call may or may not have run]"
MEMORY_BLOCKS = ("</memory-bank>", "</memory-bank-anchors>")
"""Ends of the blocks that the memory bank injects; the latest of each survives (MB1, MB8)."""

SHORTEST_PRUNED = 240
"""Outputs up to this many characters stay: a summary line would save next to nothing."""
_RESULT_FRAME = FRAME_TOKENS["result"] + 1
_MEMORY_END = "</memory-bank"
_NOTE_CHARS = 700
"""The note that truncation leaves below a preview (TR4) stands within so many characters of the end."""
_TRUNCATED = "[holdfast:truncated]"
_FULL_OUTPUT = re.compile(r"^(?:Full output: |完整输出：)(\S.*?)\s*$", re.MULTILINE)


OLD, KEPT, RECENT, REPLACED = range(4)
"""What compaction may do with an item. OLD goes into the summary. KEPT is old but stays word for word: a leading system
item, a pinned one, or the other half of a pair that stays. RECENT is protected. REPLACED is ours from an earlier
compaction: the summary is folded into the next one, the pinned lines are written anew."""
_STAYS = (RECENT, KEPT)


@dataclass(frozen=True, slots=True)
class Division:
    """A valid history and the fate of each of its items."""

    history: tuple[Item, ...]
    partner: Sequence[int]
    fates: bytes
    narrowed: bool = False
    """The protected turns alone were too large: only their user's words and the latest steps stay."""

    def remaining(self) -> tuple[Item, ...]:
        """What stays beside a summary, in its old order."""
        return tuple([item for item, fate in zip(self.history, self.fates, strict=True) if fate in _STAYS])


def is_summary(item: Item) -> bool:
    return item.kind == "system" and item.text.startswith(SUMMARY_MARK)


def is_pinned_lines(item: Item) -> bool:
    return item.kind == "system" and item.pinned and item.text.startswith(PINNED_MARK)


def repair(
    history: tuple[Item, ...], partner: Sequence[int], note_missing: bool = True, estimate: Estimator = estimate
) -> tuple[Item, ...]:
    """The history without results that answer nothing; a call without result gets a note, or goes as well."""
    lonely = [i for i, other in enumerate(partner) if other < 0 and history[i].kind in ("call", "result")]
    if not lonely:
        return history
    # A call whose id was used again cannot be answered: a provider would take the answer for the other one's.
    uses = Counter(item.call_id for item in history if item.kind in ("call", "result"))
    answered = {i for i in lonely if note_missing and history[i].kind == "call" and uses[history[i].call_id] == 1}
    dropped = set(lonely) - answered
    for index in sorted(dropped, reverse=True):
        # Reasoning must be followed by what it led to; alone a provider refuses it.
        before, after = index - 1, index + 1
        follows = after < len(history) and after not in dropped and history[after].kind in ("assistant", "call")
        if before >= 0 and history[before].kind == "reasoning" and not follows:
            dropped.add(before)
    repaired: list[Item] = []
    waiting: list[Item] = []
    for index, item in enumerate(history):
        if waiting and item.kind != "call":
            repaired += waiting
            waiting = []
        if index in dropped:
            continue
        repaired.append(item)
        if index in answered:
            tokens = FRAME_TOKENS["result"] + estimate(NOT_RECORDED)
            waiting.append(Item("result", NOT_RECORDED, item.call_id, item.tool, failed=True, tokens=tokens))
    return (*repaired, *waiting)


def divide(
    history: tuple[Item, ...],
    partner: Sequence[int],
    protected_turns: int,
    room: Callable[[int, int], bool],
    added: Size,
    estimate: Estimator = estimate,
) -> Division:
    """Decide the fate of every item of a valid history.

    `room(tokens, characters)` says whether so much may remain, `added` is what compaction itself will add. If the
    protected turns alone leave no room, a single long run fills the window: then the user's words and the latest steps
    are protected instead (decision 0062).
    """
    ranges = turns(history)
    if len(ranges) > 1 and all(item.kind == "system" for item in history[: ranges[0][1]]):
        del ranges[0]
    recent = ranges[-min(protected_turns, len(ranges))][0] if ranges else 0
    division = Division(history, partner, _fates(history, partner, recent, recent))
    remaining = measure(division.remaining(), estimate)
    if room(remaining.tokens + added.tokens, remaining.characters + added.characters):
        return division
    replies = steps(history, recent)
    if len(replies) <= protected_turns:
        return division
    fates = _fates(history, partner, recent, replies[-protected_turns])
    return Division(history, partner, fates, narrowed=fates != division.fates)


def _fates(history: Sequence[Item], partner: Sequence[int], recent: int, cut: int) -> bytes:
    """Everything is protected from `cut` on, and from `recent` on what the user and the system say."""
    fates = bytearray([OLD]) * cut + bytearray([RECENT]) * (len(history) - cut)
    kinds = [item.kind for item in history]
    for index in range(recent, cut):
        if kinds[index] in ("user", "system"):
            fates[index] = RECENT
    blocks: dict[str, int] = {}
    leading = next((i for i, kind in enumerate(kinds) if kind != "system"), len(kinds))
    for index in [i for i, kind in enumerate(kinds) if kind in ("system", "user")]:
        item = history[index]
        if kinds[index] == "system" and (is_summary(item) or is_pinned_lines(item)):
            fates[index] = REPLACED
            continue
        if index < leading and fates[index] == OLD:
            fates[index] = KEPT
        for end in MEMORY_BLOCKS if _MEMORY_END in item.text else ():
            if end in item.text:
                if fates[blocks.get(end, index)] == KEPT and not history[blocks.get(end, index)].pinned:
                    fates[blocks.get(end, index)] = OLD  # an older copy of what is injected once
                if fates[index] == OLD:
                    fates[index] = KEPT
                blocks[end] = index
    for index in [i for i, item in enumerate(history) if item.pinned]:
        if fates[index] == OLD:
            fates[index] = KEPT
        if partner[index] >= 0 and fates[partner[index]] == OLD:
            fates[partner[index]] = KEPT
    for index in range(cut, len(history)):
        call = partner[index]
        if 0 <= call < cut and fates[call] == OLD:
            fates[call] = KEPT
    return bytes(fates)


def pruned_lines(division: Division, protected_tools: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Index, tool and one-line form of every old output that is worth pruning."""
    protects = _tool_matcher(protected_tools)
    known: dict[str, bool] = {}
    history, fates = division.history, division.fates
    for index, item in enumerate(history):
        if item.kind != "result" or fates[index] != OLD:
            continue
        text = item.text
        size = len(text)
        if size <= SHORTEST_PRUNED and not item.images:
            continue
        tool = item.tool or history[division.partner[index]].tool
        protected = known.get(tool)
        if protected is None:
            protected = known[tool] = protects(tool)
        if protected or (text[0:1] == "[" and text.startswith(PRUNED_MARK) and "\n" not in text):
            continue
        line = result_line(item, tool)
        if len(line) < size and (item.tokens is None or line_tokens(line) < item.tokens):
            yield index, tool, line


def line_tokens(line: str) -> int:
    """An upper bound for a result's one-line form: such a line has more than three characters a token."""
    return _RESULT_FRAME + len(line) // 3


@dataclass(frozen=True, slots=True)
class Pruned:
    history: tuple[Item, ...]
    tools: Mapping[str, int]
    """How many outputs of each tool were replaced."""


def prune(division: Division, protected_tools: Sequence[str]) -> Pruned:
    """Replace old tool outputs by one line each; every call keeps its result."""
    history = list(division.history)
    tools: dict[str, int] = {}
    for index, tool, line in pruned_lines(division, protected_tools):
        history[index] = shortened(history[index], line, line_tokens(line))
        tools[tool] = tools.get(tool, 0) + 1
    return Pruned(tuple(history), tools)


def result_line(item: Item, tool: str) -> str:
    """A result in one line: tool, size, how it ended, and where the whole of it lies."""
    ended = f"exit {item.exit_code}" if item.exit_code is not None else "failed" if item.failed else "ok"
    images = f" and {item.images} images" if item.images else ""
    text = item.text
    where = item.kept_at
    if not where:
        note = text.rfind(_TRUNCATED, -_NOTE_CHARS)
        found = _FULL_OUTPUT.search(text, note) if note >= 0 else None
        where = found.group(1) if found else "session transcript"
    return f"{PRUNED_MARK}{tool or 'tool'}, {len(text)} characters{images}, {ended}; whole output: {where}]"


def _tool_matcher(globs: Sequence[str]) -> Callable[[str], bool]:
    if not globs:
        return lambda tool: False
    matches = re.compile("|".join(translate(glob) for glob in globs)).match
    return lambda tool: matches(tool) is not None
