"""How search sees a text: words, parts of identifiers, pairs of Chinese characters, stems.

One rule serves the index, the events that are not indexed yet and the query, so that they cannot disagree:

- `words`: runs of letters, digits and underscores in lower case, without accents: `getUser(id)` is `getuser id`. A
  script that is written without spaces gives overlapping pairs of characters, then the last character alone, so that
  every character holds one place: 会话链 is `会话 话链 链`.
- `parts`: what identifiers are made of, split at case, digits and underscores; only for runs that hold an identifier.
  A run reaches over joining punctuation: `SessionManager.run` is `session manager run`. Kept apart from the words:
  between two words, parts would break every phrase.
- `neighbours`: each two parts that stand side by side in a run, as one term. Phrases of parts are looked for here: the
  parts of names are few and common, and holding every place of `session` against every place of `manager` is slow.
- `stems`: for questions; see `search_stems`.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, TypeVar

from holdfast.store.search_stems import stem_of

LONGEST_WORD = 100
"""Characters of a word that count: a key or a blob of data is found by its beginning."""

# Written without spaces: Han, kana, Hangul, Bopomofo; Thai, Lao, Burmese, Khmer.
_DENSE = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    "\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uff9f\uffa0-\uffdc\U0001aff0-\U0001b16f\U00020000-\U000323af"
)
# Signs that belong to the letter before them and that `\w` leaves out.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    "\u0980-\u0dff\u0f00-\u0fff\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
)
JOINERS = "./\\:@#>-"
_JOINER = r"[./\\:@#>-]{1,2}"
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_ASCII_CHUNK = re.compile(rf"\w+(?:{_JOINER}\w+)*", re.ASCII)
_CHUNK = re.compile(rf"[\w{_MARKS}{_DENSE}]+(?:{_JOINER}[\w{_MARKS}{_DENSE}]+)*")
_TOKEN = re.compile(rf"(?P<dense>[{_DENSE}]+)|(?:[^\W{_DENSE}]|[{_MARKS}])+")
_SOME_DENSE = re.compile(f"[{_DENSE}]")
_ALL_DENSE = re.compile(f"[{_DENSE}]+")
_ACCENT = re.compile("[\u0300-\u036f\u200c\u200d\ufe00-\ufe0f]")
_NO_WORD = re.compile(rf"[^\w{_MARKS}]")
"""What single characters such as ¼ are made of besides letters and digits."""
_ESCAPED = re.compile(r"\\[nrt]([A-Za-z]\w*)")
_ASCII_PARTS = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HASH = re.compile("(?=.*[0-9])[0-9a-f]{8,40}")
_HEX = re.compile(r"[0-9a-f]{4,}|[0-9A-F]{4,}")
_DIGITS = re.compile("[0-9]{3}|[0-9][a-z]+[0-9]")
_DIGIT_BORDER = re.compile(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])")


# Word characters stay, everything else separates.
_SPACED = bytes(code if code < 128 and _ASCII_WORD.match(chr(code)) else 32 for code in range(256))
# The same, but what joins words to a run stays visible.
_JOIN = "\x01"
_JOINED = bytes(ord(_JOIN) if chr(code) in JOINERS else _SPACED[code] for code in range(256))
_ODD = "\0"
_BESIDE = "+"
# Separators that many English texts and all source code with drawings in comments hold: no reason for the slow way.
_TYPOGRAPHY = dict.fromkeys(
    (0x00A0, 0x00AB, 0x00B7, 0x00BB, 0x00D7, 0x2009, 0x202F, 0xFEFF, *range(0x2010, 0x2040), *range(0x2190, 0x2200),
     *range(0x2500, 0x2600), *range(0x2700, 0x2776), *range(0x2794, 0x27C0)), " ",
)  # fmt: skip


class Analysed(NamedTuple):
    """A text as it is indexed; tokens are separated by single spaces."""

    words: str
    parts: tuple[str, ...]
    """One entry for each run; no phrase reaches from one into the next."""
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
        return _analyse_ascii(text)
    if not _SOME_DENSE.search(text) and (plain := text.translate(_TYPOGRAPHY)).isascii():
        return _analyse_ascii(plain)
    return _analyse_any(text)


def _analyse_ascii(text: str) -> Analysed:
    """Most texts: word by word, and by its runs only when one of the words is an identifier."""
    raw = text.encode("ascii")
    written = raw.translate(_SPACED).decode("ascii").split()
    stems = " ".join(filter(None, map(_ASCII_STEMS.__getitem__, written)))
    parts: list[str] = []
    if _ODD in stems:
        stems = " ".join(stems.replace(_ODD, " ").split())
        parts = _ascii_parts(raw.translate(_JOINED).decode("ascii").split())
        if max(map(len, written)) > LONGEST_WORD:
            written = [word[:LONGEST_WORD] for word in written]
    if "\\" in text:
        parts += _after_escapes(text)
    return Analysed(" ".join(written).lower(), tuple(parts), stems)


def _analyse_any(text: str) -> Analysed:
    dense = _ALL_DENSE.fullmatch
    entries = [_dense_entry(run) if dense(run) else _CHUNKS[run] for run in _CHUNK.findall(_composed(text))]
    parts = [run for _, run, _ in entries if run]
    if "\\" in text:
        parts += _after_escapes(text)
    words = " ".join([word for word, _, _ in entries])
    return Analysed(words, tuple(parts), " ".join([stem for _, _, stem in entries if stem]))


def _after_escapes(text: str) -> list[str]:
    """In JSON inside a text a line break is two characters, of which the second clings to the next word."""
    return [" ".join(part for token in tokens(word) for part in token.parts) for word in _ESCAPED.findall(text)]


def tokens(text: str) -> Iterator[Token]:
    """The words of a text with their places; `text` is best composed (`composed`)."""
    for found in _TOKEN.finditer(text):
        run = found.group()
        if found.lastgroup == "dense":
            grams = pairs(_without_forms(run))
            yield Token(found.start(), found.end(), grams, grams, True)
        else:
            yield Token(found.start(), found.end(), (fold(run)[:LONGEST_WORD],), tuple(identifier_parts(run)), False)


def composed(text: str) -> str:
    """Text in which a letter and its accent are one character, as far as there is one."""
    return text if text.isascii() else _composed(text)


def neighbours(parts: Iterable[str]) -> str:
    """Every part with the next one of its run: `get session manager` gives `get+session session+manager`."""
    return " ".join([" ".join(map(_BESIDE.join, pairwise(run.split(" ")))) for run in parts if " " in run])


def beside(part: str, following: str) -> str:
    """The term of two parts that stand side by side."""
    return _BESIDE.join((part, following))


def both(term: str) -> list[str]:
    """What `beside` was made of; any other term alone."""
    return term.split(_BESIDE)


def pairs(run: str) -> tuple[str, ...]:
    """Every character with the next one, and the last one alone."""
    return (*map(operator.add, run, run[1:]), run[-1:])


def fold(word: str) -> str:
    """Lower case and without accents, so that `Café` and `cafe` are one word."""
    return word.lower() if word.isascii() else _ACCENT.sub("", _plain(word).casefold())


def _without_forms(run: str) -> str:
    """Half-width and other typographical forms as the usual ones."""
    return run if unicodedata.is_normalized("NFKC", run) else unicodedata.normalize("NFKC", run)


def _plain(word: str) -> str:
    """Without accents and typographical forms, but with its capitals."""
    if word.isascii():
        return word
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", word))
    return _NO_WORD.sub("", unicodedata.normalize("NFKC", bare))


def identifier_parts(word: str, *, all_borders: bool = False) -> list[str]:
    """`getHTTPResponse_2` is get, http, response, 2. A piece that looks like chance (a hash) stays whole."""
    found: list[str] = []
    for piece in _plain(word).split("_"):
        if piece.isascii():
            if len(piece) <= LONGEST_WORD and (all_borders or piece.isalpha() or not looks_random(piece)):
                found += _ASCII_PARTS.findall(piece)
            elif piece:
                found.append(piece[:LONGEST_WORD])
        elif len(piece) <= LONGEST_WORD:
            found += [fold(part)[:LONGEST_WORD] for part in _case_and_digit_runs(piece)]
        else:
            found.append(fold(piece)[:LONGEST_WORD])
    return [part.lower() for part in found]


def looks_random(piece: str) -> bool:
    """Hashes and keys: their letters and digits change too often for a name. Split, they would drown the index."""
    borders = len(_DIGIT_BORDER.findall(piece))
    if borders < 2 or not piece.isascii():
        return False
    if _HEX.fullmatch(piece):
        return borders >= 3 or len(piece) >= 8
    return len(piece) >= 16 and borders * 4 >= len(piece)


def _case_and_digit_runs(piece: str) -> Iterator[str]:
    """The same borders as `_ASCII_PARTS`, for every alphabet."""
    kinds = "".join("u" if char.isupper() else "d" if char.isdigit() else "s" if char == "s" else "l" for char in piece)
    for found in re.finditer(r"u{2,}s(?![ls])|u+(?![ls])|u?[ls]+|d+", kinds):
        yield piece[found.start() : found.end()]


def _composed(text: str) -> str:
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


_T = TypeVar("_T")


class _Memory(dict[str, _T]):
    """What runs of characters stand for. They repeat: looking one up is many times quicker than taking it apart.

    Numbers, hashes and long runs hardly do, and are not kept. When it is full it begins anew.
    """

    def __init__(self, work: Callable[[str], _T], most: int = 150_000) -> None:
        self._work = work
        self._most = most

    def __missing__(self, run: str) -> _T:
        result = self._work(run)
        self.keep(run, result)
        return result

    def keep(self, run: str, result: _T) -> None:
        if len(run) <= _SHORT or (len(run) <= _LONGEST_REMEMBERED and run.isascii() and not _DIGITS.search(run)):
            if len(self) >= self._most:
                self.clear()
            self[run] = result


def _word_entry(run: str) -> tuple[str, tuple[str, ...], str]:
    """A run without dense characters: the word, its parts, its stems."""
    if _HASH.fullmatch(run) and looks_random(run):
        return run, (run,), ""
    if run.isascii() and len(run) <= LONGEST_WORD:
        word = run.lower()
        if run.isdigit() or (run.isalpha() and (run == word or run[1:].islower())):
            return word, (word,), stem_of(word)  # most are plain words: no need to look further
    else:
        word = fold(run)[:LONGEST_WORD]
    parts = tuple(identifier_parts(run))
    stems = [stem for part in parts if (stem := _STEMS[part])]
    return word, parts, " ".join(stems)


def _dense_entry(run: str) -> tuple[str, str, str]:
    run = _without_forms(run)
    if len(run) == 1:
        return run, "", run
    grams = " ".join(map(operator.add, run, run[1:]))
    return f"{grams} {run[-1]}", "", grams


def _chunk_entry(chunk: str) -> tuple[str, str, str]:
    if chunk.isascii():
        runs = _ASCII_WORD.findall(chunk)
        if len(runs) == 1:
            word, pieces, roots = _word_entry(chunk)
            return word, "" if pieces == (word,) else " ".join(pieces), roots
        words: list[str] = []
        parts: list[str] = []
        stems: list[str] = []
        for run in runs:
            word, pieces, roots = _WORDS[run]
            words.append(word)
            parts += pieces
            if roots:
                stems.append(roots)
    elif _ALL_DENSE.fullmatch(chunk):
        return _dense_entry(chunk)
    else:
        words, parts, stems = [], [], []
        for token in tokens(chunk):
            words += token.words
            parts += token.parts
            if token.dense:
                stems += token.words[:-1] or token.words
            else:
                stems += [stem for part in token.parts if (stem := _STEMS[part])]
    return " ".join(words), " ".join(parts) if parts != words else "", " ".join(stems)


def _ascii_stems(run: str) -> str:
    """The stems of one word, behind a mark when the word has to be looked at more closely."""
    word, parts, stems = _word_entry(run)
    if parts == (word,) and len(run) <= LONGEST_WORD:
        return stems
    _ASCII_PARTS_OF.keep(run, " ".join(parts))
    return _ODD + stems


def _ascii_parts(runs: list[str]) -> list[str]:
    """The parts of each run that holds an identifier. Runs hardly repeat, but their words do."""
    found = []
    for run in runs:
        if _JOIN not in run:
            parts = _ASCII_PARTS_OF[run]
            if parts and parts != run.lower() and parts != run[:LONGEST_WORD].lower():
                found.append(parts)
        elif len(run) <= LONGEST_WORD and _JOIN * 3 not in run:
            parts = " ".join(map(_ASCII_PARTS_OF.__getitem__, run.split(_JOIN)))
            if parts != run.replace(_JOIN, " ").lower() and (parts := " ".join(parts.split())):
                found.append(parts)
        else:
            found += _long_run_parts(run)
    return found


def _long_run_parts(run: str) -> Iterator[str]:
    """Of a run with a word that is cut, or with a row of signs that is more than a joint."""
    for joined in re.split(_JOIN + "{3,}", run):
        words = [word for word in joined.split(_JOIN) if word]
        parts = " ".join(_ASCII_PARTS_OF[word] for word in words)
        if parts != " ".join(word[:LONGEST_WORD].lower() for word in words) and (parts := " ".join(parts.split())):
            yield parts


def _ascii_parts_of(run: str) -> str:
    return " ".join(_word_entry(run)[1])


_LONGEST_REMEMBERED = 40
_SHORT = 6
_ASCII_STEMS = _Memory(_ascii_stems)
_ASCII_PARTS_OF = _Memory(_ascii_parts_of)
_STEMS = _Memory(stem_of)
_WORDS = _Memory(_word_entry)
_CHUNKS = _Memory(_chunk_entry)
