"""The audit as the page filters it: a slim row for each entry, kept in memory and brought up to date at each look.

What a row does not hold is read from the store by its position. Free text is looked for in the entries themselves,
within a deadline; what could not be looked at in time is said.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.doors.audit_data import entries_about
from holdfast.store.interface import Store

FACETS = ("decision", "domain", "tool", "agent", "host", "policy")
_PAGE = 2000
_TEXT_SECONDS = 4.0
_READ_SECONDS = 8.0
_MOST_TEXTS = 4
_TEXTS = ("tool", "what", "reason", "rulePattern", "decidedBy", "policy", "sessionId", "eventId", "callId", "thread",
          "message", "approval", "why", "permissionDomain")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    position: int
    at: float
    session: str
    decision: str
    domain: str
    tool: str
    agent: str
    host: str
    policy: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an entry must be; an empty tuple asks for nothing."""

    facets: Mapping[str, tuple[str, ...]]
    session: str = ""
    since: float | None = None
    until: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    rows: Sequence[Row]
    """Oldest first."""
    counts: Mapping[str, Counter[str]]
    """Of each facet's values, under all the other filters."""
    complete: bool


class AuditRows:
    def __init__(self, store: Store, user: str) -> None:
        self._store = store
        self._user = user
        self._lock = threading.Lock()
        self._rows: list[Row] = []
        self._position = 0
        self._owners: dict[str, tuple[str, str]] = {}
        self._texts: OrderedDict[str, tuple[int, frozenset[int]]] = OrderedDict()

    def rows(self) -> tuple[Sequence[Row], bool]:
        """All entries of this user, oldest first, and whether that is everything."""
        with self._lock:
            complete = self._catch_up()
            return self._rows[:], complete

    def _catch_up(self) -> bool:
        end = time.monotonic() + _READ_SECONDS
        while page := self._store.audit_since(self._position, _PAGE):
            for position, entry in page:
                row = self._row(position, entry)
                if row is not None:
                    self._rows.append(row)
            self._position = page[-1][0]
            if len(page) == _PAGE and time.monotonic() > end:
                return False
        return True

    def _row(self, position: int, entry: Mapping[str, Any]) -> Row | None:
        session = sys.intern(str(entry.get("sessionId") or ""))
        owner, host = self._owner(session)
        if (entry.get("user") or owner or self._user) != self._user:
            return None
        texts = (entry.get(key) for key in ("decision", "permissionDomain", "tool", "agent"))
        decision, domain, tool, agent = (sys.intern(str(text or "")) for text in texts)
        at = entry.get("timestamp")
        policy = sys.intern(str(entry.get("policy") or ""))
        return Row(position, float(at or 0), session, decision, domain, tool, agent, host, policy)

    def _owner(self, session: str) -> tuple[str, str]:
        """User and host of a session; nothing for one that was deleted."""
        known = self._owners.get(session)
        if known is None:
            row = self._store.session(session)
            known = ("", "") if row is None else (row.id.user, sys.intern(row.host))
            self._owners[session] = known
        return known

    def choose(self, wanted: Wanted) -> Chosen:
        rows, complete = self.rows()
        if wanted.text:
            found, whole = self._holding(wanted.text.casefold())
            rows, complete = [row for row in rows if row.position in found], complete and whole
        chosen: list[Row] = []
        counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
        asked = [(name, frozenset(values)) for name, values in wanted.facets.items() if values]
        for row in rows:
            if wanted.session and row.session != wanted.session:
                continue
            if (wanted.since is not None and row.at < wanted.since) or (
                wanted.until is not None and row.at >= wanted.until
            ):
                continue
            missed = [name for name, values in asked if getattr(row, name) not in values]
            if not missed:
                chosen.append(row)
                for name in FACETS:
                    counts[name][getattr(row, name)] += 1
            elif len(missed) == 1:
                counts[missed[0]][getattr(row, missed[0])] += 1
        return Chosen(chosen, counts, complete)

    def _holding(self, needle: str) -> tuple[set[int], bool]:
        """Positions of the entries that hold a text; a search that goes on begins where the last one ended."""
        with self._lock:
            position, known = self._texts.pop(needle, (0, frozenset()))
        found = set(known)
        end = time.monotonic() + _TEXT_SECONDS
        complete = True
        while page := self._store.audit_since(position, _PAGE):
            found.update(place for place, entry in page if any(needle in text.casefold() for text in _words(entry)))
            position = page[-1][0]
            if len(page) == _PAGE and time.monotonic() > end:
                complete = False
                break
        with self._lock:
            self._texts[needle] = (position, frozenset(found))
            while len(self._texts) > _MOST_TEXTS:
                self._texts.popitem(last=False)
        return found, complete

    def about(self, name: str) -> list[tuple[Row, Mapping[str, Any]]]:
        """This user's entries that name an event, a call or an approval, with their rows; oldest first."""
        found = ((self._row(position, entry), entry) for position, entry in entries_about(self._store, name))
        return [(row, entry) for row, entry in found if row is not None]

    def entry(self, row: Row) -> Mapping[str, Any]:
        """The entry whole; an audit entry never goes away."""
        return self._store.audit_since(row.position - 1, 1)[0][1]

    def entries(self, rows: Sequence[Row]) -> Iterator[Mapping[str, Any]]:
        """The entries of many rows, oldest first, read page by page."""
        at = 0
        while at < len(rows):
            wanted = {row.position for row in rows[at : at + _PAGE]}
            page = self._store.audit_since(rows[at].position - 1, _PAGE)
            read = [entry for place, entry in page if place in wanted]
            yield from read
            at += max(1, len(read))


def _words(entry: Mapping[str, Any]) -> Iterator[str]:
    yield from (str(target) for target in entry.get("targets") or ())
    for name in _TEXTS:
        value = entry.get(name)
        if isinstance(value, str):
            yield value
