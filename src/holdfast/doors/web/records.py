"""What the records' endpoints share: one control, and what is kept beside it while a server runs."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from holdfast.chain.chain import Chain
from holdfast.chain.digests import all_events
from holdfast.chain.embeddings import search_of
from holdfast.chain.reach import UserReach
from holdfast.chain.recall import Recall
from holdfast.chain.views import InvocationNote, invocations
from holdfast.control import Control
from holdfast.core.messages import Message, Phrase
from holdfast.doors.web.audit_rows import AuditRows
from holdfast.doors.web.jobs import Jobs
from holdfast.doors.web.routes import ApiError, not_found
from holdfast.store.config_file import Inline
from holdfast.store.config_problems import ConfigError, ConfigProblem
from holdfast.store.config_write import ConfigWriteError
from holdfast.store.interface import Session, Store
from holdfast.store.search import Search

_INVALID = Phrase("page.invalid", "{key}: {problem}", "{key}：{problem}")


Answer = dict[str, Any]


class RequestNotes:
    """The requests of the sessions that were read last: made from a whole session, so kept until it goes on."""

    MOST = 8

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[int, Sequence[InvocationNote]]] = OrderedDict()

    def of(self, session: str, events: int) -> Sequence[InvocationNote]:
        """`events` is the number of its last event now."""
        with self._lock:
            known = self._kept.get(session)
        if known is None or known[0] != events:
            known = (events, invocations(all_events(self._store, session)))
        with self._lock:
            self._kept[session] = known
            self._kept.move_to_end(session)
            while len(self._kept) > self.MOST:
                self._kept.popitem(last=False)
        return known[1]


class Records:
    """Safe under threads; `vault` is the project that the server was started in. `close` when done."""

    def __init__(self, control: Control, vault: str = "", inline: Inline | None = None) -> None:
        self.control = control
        self.inline = inline or Inline()
        self.store = control.store
        self.vault = vault
        self.chain = Chain(control)
        self.reach = UserReach(control.store, control.user)
        self.recall = Recall(control.store, self.chain.digests, None, clock=control.clock)
        self.audit = AuditRows(control.store, control.user)
        self.jobs = Jobs()
        self.notes = RequestNotes(control.store)
        self._lock = threading.Lock()
        self._search: Search | None = None

    def search(self) -> Search:
        """Opened with the first search."""
        with self._lock:
            if self._search is None:
                self._search = search_of(self.store, self.control.home)
            return self._search

    def session(self, name: str) -> Session:
        """The same answer for what never was and for what is another user's: raises `ApiError`."""
        row = self.store.session(name)
        if row is None or not self.reach.sees(row):
            raise not_found("session", name)
        return row

    def close(self) -> None:
        self.jobs.close()
        with self._lock:
            if self._search is not None:
                self._search.close()
                self._search = None


def problem_data(problem: ConfigProblem) -> Answer:
    return {
        "file": problem.source,
        "line": problem.line,
        "column": problem.column,
        "key": problem.key,
        "message": problem.message.to_dict(),
    }


def refusal(error: ConfigError | ConfigWriteError) -> ApiError:
    """A change of the configuration that was not made: what is wrong with it, place by place."""
    if isinstance(error, ConfigWriteError):
        return ApiError(409, "not_written", error.message)
    problems = [problem_data(problem) for problem in error.problems]
    first = error.problems[0]
    return invalid(first.key, first.message, body={"problems": problems})


def invalid(key: str, problem: Message, *, body: Answer | None = None) -> ApiError:
    """A value that a setting cannot have."""
    return ApiError(422, "invalid_configuration", _INVALID(key=key, problem=problem), body=body)
