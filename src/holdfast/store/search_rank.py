"""Which hits come first.

Every search: BM25, and a little more for what is recent. A question is ranked as a conversation is read: rare words
count more, a turn next to a good turn is probably part of the same answer, what somebody said is sought among his own
turns, and a question about a time among turns that name one.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from holdfast.store.search_document import Card, Scored, voice_of
from holdfast.store.search_query import Query
from holdfast.store.search_stems import stem_of
from holdfast.store.search_words import fold

_DAY = 86_400_000_000
_RECENT_BONUS = 0.2
_RECENT_HALF_LIFE = 30 * _DAY
_RARE = 0.3
"""Power of rarity on top of BM25's own."""
_NEIGHBOURS = ((-1, 0.5), (1, 0.25), (-2, 0.25), (2, 0.12))
"""How much of the score of the turn at that distance counts: a question is answered by the turn after it."""
_CONTEXT_FROM = 60
"""So many of the best turns lend their score to neighbours that hold no word of the question."""
_SPEAKER_BONUS = 1.4
_SPEAKER_NAME = 0.2
"""The name itself says little: it stands in what others say to him."""
_DATED_BONUS = 1.15
_MONTH_BONUS = 1.25
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_ASKS_WHEN = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:date|day|month|year|time)\b|\bhow long\b|何时|什么时候|几[月号点年]", re.I
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class Question:
    """What a question asks for besides its words."""

    voice: int
    """Of the one person it names; 0 when it names nobody, or several."""
    when: bool
    months: frozenset[int]
    years: frozenset[int]


def read_question(text: str, is_speaker: Callable[[str], bool]) -> tuple[Question, frozenset[str]]:
    """The question, and the names in it that belong to speakers."""
    words = [fold(word) for word in re.findall(r"[^\W_]+", text)]
    names = frozenset(word for word in words if is_speaker(word))
    voice = voice_of(next(iter(names))) if len(names) == 1 else 0
    months = frozenset(number for number, month in enumerate(_MONTHS, 1) if re.search(rf"\b{month.title()}\b", text))
    years = frozenset(map(int, _YEAR.findall(text)))
    return Question(voice, _ASKS_WHEN.search(text) is not None, months, years), names


def stem_weights(query: Query, names: Iterable[str], rarity: Callable[[str], float]) -> list[tuple[str, float]]:
    """How much each stem of a question counts."""
    named = {stem_of(name) for name in names}
    weights = [(stem, max(rarity(stem), 0.1) ** _RARE) for stem in query.stems]
    if all(stem in named for stem in query.stems):
        return weights
    return [(stem, weight * _SPEAKER_NAME if stem in named else weight) for stem, weight in weights]


def by_recency(found: Iterable[Scored], now: float) -> list[Scored]:
    """Best first, the recent ones lifted a little."""
    moment = round(now * 1_000_000)
    return sorted(((score * _recent(card, moment), card) for score, card in found), reverse=True)


def for_question(
    found: Sequence[Scored], question: Question, at_places: Callable[[Sequence[int]], Iterable[Card]], now: float
) -> list[Scored]:
    """Best first; neighbours of good turns are among them, also when they hold no word of the question."""
    scores = {card.place: score for score, card in found}
    known = {card.place: card for _, card in found}
    best = heapq.nlargest(_CONTEXT_FROM, found)
    around = {card.place + distance for _, card in best for distance, _ in _NEIGHBOURS} - known.keys()
    known.update((card.place, card) for card in at_places(sorted(around)))
    moment = round(now * 1_000_000)
    ranked = []
    for place, card in known.items():
        score = scores.get(place, 0.0)
        for distance, weight in _NEIGHBOURS:
            score += weight * scores.get(place + distance, 0.0)
        ranked.append((score * _fitting(card, question) * _recent(card, moment), card))
    return sorted(ranked, reverse=True)


def _fitting(card: Card, question: Question) -> float:
    factor = 1.0
    if question.voice and card.voice == question.voice:
        factor *= _SPEAKER_BONUS
    if question.when and card.dated:
        factor *= _DATED_BONUS
    if question.months or question.years:
        day = datetime.fromtimestamp(card.at / 1_000_000, UTC)
        if (not question.months or day.month in question.months) and (not question.years or day.year in question.years):
            factor *= _MONTH_BONUS
    return factor


def _recent(card: Card, moment: int) -> float:
    age = max(0, moment - card.at)
    return 1 + _RECENT_BONUS * math.exp2(-age / _RECENT_HALF_LIFE)
