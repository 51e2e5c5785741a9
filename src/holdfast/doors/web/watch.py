"""Sees what any process writes into the store, and tells the open pages: one thread, whatever the number of pages.

Hooks, the daemon and terminals work on the same store. Asking SQLite whether anything was committed costs microseconds;
only then is it looked at what.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.core.keys import SessionKey
from holdfast.doors.web.catching_up import transcript_event
from holdfast.doors.web.entry import device_shape
from holdfast.doors.web.live_shapes import QueuedShape
from holdfast.doors.web.thread_view import health_shape, pending_of, thread_row
from holdfast.store.interface import Approval, EventRecord, Session, Store
from holdfast.store.orders import OPERATOR

if TYPE_CHECKING:
    from holdfast.doors.web.server import Server

POLL_SECONDS = 0.1
EXPIRE_SECONDS = 5.0
CONFIG_SECONDS = 1.0
AT_ONCE = 500
QUIET_SECONDS = 0.5
"""A thread's row and health are told this often at most, however much happens in it."""
_SESSIONS = 100
_QUEUE = "queue:"


class Watch:
    """`start` once; `look` when something is known to have happened."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._hurry = threading.Event()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._revision = -1
        self._seq = 0
        self._pending: dict[str, Approval] = {}
        self._rows: dict[str, Session] = {}
        self._counts: Counter[SessionKey] = Counter()
        self._dirty: dict[str, bool] = {}
        self._told: dict[str, float] = {}
        self._queues: dict[str, list[QueuedShape]] = {}
        self._config: Any = None
        self._looked_at_config = self._expired = 0.0

    def start(self) -> None:
        """What is there now is known; everything behind it is news."""
        self._begin()
        self._thread = threading.Thread(target=self._run, name="holdfast-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._hurry.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def look(self) -> None:
        """Now, instead of at the next round."""
        self._hurry.set()

    def touch(self, session: str) -> None:
        """Something about a session has changed that is not in the store: a run began or ended."""
        self._dirty.setdefault(session, False)
        self._hurry.set()

    # the thread

    def _run(self) -> None:
        trouble = 0
        while not self._end.is_set():
            self._hurry.wait(POLL_SECONDS * min(50, 1 + trouble * 10))
            self._hurry.clear()
            if self._end.is_set():
                return
            try:
                self._round()
                trouble = 0
            except Exception as error:
                trouble += 1
                if trouble == 1 and not self._end.is_set():
                    print("the page's watch could not look into the store:", file=sys.stderr)
                    traceback.print_exception(error, file=sys.stderr)

    def _begin(self) -> None:
        store = self._server.control.store
        self._revision = store.revision()
        self._seq = last_seq(store)
        self._server.hub.reached(self._seq)
        self._pending = {approval.id: approval for approval in store.approvals(status="pending", limit=1000)}
        self._rows = {row.id.session: row for row in store.sessions(limit=_SESSIONS)}
        self._counts = pending_of(self._server.control)
        self._queues = _queues(store)
        self._config = self._server.control.config
        self._server.notifier.start()

    def _round(self) -> None:
        now = time.monotonic()
        control = self._server.control
        if now - self._looked_at_config > CONFIG_SECONDS:
            self._looked_at_config = now
            self._look_at_config()
        if now - self._expired > EXPIRE_SECONDS:
            self._expired = now
            control.approvals.expire_due()
        revision = control.store.revision()
        if revision != self._revision:
            self._revision = revision
            self._look_at_events()
            self._look_at_approvals()
            self._look_at_sessions()
            self._look_at_queues()
            if self._server.devices.load():
                devices = [dict(device_shape(device)) for device in self._server.devices.all()]
                for device in devices:
                    del device["current"]
                self._server.hub.publish("devices", {"devices": devices})
        self._tell_threads(now)

    # what may have happened

    def _look_at_events(self) -> None:
        store, hub = self._server.control.store, self._server.hub
        records = store.events_since(self._seq, AT_ONCE)
        if len(records) == AT_ONCE:
            # An import, not a conversation: nobody wants to see it go by.
            before, self._seq = self._seq, last_seq(store, records[-1].seq)
            hub.publish("records", {"events": self._seq - before}, position=self._seq)
            for record in records:
                self._dirty[record.where.session] = True
            return
        for record in records:
            self._seq = record.seq
            self._tell_record(record)
            hub.reached(record.seq)

    def _tell_record(self, record: EventRecord) -> None:
        where = record.where
        if where.thread == OPERATOR:
            return
        measured = record.kind in ("context_measured", "compacted", "session_started")
        self._dirty[where.session] = self._dirty.get(where.session, False) or measured
        event = transcript_event(self._server, record)
        if event is not None:
            self._server.hub.publish("transcript", event, position=record.seq)

    def _look_at_approvals(self) -> None:
        server, store = self._server, self._server.control.store
        waiting = {approval.id: approval for approval in store.approvals(status="pending", limit=1000)}
        for approval_id, approval in reversed(waiting.items()):
            if approval_id not in self._pending:
                server.hub.publish("approval", server.cards.card(approval))
                server.notifier.look()
                self._dirty.setdefault(approval.where.session, False)
        for approval_id in self._pending.keys() - waiting.keys():
            settled = store.approval(approval_id)
            if settled is not None:
                server.hub.publish("approval", server.cards.card(settled))
                self._dirty.setdefault(settled.where.session, False)
        self._pending = waiting
        self._counts = Counter(approval.where.key for approval in waiting.values())

    def _look_at_sessions(self) -> None:
        rows = {row.id.session: row for row in self._server.control.store.sessions(limit=_SESSIONS)}
        for name, row in rows.items():
            known = self._rows.get(name)
            if known is None or known.version != row.version:
                measured = known is None or known.measured_at != row.measured_at
                self._dirty[name] = self._dirty.get(name, False) or measured
        self._rows = rows

    def _look_at_queues(self) -> None:
        queues = _queues(self._server.control.store)
        for prefix in queues.keys() | self._queues.keys():
            if queues.get(prefix) != self._queues.get(prefix):
                _, _, agent, thread = prefix.split(":", 3)
                place = {"thread": thread, "agent": agent, "session": ""}
                self._server.hub.publish("queue", {**place, "queue": queues.get(prefix, [])})
        self._queues = queues

    def _look_at_config(self) -> None:
        config = self._server.control.config
        if config is not self._config:
            self._config = config
            self._server.hub.publish("config", {"problems": [problem.told().to_dict() for problem in config.problems]})

    # what is told of threads

    def _tell_threads(self, now: float) -> None:
        due = [name for name in list(self._dirty) if now - self._told.get(name, 0.0) >= QUIET_SECONDS]
        for name in due:
            measured = self._dirty.pop(name)
            self._told[name] = now
            row = self._server.control.store.session(name)
            if row is not None and row.id.thread != OPERATOR:
                self._tell_thread(row, measured)
        if len(self._told) > 10 * _SESSIONS:
            self._told = {name: at for name, at in self._told.items() if now - at < QUIET_SECONDS}

    def _tell_thread(self, row: Session, measured: bool) -> None:
        server = self._server
        busy = server.desk.is_busy(row.id.key)
        server.hub.publish("thread", thread_row(server.control, row, self._counts[row.id.key], busy=busy))
        if measured:
            health = health_shape(server.control, row)
            if health is not None:
                server.hub.publish("health", health)


def last_seq(store: Store, known: int = 0) -> int:
    """The number of the newest event, found in a few steps: the store only tells what comes behind a number."""
    step = 1024
    low = known
    while store.events_since(low + step, 1):
        low += step
        step *= 2
    high = low + step
    while low < high:
        middle = (low + high) // 2
        found = store.events_since(middle, 1)
        if found:
            low = max(middle + 1, found[0].seq)
        else:
            high = middle
    return low


def _queues(store: Store) -> dict[str, list[QueuedShape]]:
    """Messages that wait, by thread; a note's name ends in its time and id."""
    found: dict[str, list[QueuedShape]] = {}
    kept: Mapping[str, Any] = store.notes(_QUEUE)
    for name in sorted(kept):
        prefix = name.rsplit(":", 2)[0]
        with contextlib.suppress(KeyError, TypeError):
            found.setdefault(prefix, []).append({"id": str(kept[name]["id"]), "text": str(kept[name]["text"])})
    return found


def on_start(server: Server) -> None:
    server.watch.start()
    server.at_close(server.watch.stop)


ROUTES: Sequence[Any] = ()
