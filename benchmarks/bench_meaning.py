"""What search by meaning costs on this side of the endpoint: `near` over many vectors, without any network.

    python benchmarks/bench_meaning.py [--vectors 20000] [--dimensions 768]

The vectors are made up: unit vectors around random centres, so that there is something to find. Also told: how many of
the exact ten nearest are among the ten that were found by way of the signs.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import tempfile
import time
from operator import mul
from pathlib import Path

from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import Change, EventRecord, Session
from holdfast.store.meaning_embedder import Embedder
from holdfast.store.search import Search
from holdfast.store.search_filters import EVERYTHING, NO_FILTERS, Scope, Sieve
from holdfast.store.sqlite import SqliteStore

QUERIES = 20
CENTRES = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--dimensions", type=int, default=768)
    given = parser.parse_args()
    chance = random.Random(1)
    centres = [[chance.gauss(0, 1) for _ in range(given.dimensions)] for _ in range(CENTRES)]

    def vector(name: str) -> list[float]:
        """Always the same for a text."""
        own = random.Random(name)
        centre = centres[own.randrange(CENTRES)]
        return [number + own.gauss(0, 1) for number in centre]

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        store = SqliteStore(root / "holdfast.db", audit_dir=root / "audit")
        for thread in range(10):
            where = SessionId(SessionKey("u", "a", f"t{thread}"), f"s{thread}")
            store.open_session(Session(where, "bench", "/vault", 1.0))
            for start in range(thread, given.vectors, 10_000):
                events = tuple(
                    EventRecord(f"e{number}", where, float(number), "prompt_submitted", {}, text=f"text {number}")
                    for number in range(start, min(given.vectors, start + 10_000), 10)
                )
                store.commit(Change(where, events=events))
        embedder = Embedder("bench", lambda texts, _: [vector(text) for text in texts], 60.0)
        search = Search(store, root / "search", meaning=lambda: embedder)
        began = time.perf_counter()
        search.meaning.follow()
        made = time.perf_counter() - began
        status = search.meaning.status()
        assert status is not None
        print(f"{status.vectors} vectors of {given.dimensions} numbers in {made:.1f} s with making them up, "
              f"{status.bytes / 1e6:.0f} MB")  # fmt: skip
        cold = _timed(search, "cold", EVERYTHING)
        warm = [_timed(search, f"query {number}", EVERYTHING) for number in range(QUERIES)]
        scoped = [_timed(search, f"query {number}", Scope(thread="t3")) for number in range(QUERIES)]
        print(f"near: first {cold:.0f} ms, then median {statistics.median(warm):.0f} ms, worst {max(warm):.0f} ms; "
              f"one thread of ten: median {statistics.median(scoped):.0f} ms")  # fmt: skip
        _agreement(search, store, vector)
        search.close()
        store.close()


def _timed(search: Search, text: str, scope: Scope) -> float:
    began = time.perf_counter()
    assert not search.meaning.near(text, Sieve(scope, NO_FILTERS), 60.0).notice
    return (time.perf_counter() - began) * 1000


def _agreement(search: Search, store: SqliteStore, vector) -> None:
    kept = [(record.seq, vector(record.text)) for record in store.events_since(0, 5_000_000)]
    lengths = {seq: math.hypot(*values) for seq, values in kept}
    found = wanted = 0
    for number in range(5):
        query = vector(f"query {number}")
        length = math.hypot(*query)
        likeness = [(sum(map(mul, query, values)) / lengths[seq] / length, seq) for seq, values in kept]
        exact = sorted(likeness, reverse=True)[:10]
        # What is much less like the query than the best is left out on purpose.
        exact = [(likely, seq) for likely, seq in exact if likely > 0.75 * exact[0][0]]
        near = set(search.meaning.near(f"query {number}", Sieve(EVERYTHING, NO_FILTERS), 60.0).events[:10])
        found += len(near & {seq for _, seq in exact})
        wanted += len(exact)
    print(f"of the exact ten nearest, {found / wanted:.0%} are among the ten found")


if __name__ == "__main__":
    main()
