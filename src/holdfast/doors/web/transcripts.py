"""A session's record page by page, in both directions and from any event; ten thousand events cost what a page costs.

A cursor says on which side of which event a page lies. The store is only asked for events of that page, so a page in
the middle of a long session is as quick as the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.chain.cursors import RecallError, decode_cursor, encode_cursor
from holdfast.chain.views import CHAT_KINDS, InvocationNote, View, chat_entry, raw_entry
from holdfast.core.messages import Phrase
from holdfast.doors.web import chain_shapes as shapes
from holdfast.doors.web.records import Answer, Records
from holdfast.doors.web.routes import ApiError, Call, Route, bad_request, not_found
from holdfast.store.interface import EventRecord, Session, Store

_NOT_BOTH = Phrase("page.cursor_or_event", "give a cursor or an event, not both", "只能给出游标或事件之一")
_NO_CURSOR = Phrase("page.no_cursor", "cursor {cursor} is not one of ours", "{cursor} 不是这里的游标")


MOST_ENTRIES = 500
RAW_TEXT = 4_000
WHOLE_TEXT = 200_000
_BATCH = 100
_BEFORE, _AFTER = "b", "a"

Entry = tuple[int, Answer]
"""The number by which its place is known, and what is shown."""
Read = Callable[[int, int], list[Entry]]
"""From the event with this number on (not included), so many entries."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """One way to look at a session: entries after a number, and before it, both oldest first."""

    after: Read
    before: Read
    place: Callable[[int], int] = lambda no: no
    """Where an event is found in this view."""


def show_events(call: Call) -> Answer:
    """One page. Without a place it is the first; `event` gives that event with its neighbours."""
    records = call.server.records
    row = records.session(call.path["session"])
    view: View = call.query["view"] or "chat"
    limit = call.number("limit", 100, MOST_ENTRIES, 1)
    last = records.store.events(row.id.session, limit=1, newest_first=True)
    total = last[0].no if last else 0
    reader = _handoff(records, row, total) if view == "handoff" else _events(records.store, row, view)
    entries = _entries(call, row, view, reader, limit, total)
    page: Answer = {"session": row.id.session, "view": view, "total": total, "before": None, "after": None}
    page["entries"] = [entry for _, entry in entries]
    if entries:
        first_no, last_no = entries[0][0], entries[-1][0]
        if reader.before(first_no, 1):
            page["before"] = _cursor(_BEFORE, first_no, row, view)
        if reader.after(last_no, 1):
            page["after"] = _cursor(_AFTER, last_no, row, view)
    return page


def _entries(call: Call, row: Session, view: View, reader: _Reader, limit: int, total: int) -> list[Entry]:
    cursor, event = call.query["cursor"], call.query["event"]
    if cursor is not None and event is not None:
        raise bad_request(_NOT_BOTH(), "event")
    if cursor is not None:
        side, no = _place(cursor, row, view)
        return reader.before(no, limit) if side == _BEFORE else reader.after(no, limit)
    if event is not None:
        if not 1 <= event <= total:
            raise not_found("event", str(event))
        place = reader.place(event)
        above = reader.before(place, limit // 2) if limit > 1 else []
        return [*above, *reader.after(place - 1, limit - len(above))]
    if call.query["from"] == "end":
        return reader.before(total + 1, limit)
    return reader.after(0, limit)


def _cursor(side: str, no: int, row: Session, view: str) -> str:
    return f"{side}{encode_cursor(no, row.id.session, view)}"


def _place(cursor: str, row: Session, view: str) -> tuple[str, int]:
    try:
        side = cursor[:1]
        if side not in (_BEFORE, _AFTER):
            raise RecallError(_NO_CURSOR(cursor=repr(cursor[:80])))
        return side, decode_cursor(cursor[1:], row.id.session, view)
    except RecallError as error:
        raise ApiError(422, "bad_cursor", error.message) from None


def _events(store: Store, row: Session, view: View) -> _Reader:
    """The events themselves, or those that are lines of the conversation."""
    name = row.id.session
    kinds = CHAT_KINDS if view == "chat" else None

    def shown(record: EventRecord) -> Answer | None:
        return chat_entry(record) if view == "chat" else raw_entry(record, RAW_TEXT)

    def after(no: int, count: int) -> list[Entry]:
        return _collect(lambda at, size: store.events(name, after=at, limit=size, kinds=kinds), shown, no, count)

    def before(no: int, count: int) -> list[Entry]:
        def read(at: int, size: int) -> Sequence[EventRecord]:
            return store.events(name, before=at, limit=size, kinds=kinds, newest_first=True)

        return _collect(read, shown, no, count)[::-1]

    return _Reader(after, before)


def _collect(
    read: Callable[[int, int], Sequence[EventRecord]],
    shown: Callable[[EventRecord], Answer | None],
    place: int,
    count: int,
) -> list[Entry]:
    """As many entries as wanted; events that show nothing are passed over."""
    found: list[Entry] = []
    while len(found) < count:
        size = max(_BATCH, count - len(found)) if count > 1 else 8
        batch = read(place, size)
        for record in batch:
            place = record.no
            entry = shown(record)
            if entry is not None:
                found.append((record.no, entry))
                if len(found) == count:
                    return found
        if len(batch) < size:
            break
    return found


def _handoff(records: Records, row: Session, total: int) -> _Reader:
    """The requests, each with what it led to, known by its first event."""
    notes = records.notes.of(row.id.session, total)

    def shown(chosen: Sequence[InvocationNote]) -> list[Entry]:
        return [(note.first, note.to_dict()) for note in chosen]

    return _Reader(
        after=lambda no, count: shown([note for note in notes if note.first > no][:count]),
        before=lambda no, count: shown([note for note in notes if note.first < no][-count:]),
        place=lambda no: max((note.first for note in notes if note.first <= no), default=no),
    )


def show_event(call: Call) -> Answer:
    """One event as it is, with long texts."""
    records = call.server.records
    row = records.session(call.path["session"])
    text = call.path["event"]
    no = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
    found = records.store.events(row.id.session, after=no - 1, limit=1) if no else ()
    if not found or found[0].no != no:
        raise not_found("event", text)
    return raw_entry(found[0], WHOLE_TEXT)


_PAGE = {"view": Literal["chat", "handoff", "raw"], "cursor": str, "event": int, "from": Literal["start", "end"],
         "limit": int}  # fmt: skip

ROUTES = (
    Route(
        "GET", "/api/sessions/{session}/events", show_events, "A session's record, page by page",
        query=_PAGE, returns=shapes.TranscriptPage,
    ),
    Route("GET", "/api/sessions/{session}/events/{event}", show_event, "One event as it is"),
)  # fmt: skip
