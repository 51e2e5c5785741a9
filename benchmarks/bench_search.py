"""Search over many events, beside ripgrep on the same JSON Lines and plain FTS5 (unicode61, BM25, 20 best).

    python benchmarks/bench_search.py [--events 200000 | --full] [--folder KEPT] [--no-rivals]

For each kind of query: p50 and p95 of a whole `Search.find` (index, tail, texts from the store, snippets), how many
times quicker than ripgrep, and recall and precision against what ripgrep finds, counted by paging through all hits.
Then indexing rate, size of the index, and how long until another process finds a new event.
"""

from __future__ import annotations

import argparse
import gc
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
from search_corpus import Corpus, Needle

from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import Change, EventRecord, Session
from holdfast.store.search import Search
from holdfast.store.sqlite import SqliteStore

PER_SESSION = 2_000
START = 1_780_000_000.0
ROUNDS = 12


def open_store(folder: Path) -> SqliteStore:
    return SqliteStore(folder / "holdfast.db", audit_dir=folder / "audit")


def fill(folder: Path, corpus: Corpus) -> int:
    """The same texts in the store, in JSON Lines and in FTS5; returns their bytes."""
    store = open_store(folder)
    fts = sqlite3.connect(folder / "fts.db")
    fts.execute("CREATE VIRTUAL TABLE texts USING fts5(text, content='', tokenize='unicode61')")
    size, number, batch = 0, 0, []
    fts_seconds = 0.0
    with (folder / "events.jsonl").open("wb") as lines:

        def flush() -> None:
            nonlocal number, fts_seconds
            session = number // PER_SESSION
            where = SessionId(SessionKey("u", "bench", f"t{session // 5}"), f"s{session}")
            if number % PER_SESSION == 0:
                if session:
                    before = store.session(f"s{session - 1}")
                    store.update_session(before.id.session, before.version, state="sealed")
                store.open_session(Session(where, "bench", f"/vault{session % 7}", START))
            events = tuple(
                EventRecord(f"e{number + place}", where, START + number + place, "tool_called", {}, "run", text, "bash")
                for place, text in enumerate(batch)
            )
            store.commit(Change(where, events=events))
            began = time.perf_counter()
            rows = [(number + place + 1, text) for place, text in enumerate(batch)]
            fts.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
            fts_seconds += time.perf_counter() - began
            number += len(batch)
            batch.clear()

        for text in corpus.events():
            size += len(text.encode())
            lines.write(orjson.dumps({"text": text}) + b"\n")
            batch.append(text)
            if len(batch) == 1000:
                flush()
        if batch:
            flush()
    began = time.perf_counter()
    fts.commit()
    fts_seconds += time.perf_counter() - began
    fts.close()
    store.close()
    print(
        f"FTS5 indexed {corpus.count / fts_seconds:,.0f} events/s, {(folder / 'fts.db').stat().st_size / size:.2f} of the text"
    )
    return size


def milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def by_ripgrep(folder: Path, literal: str) -> set[int]:
    """Line numbers, which are the events' numbers."""
    written = orjson.dumps(literal).decode()[1:-1]
    command = ["rg", "--no-config", "-n", "-o", "-F", "--", written, str(folder / "events.jsonl")]
    found = subprocess.run(command, capture_output=True, check=False).stdout
    return {int(line.split(b":", 1)[0]) for line in found.splitlines()}


def ripgrep_milliseconds(folder: Path, literal: str) -> float:
    written = orjson.dumps(literal).decode()[1:-1]
    command = ["rg", "--no-config", "-c", "-F", "--", written, str(folder / "events.jsonl")]
    return milliseconds(lambda: subprocess.run(command, capture_output=True, check=False))


def fts_query(fts: sqlite3.Connection, literal: str) -> list[tuple[int]]:
    phrase = " ".join(f'"{word}"' for word in re.findall(r"\w+", literal))
    return fts.execute(
        "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 20", (phrase,)
    ).fetchall()


def every_hit(search: Search, query: str) -> tuple[set[int], int]:
    """Numbers of all hits, and how many came twice."""
    found: list[int] = []
    cursor = None
    while True:
        page = search.find(query, limit=200, cursor=cursor, match="all")
        found += [int(hit.event_id[1:]) + 1 for hit in page.hits]
        cursor = page.cursor
        if cursor is None:
            return set(found), len(found) - len(set(found))


def compare(folder: Path, search: Search, corpus: Corpus, rivals: bool) -> float:
    fts = sqlite3.connect(folder / "fts.db")
    kinds: dict[str, list[Needle]] = {}
    for needle in corpus.needles:
        kinds.setdefault(needle.kind, []).append(needle)
    print(
        f"{'':22}{'p50 ms':>8}{'p95':>8}{'ripgrep':>9}{'times':>7}{'FTS5':>9}{'recall':>8}{'precision':>11}{'hits':>9}"
    )
    worst = 0.0
    for kind, needles in kinds.items():
        times, rg, sqlite = [], [], []
        for needle in needles:
            search.find(needle.query, limit=20)
        gc.collect()
        for _ in range(ROUNDS):
            times += [milliseconds(lambda query=needle.query: search.find(query, limit=20)) for needle in needles]
        line = f"{kind:22}{statistics.median(times):8.2f}{quantile(times, 0.95):8.2f}"
        worst = max(worst, quantile(times, 0.95))
        if rivals:
            for needle in needles[:3]:
                rg += [ripgrep_milliseconds(folder, needle.literal) for _ in range(3)]
                sqlite += [milliseconds(lambda text=needle.literal: fts_query(fts, text)) for _ in range(3)]
            needle = needles[0]
            truth = by_ripgrep(folder, needle.literal)
            found, double = every_hit(search, needle.query)
            recall = len(found & truth) / len(truth) if truth else 1.0
            precision = len(found & truth) / len(found) if found else 1.0
            line += f"{statistics.median(rg):9.0f}{statistics.median(rg) / statistics.median(times):7.0f}"
            line += f"{statistics.median(sqlite):9.2f}{recall:8.3f}{precision:11.3f}{len(found):9}"
            line += f"  {double} doubled" if double else ""
        print(line, flush=True)
    times = [milliseconds(lambda q=q: search.find(q, limit=20)) for _ in range(ROUNDS // 2) for q in corpus.questions()]
    print(f"{'question, 8 words':22}{statistics.median(times):8.2f}{quantile(times, 0.95):8.2f}")
    return max(worst, quantile(times, 0.95))


def freshness(folder: Path, rounds: int = 30) -> list[float]:
    """Milliseconds from the commit of an event until another process finds it."""
    store = open_store(folder)
    where = SessionId(SessionKey("u", "bench", "fresh"), "fresh")
    store.open_session(Session(where, "bench", "/vault", START))
    watcher = subprocess.Popen(
        [sys.executable, __file__, "--watch", str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert watcher.stdin is not None
    assert watcher.stdout is not None
    watcher.stdout.readline()
    taken = []
    for number in range(rounds):
        word = f"fresh{time.time_ns()}x{number}"
        store.commit(
            Change(where, events=(EventRecord(f"{word}", where, time.time(), "note", {}, "", f"see {word} now"),))
        )
        began = time.perf_counter()
        watcher.stdin.write(word + "\n")
        watcher.stdin.flush()
        watcher.stdout.readline()
        taken.append((time.perf_counter() - began) * 1000)
    watcher.stdin.close()
    watcher.wait(20)
    store.close()
    return taken


def watch(folder: Path) -> None:
    search = Search(open_store(folder), folder / "search")
    search.find("warm")
    print("ready", flush=True)
    for line in sys.stdin:
        while not search.find(line.strip()).hits:
            time.sleep(0.001)
        print("found", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--full", action="store_true", help="one million events")
    parser.add_argument("--folder", type=Path, help="keep everything here, and use what is there")
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--watch", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.watch:
        watch(options.watch)
        return
    corpus = Corpus(1_000_000 if options.full else options.events)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="holdfast-search-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if (folder / "size").exists():
            size = int((folder / "size").read_text())
        else:
            size = fill(folder, corpus)
            (folder / "size").write_text(str(size))
        store = open_store(folder)
        search = Search(store, folder / "search")
        began = time.perf_counter()
        used = time.process_time()
        indexed = search.refresh().indexed
        search.close()
        seconds = time.perf_counter() - began
        if indexed:
            print(f"{indexed:,} events, {size / 1e6:.0f} MB of text; indexed {indexed / seconds:,.0f} events/s "
                  f"({time.process_time() - used:.0f} s of processor time in {seconds:.0f} s)")  # fmt: skip
        status = search.status()
        print(f"index {status.bytes / 1e6:.0f} MB, {status.bytes / size:.2f} of the text")
        worst = compare(folder, search, corpus, not options.no_rivals)
        taken = freshness(folder)
        print(
            f"a new event is found by another process after {statistics.median(taken):.1f} ms, p95 {quantile(taken, 0.95):.1f}"
        )
        print(f"worst p95: {worst:.1f} ms (target: below 25)")
        store.close()
    finally:
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
