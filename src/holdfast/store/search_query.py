"""What people type, read into something that the index and a plain scan both understand.

The language is small on purpose, because most queries are pasted errors and code in which `NOT`, `-x` or `name:` mean
nothing to us: words, "phrases" and prefix*. What stands together without a space is one phrase: `store/search.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from holdfast.core.messages import Phrase as Sentence
from holdfast.core.messages import TellableError
from holdfast.store.json_text import clean_text
from holdfast.store.search_plain import beside
from holdfast.store.search_stems import QUESTION_WORDS
from holdfast.store.search_text import Token, analyse, composed, tokens
from holdfast.store.search_words import identifier_parts

Field = Literal["words", "parts", "stems"]
MOST_CHUNKS = 100


class SearchError(TellableError, ValueError):
    """A search that cannot be done as it was asked for; the message says what to change."""


_TOO_LONG = Sentence(
    "search.too_long",
    "a search takes {most} words, this one has {count}: shorten it",
    "一次搜索最多 {most} 个词，这次有 {count} 个：请缩短",
)
_NOTHING = Sentence(
    "search.nothing",
    '{text} holds nothing to search for: give a word, a "phrase" or a prefix*',
    "{text} 中没有可搜索的内容：请给出一个词、“短语”或前缀*",
)


@dataclass(frozen=True, slots=True)
class Term:
    field: Field
    text: str


@dataclass(frozen=True, slots=True)
class Prefix:
    field: Field
    text: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Terms one after the other; `open_ended` when the last is only the beginning of one."""

    field: Field
    terms: tuple[str, ...]
    open_ended: bool = False


@dataclass(frozen=True, slots=True)
class AnyOf:
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    nodes: tuple[Node, ...]


Node = Term | Prefix | Phrase | AnyOf | AllOf


@dataclass(frozen=True, slots=True)
class Query:
    """A query, read."""

    text: str
    node: Node
    """Everything must be there."""
    stems: tuple[str, ...]
    """What a question is about, each stem once, in order."""
    is_question: bool

    @property
    def is_literal(self) -> bool:
        """Whether somebody wants exactly this, by quotation marks or a star."""
        return any(sign in self.text for sign in '"“*')


def read_query(text: str) -> Query:
    text = composed(clean_text(text)).strip()
    chunks = list(_chunks(text))
    if len(chunks) > MOST_CHUNKS:
        raise SearchError(_TOO_LONG(most=MOST_CHUNKS, count=len(chunks)))
    nodes = tuple(dict.fromkeys(node for chunk in chunks if (node := _chunk_node(*chunk)) is not None))
    if not nodes:
        raise SearchError(_NOTHING(text=repr(text)))
    stems = tuple(dict.fromkeys(analyse(text).stems.split()))
    return Query(text, nodes[0] if len(nodes) == 1 else AllOf(nodes), stems, bool(stems) and looks_like_question(text))


_CHUNK = re.compile(r'"(?P<quoted>[^"]*)"|“(?P<curly>[^”]*)”|(?P<bare>[^\s"“]+|["“])')
_ASKING = re.compile(r"[?？]\s*$")
_ASKING_WORDS = re.compile(
    "什么|怎么|为何|哪[里个些儿]|谁|几[时点个]|多少|如何|是否|[吗呢]$|なぜ|どう|何[がをのでに]|いつ|どこ|誰|か$|"
    "무엇|언제|어디|누가|왜|어떻게"
)


def looks_like_question(text: str) -> bool:
    """Whether the words only describe what is sought, so that it need not hold them all."""
    if '"' in text or "*" in text:
        return False
    words = re.findall(r"\w+", text.lower())
    if _ASKING.search(text):
        return len(words) > 1 or bool(_ASKING_WORDS.search(text.rstrip(" ?？")))
    if len(words) > 2 and words[0] in QUESTION_WORDS:
        return True
    return bool(_ASKING_WORDS.search(text)) and len(text) >= 6


def _chunks(text: str) -> Iterator[tuple[str, bool]]:
    """What belongs together, and whether it ends with a star."""
    for found in _CHUNK.finditer(text):
        part = found["bare"]
        if part is None:
            part = found["quoted"] if found["quoted"] is not None else found["curly"]
        bare = part.rstrip("*")
        yield bare, bare != part


def _chunk_node(chunk: str, open_ended: bool) -> Node | None:
    found = list(tokens(chunk))
    if not found:
        return None
    words = [word for token in found for word in token.words]
    parts = [part for token in found for part in token.parts]
    # What looks like a hash on its own may be a piece of a name in the text, where it was split.
    split = [part for token in found for part in _at_every_border(chunk, token)]
    open_ended = open_ended and found[-1].end == len(chunk)  # foo)* is no beginning of a word
    if found[-1].dense:
        # In the text the run may go on: its last character is not the last one there.
        open_ended = len(found[-1].words) == 1
        if not open_ended:
            words, parts, split = words[:-1], parts[:-1], split[:-1]
    choices = [_sequence("words", words, open_ended)]
    if not (len(found) == 1 and found[0].dense):  # a run of characters has no parts
        choices += [_sequence("parts", parts, open_ended), _sequence("parts", split, open_ended)]
    if parts != words:
        choices.append(_sequence("words", parts, open_ended))  # session-manager, for sessionManager
    kept = tuple(node for node in dict.fromkeys(choices) if node is not None)
    return kept[0] if len(kept) == 1 else AnyOf(kept)


def _at_every_border(chunk: str, token: Token) -> Sequence[str]:
    return token.parts if token.dense else identifier_parts(chunk[token.start : token.end], all_borders=True)


def _sequence(field: Field, terms: list[str], open_ended: bool) -> Node | None:
    if not terms:
        return None
    if len(terms) == 1:
        return Prefix(field, terms[0]) if open_ended else Term(field, terms[0])
    return _side_by_side(terms, open_ended) if field == "parts" else Phrase(field, tuple(terms), open_ended)


def _side_by_side(parts: list[str], open_ended: bool) -> Node:
    """Parts one after the other: each two of them side by side, which for three and more is all but the same."""
    together = [beside(part, following) for part, following in pairwise(parts)]
    nodes: list[Node] = [Term("parts", term) for term in together]
    if open_ended:
        nodes[-1] = Prefix("parts", together[-1])
    return nodes[0] if len(nodes) == 1 else AllOf(tuple(dict.fromkeys(nodes)))
