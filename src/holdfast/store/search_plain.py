"""The quick way for texts of plain ASCII, which are most: hardly a step of it goes word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from sys import intern

from holdfast.store.search_stems import LONGEST_NUMBER
from holdfast.store.search_words import LONGEST_WORD, MOST_REMEMBERED, is_hash, is_worth_remembering, read_word

JOINERS = "./\\:@#>-"
"""What joins words to a run, alone or by two."""

_WORD_SIGN = re.compile(r"\w", re.ASCII)
# Word characters stay, everything else separates.
_SPACED = bytes(code if code < 128 and _WORD_SIGN.match(chr(code)) else 32 for code in range(256))
# The same, but what joins words to a run stays visible.
_JOIN = "\x01"
_JOINED = bytes(ord(_JOIN) if chr(code) in JOINERS else _SPACED[code] for code in range(256))
_NO_JOINT = re.compile(_JOIN + "{3,}")


_SIGN = "\x03"
"""Ends the stems of a name, so that a text without names is told by one look."""


class _Name(str):
    """The stems of an identifier, and what else there is to know of it."""

    __slots__ = ("first", "last", "parts")
    parts: str
    """With its neighbours."""
    first: str
    last: str


class _Vocabulary(dict[str, str]):
    """The stems of every word met so far. One look into a large table costs more than most of what is done with the
    find, so that there is only one for each word, and names carry the rest with them."""

    def __missing__(self, run: str) -> str:
        if is_hash(run) or (run.isdigit() and LONGEST_NUMBER < len(run) <= LONGEST_WORD):
            return ""  # never comes again
        word = read_word(run)
        stems = word.stems
        if word.is_name:
            stems = name = _Name(stems + _SIGN)
            name.parts = spelled(word.parts)
            name.first, name.last = map(intern, (word.parts[0], word.parts[-1]) if word.parts else ("", ""))
        if is_worth_remembering(run):
            if len(self) >= MOST_REMEMBERED:
                self.clear()
            self[run] = run if run == stems else stems  # the less memory, the quicker the look
        return stems


_VOCABULARY = _Vocabulary()


def read_plain(text: str) -> tuple[str, str, str]:
    """Words, parts and stems of an ASCII text."""
    raw = text.encode("ascii")
    written = raw.translate(_SPACED).decode("ascii").split()
    entries = list(map(_VOCABULARY.__getitem__, written))
    stems = " ".join(filter(None, entries))
    if _SIGN not in stems:
        return " ".join(written).lower(), "", stems
    stems = stems.replace(_SIGN, "")
    if _SIGN in entries:  # a name without stems, in the place of which there is nothing now
        stems = " ".join(stems.split())
    names = {run: entry for run, entry in zip(written, entries, strict=True) if type(entry) is _Name}
    parts = [entry.parts for entry in entries if type(entry) is _Name]
    parts += _from_word_to_word(raw.translate(_JOINED).decode("ascii"), names)
    if max(map(len, names)) > LONGEST_WORD:
        written = [word[:LONGEST_WORD] for word in written]
    return " ".join(written).lower(), " ".join(filter(None, parts)), stems


def _from_word_to_word(text: str, names: dict[str, _Name]) -> list[str]:
    """Neighbours that belong to two words, in the runs that hold a name."""
    if _JOIN * 3 in text:
        text = _NO_JOINT.sub(" ", text)
    found: list[str] = []
    no_name = names.keys().isdisjoint
    for run in text.split():
        if _JOIN not in run or no_name(words := run.split(_JOIN)):
            continue
        before = ""
        for word in words:
            name = names.get(word)
            first = word.lower() if name is None else name.first
            if first:
                if before:
                    found.append(f"+{before}+{first}")
                before = first if name is None else name.last
    return found


def spelled(parts: Sequence[str]) -> str:
    """Parts, and every part with the next one: `get user id` and `+get+user +user+id`."""
    return " ".join([*parts, *map(beside, parts, parts[1:])])


def beside(part: str, following: str) -> str:
    """The term of two parts that stand side by side. No part begins like it, or the prefix of a part would find it."""
    return f"+{part}+{following}"


def both(term: str) -> list[str]:
    """What `beside` was made of; any other term alone."""
    return term[1:].split("+") if term.startswith("+") else [term]
