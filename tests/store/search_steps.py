"""What the search tests share: events with a text, and a search that reads every text with nothing but plain Python."""

from __future__ import annotations

from itertools import count

from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import Change, EventRecord, Session, Store
from holdfast.store.search import Search

START = 1_780_000_000.0
_ids = count(1)


def where(session: str = "s1", thread: str = "t1", *, user: str = "u", agent: str = "a") -> SessionId:
    return SessionId(SessionKey(user, agent, thread), session)


def add(
    store: Store, *texts: str, place: SessionId | None = None, vault: str = "/vault", **fields
) -> list[EventRecord]:
    """One step of a session with an event for each text; the session is opened when it is new."""
    place = place or where()
    store.open_session(Session(place, "test", vault, START))
    records = []
    for text in texts:
        number = next(_ids)
        values = {"at": START + number, "kind": "tool_called", "data": {}, "invocation": "run-1", **fields}
        records.append(EventRecord(id=f"e{number}", where=place, text=text, **values))
    return list(store.commit(Change(place, events=tuple(records))).events)


def all_hits(search: Search, query: str, *arguments, limit: int = 7, **options) -> list:
    """Every hit, page by page."""
    hits, cursor = [], None
    for _ in range(10_000):
        page = search.find(query, *arguments, limit=limit, cursor=cursor, **options)
        hits += page.hits
        cursor = page.cursor
        if cursor is None:
            return hits
    raise AssertionError("paging does not end")


def found_ids(search: Search, query: str, *arguments, **options) -> set[str]:
    hits = all_hits(search, query, *arguments, **options)
    ids = [hit.event_id for hit in hits]
    assert len(ids) == len(set(ids)), "a hit came twice"
    return set(ids)
