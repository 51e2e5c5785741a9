"""SC6: a question finds the turn that answers it more often than with plain FTS5 BM25, in the same run."""

import re
import sqlite3

import pytest

from holdfast.store.interface import Change, EventRecord, Session
from holdfast.store.search import Search
from holdfast.store.search_filters import Scope
from holdfast.testing.memory_store import MemoryStore
from store.conversations import Conversation, make_conversation
from store.search_steps import where

SEEDS = range(100, 106)


def by_fts5(conversation: Conversation, stemmer: str) -> float:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE turns USING fts5(text, tokenize='{stemmer}')")
    database.executemany("INSERT INTO turns (text) VALUES (?)", [(turn.said,) for turn in conversation.turns])
    right = 0
    for question, place in conversation.questions:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        rows = database.execute("SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY bm25(turns) LIMIT 10", (words,))
        right += place + 1 in {row[0] for row in rows}
    database.close()
    return right / len(conversation.questions)


def by_search(conversation: Conversation, folder) -> float:
    store = MemoryStore()
    for number, turn in enumerate(conversation.turns):
        place = where(f"s{turn.session}", f"t{turn.session}")
        store.open_session(Session(place, "test", "/vault", turn.at))
        record = EventRecord(str(number), place, turn.at, "prompt_submitted", {}, f"run-{number}", turn.said)
        store.commit(Change(place, events=(record,)))
    search = Search(store, folder)
    search.refresh()
    right = 0
    for question, place in conversation.questions:
        found = search.find(question, Scope(user="u"), limit=10).hits
        right += str(place) in {hit.event_id for hit in found}
    search.close()
    return right / len(conversation.questions)


@pytest.fixture(scope="module")
def conversations():
    return [make_conversation(seed) for seed in SEEDS]


@pytest.mark.slow
def test_SC6_questions_find_their_turns_better_than_plain_bm25(conversations, tmp_path):
    ours = sum(by_search(talk, tmp_path / str(number)) for number, talk in enumerate(conversations)) / len(SEEDS)
    plain = sum(by_fts5(talk, "unicode61") for talk in conversations) / len(SEEDS)
    stemmed = sum(by_fts5(talk, "porter unicode61") for talk in conversations) / len(SEEDS)
    said = f"recall@10: ours {ours:.3f}, FTS5 {plain:.3f}, FTS5 with stems {stemmed:.3f}"
    print(said)
    assert ours >= plain + 0.03, said
    assert ours >= stemmed + 0.03, said


def test_SC6_the_made_up_conversations_are_long_and_hard_enough(conversations):
    for talk in conversations:
        assert len(talk.turns) > 200
        assert len(talk.questions) >= 40
        assert by_fts5(talk, "unicode61") < 0.95
