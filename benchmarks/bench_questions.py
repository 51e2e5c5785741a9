"""Questions to the turns that answer them: recall@10 of `Search.find` beside plain FTS5 BM25, and FTS5 with stems.

    python benchmarks/bench_questions.py [--locomo FILE] [--made-up 20]

Two sets. The made-up conversations of the tests, with seeds that no test uses. And LoCoMo (10 conversations between two
people, 1,981 questions with evidence), if its file `locomo10.json` is given or lies in ../shared/data: it is not part
of this repository. The ranker's weights were chosen by looking at the first four of its conversations only; the other
six are shown apart.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import Change, EventRecord, Session
from holdfast.store.search import Search
from holdfast.store.search_filters import Scope
from holdfast.testing.memory_store import MemoryStore
from store.conversations import make_conversation

LOCOMO = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "locomo10.json"
LOOKED_AT = 4


@dataclass(slots=True)
class Talk:
    turns: list[tuple[int, str, float]] = field(default_factory=list)
    """Session, what was said (with the speaker's name), when."""
    questions: list[tuple[str, frozenset[int]]] = field(default_factory=list)
    """A question and the places of its evidence."""


def made_up(count: int) -> list[Talk]:
    talks = []
    for seed in range(1000, 1000 + count):
        made = make_conversation(seed)
        turns = [(turn.session, turn.said, turn.at) for turn in made.turns]
        talks.append(Talk(turns, [(question, frozenset({place})) for question, place in made.questions]))
    return talks


def locomo(path: Path) -> list[Talk]:
    talks = []
    for entry in json.loads(path.read_text(encoding="utf-8")):
        talk, places, conversation, number = Talk(), {}, entry["conversation"], 1
        while turns := conversation.get(f"session_{number}"):
            said = conversation[f"session_{number}_date_time"].replace(" on ", " ")
            start = datetime.strptime(said, "%I:%M %p %d %B, %Y").replace(tzinfo=UTC).timestamp()
            for turn in turns:
                places[turn["dia_id"]] = len(talk.turns)
                talk.turns.append((number, f"{turn['speaker']}: {turn['text']}", start + len(talk.turns)))
            number += 1
        for question in entry["qa"]:
            named = re.findall(r"D\d+:\d+", " ".join(question.get("evidence", ())))
            evidence = frozenset(places[name] for name in named if name in places)
            if evidence:
                talk.questions.append((question["question"], evidence))
        talks.append(talk)
    return talks


def recall(found: Sequence[frozenset[int]], talk: Talk) -> float:
    shares = [len(hits & evidence) / len(evidence) for hits, (_, evidence) in zip(found, talk.questions, strict=True)]
    return sum(shares)


def by_fts5(talk: Talk, tokenizer: str) -> float:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE turns USING fts5(text, tokenize='{tokenizer}')")
    database.executemany("INSERT INTO turns (text) VALUES (?)", [(said,) for _, said, _ in talk.turns])
    found = []
    for question, _ in talk.questions:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        rows = database.execute("SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY bm25(turns) LIMIT 10", (words,))
        found.append(frozenset(row[0] - 1 for row in rows))
    return recall(found, talk)


def by_search(talk: Talk, times: list[float]) -> float:
    store = MemoryStore()
    key = SessionKey("u", "bench", "talk")
    before = ""
    for number, (session, said, at) in enumerate(talk.turns):
        where = SessionId(key, f"s{session}")
        if store.session(where.session) is None:
            _seal(store, before)
            store.open_session(Session(where, "bench", "/vault", at))
            before = where.session
        store.commit(Change(where, events=(EventRecord(str(number), where, at, "prompt_submitted", {}, "", said),)))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        search = Search(store, Path(folder))
        search.refresh()
        for question, _ in talk.questions:
            began = time.perf_counter()
            hits = search.find(question, Scope.chain(key), limit=10).hits
            times.append((time.perf_counter() - began) * 1000)
            found.append(frozenset(int(hit.event_id) for hit in hits))
        search.close()
    return recall(found, talk)


def _seal(store: MemoryStore, session: str) -> None:
    known = store.session(session)
    if known is not None:
        store.update_session(session, known.version, state="sealed")


def show(name: str, talks: Sequence[Talk]) -> None:
    count = sum(len(talk.questions) for talk in talks)
    times: list[float] = []
    ours = sum(by_search(talk, times) for talk in talks) / count
    plain = sum(by_fts5(talk, "unicode61") for talk in talks) / count
    stemmed = sum(by_fts5(talk, "porter unicode61") for talk in talks) / count
    median = sorted(times)[len(times) // 2]
    print(
        f"{name:42}{count:6}{plain:9.3f}{stemmed:9.3f}{ours:9.3f}{100 * (ours - stemmed):+9.1f}{median:9.1f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, default=LOCOMO)
    parser.add_argument("--made-up", type=int, default=20, help="how many made-up conversations")
    options = parser.parse_args()
    print(f"{'recall@10':42}{'n':>6}{'FTS5':>9}{'stems':>9}{'ours':>9}{'points':>9}{'ms':>9}")
    show("made-up conversations", made_up(options.made_up))
    if options.locomo.exists():
        talks = locomo(options.locomo)
        show("LoCoMo, the four that were looked at", talks[:LOOKED_AT])
        show("LoCoMo, the six that were not", talks[LOOKED_AT:])
    else:
        print(f"no LoCoMo: {options.locomo.name} is neither given by --locomo nor in ../shared/data")


if __name__ == "__main__":
    main()
