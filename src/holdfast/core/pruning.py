"""What of a history may go, and the work on it that needs no model: repair, division, pruning (CO3, CO4).

Old items are divided from the protected ones by index, so that everything protected passes through untouched, and a
call is never parted from its result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from itertools import compress

from holdfast.core.history import FRAME_TOKENS, Item, Outline, Size, measure, shortened, steps
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


OLD, KEPT, RECENT, REPLACED = range(4)
"""What compaction may do with an item. OLD goes into the summary. KEPT is old but stays word for word: a leading system
item, a pinned one, or the other half of a pair that stays. RECENT is protected. REPLACED is ours from an earlier
compaction: the summary is folded into the next one, the pinned lines are written anew."""
_STAYS = bytes(fate in (RECENT, KEPT) for fate in range(256))
_IS_OLD = bytes(fate == OLD for fate in range(256))


@dataclass(frozen=True, slots=True)
class Division:
    """A valid history and the fate of each of its items."""

    history: tuple[Item, ...]
    partner: Sequence[int]
    fates: bytes
    old_results: Sequence[int]
    """Where the old outputs stand: what pruning replaces, and what a summary drops."""
    narrowed: bool = False
    """The protected turns alone were too large: only their user's words and the latest steps stay."""

    def remaining(self) -> tuple[Item, ...]:
        """What stays beside a summary, in its old order."""
        return tuple(compress(self.history, self.fates.translate(_STAYS)))

    def older(self) -> list[Item]:
        """What a summary takes the place of: the old items and an earlier summary, which is folded into the new one."""
        wanted = bytearray(self.fates.translate(_IS_OLD))
        place = self.fates.find(REPLACED)
        while place >= 0:
            wanted[place] = is_summary(self.history[place])
            place = self.fates.find(REPLACED, place + 1)
        return list(compress(self.history, wanted))


def is_summary(item: Item) -> bool:
    return item.kind == "system" and item.text.startswith(SUMMARY_MARK)


def is_pinned_lines(item: Item) -> bool:
    return item.kind == "system" and item.pinned and item.text.startswith(PINNED_MARK)


def repair(
    history: tuple[Item, ...], lonely: Sequence[int], note_missing: bool = True, estimate: Estimator = estimate
) -> tuple[Item, ...]:
    """The history without results that answer nothing; a call without result gets a note, or goes as well."""
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
    outline: Outline,
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
    starts = [i for i in outline.spoken if history[i].kind == "user"]
    before = starts[0] if starts else len(history)
    if any(item.kind != "system" for item in history[:before]):
        starts.insert(0, 0)  # what was said before the first request is a turn too
    recent = starts[-min(protected_turns, len(starts))] if starts else len(history)
    division = _division(history, outline, _fates(history, outline, recent, recent))
    remaining = measure(division.remaining(), estimate)
    if room(remaining.tokens + added.tokens, remaining.characters + added.characters):
        return division
    replies = steps(history, recent)
    if len(replies) <= protected_turns:
        return division
    fates = _fates(history, outline, recent, replies[-protected_turns])
    return _division(history, outline, fates, narrowed=fates != division.fates)


def _division(history: tuple[Item, ...], outline: Outline, fates: bytes, *, narrowed: bool = False) -> Division:
    old_results = [index for index in outline.results if fates[index] == OLD]
    return Division(history, outline.partner, fates, old_results, narrowed)


def _fates(history: Sequence[Item], outline: Outline, recent: int, cut: int) -> bytes:
    """Everything is protected from `cut` on, and from `recent` on what the user and the system say."""
    partner = outline.partner
    fates = bytearray([OLD]) * cut + bytearray([RECENT]) * (len(history) - cut)
    holders: dict[int, list[str]] = {}
    latest: dict[str, int] = {}
    leading = next((i for i, item in enumerate(history) if item.kind != "system"), len(history))
    for index in outline.spoken:
        item = history[index]
        if recent <= index < cut:
            fates[index] = RECENT
        if item.kind == "system" and (is_summary(item) or is_pinned_lines(item)):
            fates[index] = REPLACED
            continue
        if index < leading and fates[index] == OLD:
            fates[index] = KEPT
        if _MEMORY_END in item.text:
            holders[index] = [end for end in MEMORY_BLOCKS if end in item.text]
            latest.update(dict.fromkeys(holders[index], index))
    for index, ends in holders.items():
        if any(latest[end] == index for end in ends):
            fates[index] = fates[index] or KEPT
        elif ends and fates[index] == KEPT and not history[index].pinned:
            fates[index] = OLD  # every block in it was injected again later
    for index in outline.pinned:
        if fates[index] == OLD:
            fates[index] = KEPT
        if partner[index] >= 0 and fates[partner[index]] == OLD:
            fates[partner[index]] = KEPT
    for index in range(cut, len(history)):
        call = partner[index]
        if 0 <= call < cut and fates[call] == OLD:
            fates[call] = KEPT
    return bytes(fates)


def one_liner(division: Division, protected_tools: Sequence[str]) -> Callable[[Item], str | None]:
    """Gives the one-line form of an old output; None: it is not worth pruning."""
    protects = _tool_matcher(tuple(protected_tools))
    heads: dict[str, str] = {}  # by tool; empty where the tool is protected
    tool_of = _tools_of_nameless(division)

    def line_of(item: Item) -> str | None:
        text = item.text
        size = len(text)
        if size <= SHORTEST_PRUNED and not item.images:
            return None
        tool = item.tool or tool_of[id(item)]
        if tool not in heads:
            heads[tool] = "" if protects(tool) else f"{PRUNED_MARK}{tool or 'tool'}, "
        head = heads[tool]
        if not head or (text[:1] == "[" and text.startswith(PRUNED_MARK)):
            return None
        special = item.failed or item.images or item.kept_at or item.exit_code is not None
        line = f"{head}{size} characters, {_ending(item) if special else _PLAIN_ENDING}"
        length = len(line)
        tokens = item.tokens
        return line if length < size and (tokens is None or _RESULT_FRAME + length // 3 < tokens) else None

    return line_of


def _tools_of_nameless(division: Division) -> Mapping[int, str]:
    """The tools of old outputs that do not name theirs, by identity: their calls do."""
    history = division.history
    nameless = [index for index in division.old_results if not history[index].tool]
    return {id(history[index]): history[division.partner[index]].tool for index in nameless}


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
    line_of = one_liner(division, protected_tools)
    for index in division.old_results:
        item = history[index]
        line = line_of(item)
        if line is None:
            continue
        history[index] = shortened(item, line, _RESULT_FRAME + len(line) // 3)
        tool = item.tool or history[division.partner[index]].tool
        tools[tool] = tools.get(tool, 0) + 1
    return Pruned(tuple(history), tools)


def _ending(item: Item) -> str:
    """Of a result's one line: how it ended, and where the whole of it lies."""
    ended = "failed" if item.failed else "ok"
    if item.exit_code is not None:
        ended = f"exit {item.exit_code}"
    if item.images:
        ended = f"{item.images} images, {ended}"
    where = item.kept_at or "session transcript"
    return f"{ended}; whole output: {where}]"


_PLAIN_ENDING = _ending(Item("result"))
"""Most outputs end alike."""


@lru_cache(maxsize=16)
def _tool_matcher(globs: tuple[str, ...]) -> Callable[[str], bool]:
    if not globs:
        return lambda tool: False
    matches = re.compile("|".join(translate(glob) for glob in globs)).match
    return lambda tool: matches(tool) is not None
