"""What a page missed while nobody could tell it: read from the store, in the order in which it was written.

A page's place holds the store's position up to which everything had been told. Whatever lies behind it is told as it
would have been then, by whatever process wrote it and whether or not a server ran meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from holdfast.doors.web.hub import Place, encoded, event_id
from holdfast.doors.web.items import KINDS
from holdfast.store.interface import EventRecord, Store
from holdfast.store.orders import OPERATOR

if TYPE_CHECKING:
    from holdfast.doors.web.server import Server

MOST_RECORDS = 2000
"""Beyond this it is quicker for a page to load what it shows anew."""
MOST_APPROVALS = 1000
SLACK_SECONDS = 60.0
"""Approvals are known by their times; a card that is told twice is the same card."""
NUMBERS = "page:numbers"
EACH_PROCESS = 1_000_000_000
_PAGE = 500
_OF_NO_PROCESS = "00000000"


def next_numbers(store: Store) -> int:
    """Where this process begins to count its events: above all that an earlier one of this home has given out."""
    while True:
        kept: Any = store.noted(NUMBERS)
        first = (kept if isinstance(kept, int) else 0) + EACH_PROCESS
        if store.swap_note(NUMBERS, kept, first):  # two servers may start at once
            return first


def missed_by(server: Server, seen: Place, here: Place) -> bytes | None:
    """The events between two places; None when the store never was where the page says it was."""
    if seen.position > here.position:
        return None
    parts = _records(server, seen, here)
    store = server.control.store
    since = seen.at - SLACK_SECONDS
    for approval in reversed(store.approvals(limit=MOST_APPROVALS)):
        if max(approval.created_at, approval.answered_at or 0.0) >= since:
            body = orjson.dumps(server.cards.card(approval), default=str)
            # As far as the page is then known to have come: a break in the middle of it loses nothing.
            parts.append(encoded(event_id(_OF_NO_PROCESS, 0, here.position, seen.at), "approval", body))
    return b"".join(parts)


def _records(server: Server, seen: Place, here: Place) -> list[bytes]:
    parts: list[bytes] = []
    position = seen.position
    told = 0
    while position < here.position:
        records = [one for one in server.control.store.events_since(position, _PAGE) if one.seq <= here.position]
        if not records:
            break
        told += len(records)
        position = records[-1].seq
        if told > MOST_RECORDS:
            body = orjson.dumps({"events": here.position - seen.position})
            return [encoded(event_id(_OF_NO_PROCESS, 0, here.position, seen.at), "records", body)]
        for record in records:
            event = transcript_event(server, record)
            if event is not None:
                identity = event_id(_OF_NO_PROCESS, 0, record.seq, seen.at)
                parts.append(encoded(identity, "transcript", orjson.dumps(event, default=str)))
    return parts


def transcript_event(server: Server, record: EventRecord) -> dict[str, Any] | None:
    """A record as the stream tells of it; None for what no conversation shows."""
    where = record.where
    if where.thread == OPERATOR or record.kind not in KINDS:
        return None
    item = server.items.item(record)
    if item is None:
        return None
    row = server.control.store.session(where.session)
    if item["kind"] == "session" and row is not None:
        item["number"] = row.number
    host = row.host if row is not None else ""
    return {"thread": where.thread, "agent": where.agent, "session": where.session, "host": host, "item": item}
