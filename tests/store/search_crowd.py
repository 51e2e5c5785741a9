"""Many processes on one store: each writes events, searches for them at once, and refreshes the index if it may.

`HOME PROCESSES SECONDS`
"""

import json
import sys
import time
from pathlib import Path

from storm_steps import open_store, place, reports_of, session_at

from holdfast.store.interface import Change, EventRecord
from holdfast.store.search import Search


def work(home: Path, me: int, seconds: float) -> dict:
    store = open_store(home)
    where = place(f"own-{me}")
    store.open_session(session_at(where))
    search = Search(store, home / "search")
    done = {"events": 0, "missed": [], "indexed": 0, "busy": 0, "slowest": 0.0, "errors": []}
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        number += 1
        word = f"p{me}word{number}"
        try:
            text = f"common {word} 会话 in getSessionManager"
            store.commit(Change(where, events=(EventRecord(word, where, 1.0, "tool_called", {}, "", text),)))
            done["events"] += 1
            began = time.monotonic()
            if [hit.event_id for hit in search.find(word).hits] != [word]:
                done["missed"].append(word)
            done["slowest"] = max(done["slowest"], time.monotonic() - began)
            if number % 5 == 0:
                refreshed = search.refresh(0.05)
                done["indexed"] += refreshed.indexed
                done["busy"] += refreshed.busy
            if number % 40 == 0:
                search.close()  # lets another have the lock
        except Exception as error:
            done["errors"].append(f"{type(error).__name__}: {error}")
    search.close()
    store.close()
    return done


def crowd(home: Path, processes: int, seconds: float) -> dict:
    reports = reports_of(processes, lambda me: work(home, me, seconds))
    store = open_store(home)
    search = Search(store, home / "search")
    search.refresh()
    found, cursor = [], None
    while True:
        page = search.find("common", limit=200, cursor=cursor)
        found += [hit.event_id for hit in page.hits]
        cursor = page.cursor
        if cursor is None:
            break
    result = {
        "reports": reports,
        "found": len(found),
        "different": len(set(found)),
        "documents": search.status().documents,
        "events": len(store.events_since(0, 10**9)),
    }
    search.close()
    store.close()
    return result


if __name__ == "__main__":
    print(json.dumps(crowd(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
