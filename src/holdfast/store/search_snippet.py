"""The piece of a text that shows why it was found, with the places that match."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.store.search_plain import both
from holdfast.store.search_query import AllOf, AnyOf, Node, Prefix, Query, Term
from holdfast.store.search_stems import stem_of
from holdfast.store.search_text import composed, tokens

WIDTH = 240
_MOST_MARKS = 400
_BEFORE = 60
_LOOKED_THROUGH = 20_000
"""Characters of a text that hold no letters of the query, as when `cafe` finds `café`."""
_DOTS = "…"


class Snippet(NamedTuple):
    text: str
    marks: tuple[tuple[int, int], ...]
    """Where the text matches: from, to."""


class _Mark(NamedTuple):
    start: int
    end: int
    what: str


class Marker:
    """Finds what a query has in common with a text."""

    def __init__(self, query: Query, *, by_stem: bool) -> None:
        self._stems = frozenset(query.stems) if by_stem else frozenset()
        self._terms, self._prefixes = _wanted(query.node) if not by_stem else (frozenset(), frozenset())
        beginnings = {stem[: max(2, len(stem) - 2)] for stem in self._stems} | self._terms | self._prefixes
        by_length = sorted(beginnings, key=lambda text: (-len(text), text))
        self._hint = re.compile("|".join(map(re.escape, by_length)), re.IGNORECASE)

    def snippet(self, text: str) -> Snippet:
        text = composed(text)
        marks = list(self._marks(text)) or list(self._in_run(text, 0, min(len(text), _LOOKED_THROUGH)))
        return _cut(text, marks)

    def _marks(self, text: str) -> Iterator[_Mark]:
        """Words are looked at only where the text holds the letters of one that is sought."""
        count, reached = 0, 0
        for hint in self._hint.finditer(text):
            if hint.start() < reached:
                continue
            start, end = _around(text, hint.start(), hint.end())
            reached = end
            for mark in self._in_run(text, start, end):
                yield mark
                count += 1
            if count >= _MOST_MARKS:
                return

    def _in_run(self, text: str, start: int, end: int) -> Iterator[_Mark]:
        for token in tokens(text[start:end]):
            place, after = start + token.start, start + token.end
            if token.dense:
                yield from self._in_dense(text, place, after)
                continue
            found = self._is_wanted((*token.words, *token.parts))
            if found:
                yield _Mark(place, after, found)

    def _is_wanted(self, names: tuple[str, ...]) -> str:
        for name in names:
            if name in self._terms:
                return name
            if self._stems and (stem := stem_of(name)) in self._stems:
                return stem
            for prefix in self._prefixes:
                if name.startswith(prefix):
                    return prefix
        return ""

    def _in_dense(self, text: str, start: int, end: int) -> Iterator[_Mark]:
        wanted = self._terms | self._prefixes | self._stems
        place = start
        while place < end:
            gram = text[place : min(place + 2, end)]
            if gram in wanted:
                yield _Mark(place, place + len(gram), gram)
            elif gram[0] in wanted:
                yield _Mark(place, place + 1, gram[0])
            place += 1


def _wanted(node: Node) -> tuple[frozenset[str], frozenset[str]]:
    """Terms and prefixes of a query."""
    terms: set[str] = set()
    prefixes: set[str] = set()

    def collect(part: Node) -> None:
        match part:
            case AllOf(nodes) | AnyOf(nodes):
                for inner in nodes:
                    collect(inner)
            case Term(_, text):
                terms.update(both(text))
            case Prefix(_, text):
                *whole, begun = both(text)
                terms.update(whole)
                prefixes.add(begun)
            case _:
                terms.update(part.terms[:-1])
                (prefixes if part.open_ended else terms).add(part.terms[-1])

    collect(node)
    return frozenset(terms), frozenset(prefixes)


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole word that a place lies in, but not a mile of data."""
    while start > 0 and end - start < 200 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and end - start < 400 and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return start, end


def _cut(text: str, marks: list[_Mark]) -> Snippet:
    start = _best_start(marks)
    begin = max(0, start - _BEFORE) if len(text) > WIDTH else 0
    if begin:
        gap = text.find(" ", begin, start)
        begin = gap + 1 if 0 <= gap < start else begin
    finish = min(len(text), begin + WIDTH)
    if finish < len(text):
        gap = text.rfind(" ", max(begin + WIDTH - 30, start), finish)
        finish = gap if gap > 0 else finish
    pieces: list[str] = [_DOTS] if begin else []
    places: list[tuple[int, int]] = []
    length = len(pieces)
    at = begin
    for low, high in _joined(marks, begin, finish):
        for piece, marked in ((text[at:low], False), (text[low:high], True)):
            flat = re.sub(r"\s+", " ", piece)
            if marked:
                places.append((length, length + len(flat)))
            pieces.append(flat)
            length += len(flat)
        at = high
    pieces.append(re.sub(r"\s+", " ", text[at:finish]))
    if finish < len(text):
        pieces.append(_DOTS)
    return Snippet("".join(pieces), tuple(places))


def _best_start(marks: list[_Mark]) -> int:
    """Where a window shows most of what was sought."""
    best, best_value = 0, (0, 0)
    low = 0
    for high, mark in enumerate(marks):
        while mark.end - marks[low].start > WIDTH - _BEFORE and low < high:
            low += 1
        inside = marks[low : high + 1]
        value = (len({found.what for found in inside}), len(inside))
        if value > best_value:
            best, best_value = marks[low].start, value
    return best


def _joined(marks: list[_Mark], begin: int, finish: int) -> Iterator[tuple[int, int]]:
    """Marks inside the window; neighbours that touch become one."""
    low = high = -1
    for mark in sorted(marks):
        if mark.start < begin or mark.end > finish:
            continue
        if mark.start <= high:
            high = max(high, mark.end)
            continue
        if high > 0:
            yield low, high
        low, high = mark.start, mark.end
    if high > 0:
        yield low, high
