"""What the index keeps of an event: terms and numbers, never its text."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import tantivy

from holdfast.store.interface import EventRecord
from holdfast.store.json_text import from_json, to_json_bytes
from holdfast.store.search_filters import file_words, microseconds
from holdfast.store.search_query import Field
from holdfast.store.search_text import Analysed, analyse

FORMAT = 3
"""Rises with every change of the schema or of `search_text`: an index of another format is built anew."""

_LABELS = ("user", "agent", "thread", "vault", "session", "kind", "tool")
STATE_MARK = "state"
QUIET_KINDS = frozenset({"tool_calling", "tool_called"})
"""Nobody speaks in them."""
_SPEAKER = re.compile(r"\s*([^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}): ")
_TIMES = """
yesterday today tonight tomorrow ago last next week weeks weekend weekends month months year years day days morning
evening night monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december since recently
昨天 今天 明天 上周 下周 去年 今年 月底 年底 星期 周末 早上 晚上
"""
_TIME_WORDS = frozenset({*_TIMES.split(), *map(str, range(1950, 2051))})


def make_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("words", "files"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    for name in ("parts", "stems"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    for name in (*_LABELS, "speaker", "mark"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("seq", fast=True)
    builder.add_unsigned_field("place", fast=True, indexed=True)
    builder.add_integer_field("at", fast=True)
    builder.add_unsigned_field("voice", fast=True)
    builder.add_boolean_field("dated", fast=True)
    builder.add_bytes_field("state", stored=True)
    return builder.build()


SCHEMA = make_schema()


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index has followed the store, and what scores need to know of the whole."""

    covered: int = 0
    """Every event up to this number is in the index."""
    last_event: str = ""
    last_session: str = ""
    deletions: int = 0
    """Deletions up to this position are carried out."""
    removed: int = 0
    """Deleted events whose terms may still lie in the files."""
    words: int = 0
    """Tokens of all events, for the length that is usual."""
    parts: int = 0
    stems: int = 0

    def tokens(self, field: Field) -> int:
        return int(getattr(self, field))


class Card(NamedTuple):
    """What the index knows of an event without reading it."""

    seq: int
    place: int
    """See `place_of`."""
    at: int
    voice: int
    """See `voice_of`."""
    dated: bool


Scored = tuple[float, Card]
"""A hit and how well it fits."""


def place_of(session: str, number: int) -> int:
    """One number for an event's place; neighbours have neighbouring numbers."""
    return _session_place(session) | number & 0xFFFFFF


@lru_cache(4096)
def _session_place(session: str) -> int:
    return int.from_bytes(hashlib.blake2b(session.encode(), digest_size=5).digest()) << 24


def speaker_of(record: EventRecord) -> str:
    """Who said it, in lower case: by the record, or by `Name: ` at the beginning of what was said."""
    if record.kind in QUIET_KINDS:
        return ""
    named = record.data.get("speaker")
    if not isinstance(named, str) or not named:
        found = _SPEAKER.match(record.text)
        named = found[1] if found else ""
    words = analyse(named).words.split() if named else ()
    return words[0] if words else ""


def voice_of(speaker: str) -> int:
    """A small number for a speaker; two may share one, which only blurs a ranking."""
    return int.from_bytes(hashlib.blake2b(speaker.encode(), digest_size=2).digest()) if speaker else 0


def is_dated(words: str) -> bool:
    """Whether a text, by its words, speaks of a time."""
    return not _TIME_WORDS.isdisjoint(words.split())


def document_of(record: EventRecord, vault: str, text: Analysed) -> tantivy.Document:
    document = tantivy.Document()
    put = document.add_text
    put("words", text.words)
    if text.parts:
        put("parts", text.parts)
    if text.stems:
        put("stems", text.stems)
    where = record.where
    # As `Labels` has them; written out, since this is done for every event of a life.
    put("user", where.user)
    put("agent", where.agent)
    put("thread", where.thread)
    put("vault", vault)
    put("session", where.session)
    put("kind", record.kind)
    put("tool", record.tool)
    for path in record.files:
        put("files", " ".join(file_words(path)))
    document.add_integer("at", microseconds(record.at))
    document.add_unsigned("seq", record.seq)
    document.add_unsigned("place", place_of(where.session, record.no))
    if record.kind not in QUIET_KINDS:
        speaker = speaker_of(record)
        if speaker:
            put("speaker", speaker)
            document.add_unsigned("voice", voice_of(speaker))
        document.add_boolean("dated", is_dated(text.words))
    return document


def state_document(state: IndexState) -> tantivy.Document:
    document = tantivy.Document()
    document.add_text("mark", STATE_MARK)
    document.add_bytes("state", to_json_bytes(asdict(state)))
    return document


def state_of(document: tantivy.Document) -> IndexState:
    known = from_json(bytes(document["state"][0]))
    return IndexState(**{place.name: known[place.name] for place in fields(IndexState) if place.name in known})


def replace_state(writer: tantivy.IndexWriter, state: IndexState) -> None:
    writer.delete_documents_by_term("mark", STATE_MARK)
    writer.add_document(state_document(state))


def create_index(folder: Path) -> tantivy.Index:
    folder.mkdir(mode=0o700, parents=True)
    return _manual(tantivy.Index(SCHEMA, str(folder), reuse=False))


def open_index(folder: Path) -> tantivy.Index:
    """Raises ValueError or OSError for what is no index of ours."""
    return _manual(tantivy.Index.open(str(folder)))


def _manual(index: tantivy.Index) -> tantivy.Index:
    index.config_reader("manual")  # we look ourselves whether there is something new, and need no thread for it
    return index
