"""How search sees a text: words, parts of identifiers, pairs of Chinese characters, stems.

One rule serves the index, the events that are not indexed yet and the query, so that they cannot disagree:

- `words`: runs of letters, digits and underscores in lower case, without accents: `getUser(id)` is `getuser id`. A
  script that is written without spaces gives overlapping pairs of characters, then the last character alone, so that
  every character holds one place: 会话链 is `会话 话链 链`.
- `parts`: what identifiers are made of, split at case, digits and underscores; a plain word has none.
  Kept apart from the words: between two words, parts would break every phrase.
  Each two of them that stand side by side are a term, too; in a run that holds a name, also over joining punctuation:
  `SessionManager.run` has `session manager +session+manager +manager+run`. Phrases of parts are looked for by these:
  the parts of names are few and common, and holding every place of `session` against every place of `manager` is slow.
- `stems`: for questions; see `search_stems`.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.store.search_pairs import NO_RUN, in_pairs, pairs, without_forms
from holdfast.store.search_plain import beside, read_plain, spelled
from holdfast.store.search_words import DENSE, LONGEST_WORD, MARKS, STEMS, WORDS, Memory, fold, identifier_parts

_JOINER = r"[./\\:@#>-]{1,2}"
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_ANY = rf"[\w{MARKS}{DENSE}]"
_CHUNK = re.compile(rf"([{DENSE}]++)(?!(?:{_JOINER})?{_ANY})|({_ANY}+(?:{_JOINER}{_ANY}+)*)")
"""A run that is dense from its beginning to its end, or another."""
_TOKEN = re.compile(rf"(?P<dense>[{DENSE}]+)|(?:[^\W{DENSE}]|[{MARKS}])+")
_SOME_DENSE = re.compile(f"[{DENSE}]")
_ESCAPED = re.compile(r"\\[nrt]([A-Za-z]\w*)")
# Separators that many English texts and all source code with drawings in comments hold: no reason for the slow way.
_TYPOGRAPHY = dict.fromkeys(
    (0x00A0, 0x00AB, 0x00B7, 0x00BB, 0x00D7, 0x2009, 0x202F, 0xFEFF, *range(0x2010, 0x2040), *range(0x2190, 0x2200),
     *range(0x2500, 0x2600), *range(0x2700, 0x2776), *range(0x2794, 0x27C0)), " ",
)  # fmt: skip


class Analysed(NamedTuple):
    """A text as it is indexed; tokens are separated by single spaces."""

    words: str
    parts: str
    stems: str


class Token(NamedTuple):
    """One word of a text, where it stands, and what stands for it."""

    start: int
    end: int
    words: tuple[str, ...]
    """More than one for a dense script."""
    parts: tuple[str, ...]
    dense: bool


def analyse(text: str) -> Analysed:
    """The text as the index holds it."""
    if text.isascii():
        return _analyse_plain(text)
    if not _SOME_DENSE.search(text) and (plain := text.translate(_TYPOGRAPHY)).isascii():
        return _analyse_plain(plain)
    return _analyse_any(text)


def _analyse_plain(text: str) -> Analysed:
    words, parts, stems = read_plain(text)
    return Analysed(words, _and_after_escapes(text, parts), stems)


def _analyse_any(text: str) -> Analysed:
    found = _CHUNK.findall(_composed(text))
    words, stems = in_pairs([run or NO_RUN for run, _ in found])
    others = [_CHUNKS[run] for _, run in found if run]
    parts = " ".join([entry.parts for entry in others if entry.parts])
    return Analysed(
        _filled(words, [entry.words for entry in others]),
        _and_after_escapes(text, parts),
        _filled(stems, [entry.stems for entry in others]),
    )


def _filled(layout: str, others: list[str]) -> str:
    """With the other runs where they stood among the dense ones."""
    if not others:
        return layout
    first, *rest = layout.split(NO_RUN)
    filled = "".join([first, *map(operator.add, others, rest)])
    return filled if all(others) else " ".join(filled.split())


def _and_after_escapes(text: str, parts: str) -> str:
    """In JSON inside a text a line break is two characters, of which the second clings to the next word."""
    if "\\" in text and (escaped := _ESCAPED.findall(text)):
        names = ([part for token in tokens(word) for part in token.parts] for word in escaped)
        return " ".join(filter(None, [parts, *map(spelled, names)]))
    return parts


def tokens(text: str) -> Iterator[Token]:
    """The words of a text with their places; `text` is best composed (`composed`)."""
    for found in _TOKEN.finditer(text):
        run = found.group()
        if found.lastgroup == "dense":
            grams = pairs(without_forms(run))
            yield Token(found.start(), found.end(), grams, grams, True)
        else:
            yield Token(found.start(), found.end(), (fold(run)[:LONGEST_WORD],), tuple(identifier_parts(run)), False)


def composed(text: str) -> str:
    """Text in which a letter and its accent are one character, as far as there is one."""
    return text if text.isascii() else _composed(text)


def _composed(text: str) -> str:
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def _chunk_entry(chunk: str) -> Analysed:
    """A run that is not dense from its beginning to its end."""
    words: list[str] = []
    names: list[str] = []
    parts: list[str] = []
    stems: list[str] = []
    holds_name = False
    if chunk.isascii():
        for word in map(WORDS.__getitem__, _ASCII_WORD.findall(chunk)):
            words.append(word.folded)
            parts += word.parts
            stems.append(word.stems)
            if word.is_name:
                holds_name = True
                names += word.parts
    else:
        for token in tokens(chunk):
            words += token.words
            parts += token.parts
            stems += (token.words[:-1] or token.words) if token.dense else map(STEMS.__getitem__, token.parts)
            if token.parts != token.words:
                holds_name = True
                names += token.parts
    if holds_name:
        names += map(beside, parts, parts[1:])
    return Analysed(" ".join(words), " ".join(names), " ".join(filter(None, stems)))


_CHUNKS = Memory(_chunk_entry)
