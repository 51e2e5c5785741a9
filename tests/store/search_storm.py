"""Kill whoever writes the search index, again and again, beside somebody who writes events; print what is found.

`HOME ROUNDS SEED`
"""

import contextlib
import json
import os
import random
import select
import signal
import sys
import time
from pathlib import Path

from storm_steps import open_store, place, session_at

from holdfast.store.interface import Change, EventRecord
from holdfast.store.search import Search

WHERE = place("storm")


def event(name: str) -> EventRecord:
    return EventRecord(name, WHERE, 1.0, "tool_called", {}, "run", f"common {name} 会话链 getSessionManager({name})")


def write(home: Path, report: int) -> None:
    store = open_store(home)
    number = 0
    while True:
        names = [f"n{number + step}" for step in range(20)]
        store.commit(Change(WHERE, events=tuple(map(event, names))))
        os.write(report, b"".join(f"{name}\n".encode() for name in names))
        number += 20
        # Slower and slower: it writes until the last kill, however long that takes, and the end stays countable.
        time.sleep(0.004 + number / 200_000)


def index(home: Path, report: int) -> None:
    search = Search(open_store(home), home / "search")
    os.write(report, b".")
    while True:
        search.refresh(0.01)
        os.write(report, b".")


def fork(work, *arguments) -> int:
    child = os.fork()
    if child == 0:
        try:
            work(*arguments)
        finally:
            os._exit(1)
    return child


def stop(child: int) -> bool:
    """Whether it had lived until now."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def storm(home: Path, rounds: int, chance: random.Random) -> dict:
    store = open_store(home)
    store.open_session(session_at(WHERE))
    store.close()
    promises = home / "promises"  # a file takes any number of them; a pipe is full at some time, and the writer stands
    acknowledge = os.open(promises, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    writer = fork(write, home, acknowledge)
    crashed, stuck, covered = 0, 0, []
    for _ in range(rounds):
        ready_in, ready_out = os.pipe()
        child = fork(index, home, ready_out)
        os.close(ready_out)
        for _ in range(chance.randrange(4)):  # refreshes that it may finish; then it dies somewhere in the next
            stuck += heard_from(ready_in, 1) is None
        time.sleep(chance.random() * 0.05)
        crashed += not stop(child)
        os.close(ready_in)
        covered.append(look(home))
    crashed += not stop(writer)
    os.close(acknowledge)
    heard = promises.read_bytes()
    store = open_store(home)
    there = {record.id for record in store.events_since(0, 10**9)}
    search = Search(store, home / "search")
    before = every_id(search)
    search.refresh()
    after = every_id(search)
    snapshot = search._reader.snapshot()
    documents = snapshot.searcher.search(snapshot.query_of(parse("common"), everything()), 1, count=True).count
    search.close()
    store.close()
    return {
        "crashed": crashed,
        "stuck": stuck + covered.count(None),
        "promised": len(heard.split()),
        "events": len(there),
        "steps": len(set(covered)),
        "lost": sorted(there - set(before)) + sorted(there - set(after)),
        "doubled": len(before) - len(set(before)) + len(after) - len(set(after)),
        "documents": documents,
    }


def heard_from(pipe: int, most: int = 100) -> bytes | None:
    """What a child says; None when it says nothing for a minute."""
    return os.read(pipe, most) if select.select([pipe], [], [], 60.0)[0] else None


def look(home: Path) -> int | None:
    """How far the index has come, as a new process sees it.

    Never in this process: it forks, and a child would inherit the locks that the index's own threads hold here.
    """
    told_in, told_out = os.pipe()
    child = fork(tell_covered, home, told_out)
    os.close(told_out)
    told = heard_from(told_in)
    stop(child)
    os.close(told_in)
    return int(told) if told else None


def tell_covered(home: Path, report: int) -> None:
    covered = Search(open_store(home), home / "search").status().covered
    os.write(report, str(covered).encode())


def parse(text: str):
    from holdfast.store.search_query import read_query

    return read_query(text).node


def everything():
    from holdfast.store.search_filters import EVERYTHING, NO_FILTERS, Sieve

    return Sieve(EVERYTHING, NO_FILTERS)


def every_id(search: Search) -> list[str]:
    found, cursor = [], None
    while True:
        page = search.find("common", limit=200, cursor=cursor)
        found += [hit.event_id for hit in page.hits]
        cursor = page.cursor
        if cursor is None:
            return found


if __name__ == "__main__":
    print(json.dumps(storm(Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3])))))
