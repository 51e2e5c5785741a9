"""Searching without the index: the same questions answered from the text alone.

Used for the events that are not indexed yet; tests hold it and the index to the same answers. Scores follow the
index's own formula (BM25), so that both kinds of hits can stand in one list.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.store.search_query import AllOf, AnyOf, Field, Node, Phrase, Prefix, Term
from holdfast.store.search_text import analyse

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class ScanText:
    """A text laid out so that a term or a phrase is a plain substring: every token has a space on both sides."""

    words: str
    parts: str
    stems: str

    @classmethod
    def of(cls, text: str) -> ScanText:
        return cls(*(f" {layout} " for layout in analyse(text)))

    def field(self, name: Field) -> str:
        return str(getattr(self, name))

    def length(self, name: Field) -> int:
        """How many tokens a field has."""
        layout = self.field(name)
        return 0 if layout.isspace() else layout.count(" ") - 1


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a score needs to know of the whole."""

    documents: int
    length: Callable[[Field], float]
    """How many tokens a document has in a field, on average."""
    holding: Callable[[Field, str], int]
    """How many documents hold a term."""

    def rarity(self, field: Field, term: str) -> float:
        holding = self.holding(field, term)
        return math.log1p((max(self.documents, holding) - holding + 0.5) / (holding + 0.5))


def matches(node: Node, text: ScanText) -> bool:
    match node:
        case AllOf(nodes):
            return all(matches(part, text) for part in nodes)
        case AnyOf(nodes):
            return any(matches(part, text) for part in nodes)
        case _:
            return _needle(node) in text.field(node.field)


def score(node: Node, text: ScanText, statistics: Statistics) -> float:
    """How well a matching text fits; 0 for one that does not match."""
    match node:
        case AllOf(nodes) | AnyOf(nodes):
            return sum(score(part, text, statistics) for part in nodes)
        case Term(field, term):
            return statistics.rarity(field, term) * _weight(node, text, statistics)
        case Prefix():
            return 1.0 if matches(node, text) else 0.0
        case Phrase(field, terms, open_ended):
            whole = terms[:-1] if open_ended else terms
            rarity = sum(statistics.rarity(field, term) for term in whole)
            return rarity * _weight(node, text, statistics)


def _weight(node: Term | Phrase, text: ScanText, statistics: Statistics) -> float:
    layout = text.field(node.field)
    times = _times(_needle(node), layout)
    if not times:
        return 0.0
    average = statistics.length(node.field)
    length = text.length(node.field)
    return times * (1 + K1) / (times + K1 * (1 - B + B * (length / average if average else 1.0)))


def _needle(node: Term | Prefix | Phrase) -> str:
    match node:
        case Term(_, text):
            return f" {text} "
        case Prefix(_, text):
            return f" {text}"
        case Phrase(_, terms, open_ended):
            return f" {' '.join(terms)}{'' if open_ended else ' '}"


def _times(needle: str, layout: str) -> int:
    """Occurrences; the space between two neighbours belongs to both."""
    count, place = 0, layout.find(needle)
    while place >= 0:
        count += 1
        place = layout.find(needle, place + 1)
    return count
