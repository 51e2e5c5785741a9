"""One word: folded, taken apart, stemmed, and remembered, since words repeat."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from holdfast.store.search_stems import stem_of

LONGEST_WORD = 100
"""Characters of a word that count: a key or a blob of data is found by its beginning."""

# Written without spaces: Han, kana, Hangul, Bopomofo; Thai, Lao, Burmese, Khmer.
DENSE = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    "\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uff9f\uffa0-\uffdc\U0001aff0-\U0001b16f\U00020000-\U000323af"
)
# Signs that belong to the letter before them and that `\w` leaves out.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    "\u0980-\u0dff\u0f00-\u0fff\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
)
_ACCENT = re.compile("[\u0300-\u036f\u200c\u200d\ufe00-\ufe0f]")
_NO_WORD = re.compile(rf"[^\w{MARKS}]")
"""What single characters such as ¼ are made of besides letters and digits."""
_ASCII_PARTS = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HASH = re.compile("(?:[0-9]+[a-f]+[0-9]|[a-f]+[0-9]+[a-f])[0-9a-f]*")
_HEX = re.compile(r"[0-9a-f]{4,}|[0-9A-F]{4,}")
_NUMBERED = re.compile("[0-9]{3}|[0-9][a-z]+[0-9]")
_DIGIT_BORDER = re.compile(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])")
_LONGEST_REMEMBERED = 40
_SHORT = 6
MOST_REMEMBERED = 150_000


def fold(word: str) -> str:
    """Lower case and without accents, so that `Café` and `cafe` are one word."""
    return word.lower() if word.isascii() else _ACCENT.sub("", _plain(word).casefold())


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


def is_hash(run: str) -> bool:
    """What `looks_random` says of small hexadecimal digits, told quickly, because they never come again."""
    return 8 <= len(run) <= 40 and _HASH.fullmatch(run) is not None


class Word(NamedTuple):
    """What stands in the index for one run of letters, digits and underscores."""

    folded: str
    parts: tuple[str, ...]
    stems: str
    is_name: bool
    """It is more than a plain word, so that its parts are kept, too."""


def read_word(run: str) -> Word:
    """A run without dense characters."""
    if is_hash(run):
        return Word(run, (run,), "", False)
    if run.isascii() and len(run) <= LONGEST_WORD:
        folded = run.lower()
        if run.isdigit() or (run.isalpha() and (run == folded or run[1:].islower())):
            return Word(folded, (folded,), stem_of(folded), False)  # most are plain words: no need to look further
    else:
        folded = fold(run)[:LONGEST_WORD]
    parts = tuple(identifier_parts(run))
    stems = " ".join(filter(None, map(STEMS.__getitem__, parts)))
    return Word(folded, parts, stems, parts != (folded,) or len(run) > LONGEST_WORD)


def is_worth_remembering(run: str) -> bool:
    """Numbers, hashes and long runs hardly repeat."""
    return len(run) <= _SHORT or (len(run) <= _LONGEST_REMEMBERED and run.isascii() and not _NUMBERED.search(run))


_T = TypeVar("_T")


class Memory(dict[str, _T]):
    """What runs of characters stand for: looking one up is many times quicker than taking it apart.

    When it is full it begins anew.
    """

    def __init__(self, work: Callable[[str], _T]) -> None:
        self._work = work

    def __missing__(self, run: str) -> _T:
        result = self._work(run)
        if is_worth_remembering(run):
            if len(self) >= MOST_REMEMBERED:
                self.clear()
            self[run] = result
        return result


STEMS = Memory(stem_of)
WORDS = Memory(read_word)
