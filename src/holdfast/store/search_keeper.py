"""Threads that keep the index and the vectors up to date, for processes that live long: the daemon, the MCP server."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from holdfast.store.search import Search

_LONGEST_PAUSE = 30.0
_SCRUB_AFTER = 60.0
_MEANING_EVERY = 2.0
_LONGEST_MEANING_PAUSE = 300.0


class KeepFresh:
    """`with KeepFresh(search): ...`. Several processes may do this at once; one of them does the work.

    An error is kept in `trouble` and tried again later: searching goes on without a fresh index.
    """

    def __init__(self, search: Search, *, every: float = 0.5, budget: float = 2.0) -> None:
        self._search = search
        self._every = every
        self._budget = budget
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="holdfast-search", daemon=True)
        # By itself, because it waits for an endpoint, and the index must not.
        self._meaning = threading.Thread(target=self._follow_meaning, name="holdfast-meaning", daemon=True)
        self.trouble = ""
        self.meaning_trouble = ""

    def start(self) -> None:
        self._thread.start()
        self._meaning.start()

    def stop(self, patience: float = 5.0) -> None:
        self._stop.set()
        end = time.monotonic() + patience
        self._thread.join(patience)
        self._meaning.join(max(0.0, end - time.monotonic()))
        self._search.close()

    def __enter__(self) -> KeepFresh:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        pause, quiet_since = self._every, time.monotonic()
        while not self._stop.wait(pause):
            try:
                done = self._search.refresh(self._budget)
                self.trouble = ""
            except Exception as error:
                self.trouble = f"{type(error).__name__}: {error}"
                pause = min(_LONGEST_PAUSE, pause * 2)
                continue
            pause = 0.0 if done.behind else self._every
            if done.indexed or done.busy:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > _SCRUB_AFTER:
                self._tidy()
                quiet_since = time.monotonic()

    def _follow_meaning(self) -> None:
        """Does nothing but look at a setting, unless search by meaning is on or vectors are left of it."""
        pause = every = min(_MEANING_EVERY, 4 * self._every)
        while not self._stop.wait(pause):
            try:
                done = self._search.meaning.follow(self._budget)
                self.meaning_trouble = ""
                pause = 0.0 if done.behind else every
            except Exception as error:
                self.meaning_trouble = f"{type(error).__name__}: {error}"
                pause = min(_LONGEST_MEANING_PAUSE, max(pause, every) * 2)

    def _tidy(self) -> None:
        """While nothing happens: what deleted sessions left in the index's files goes for good."""
        try:
            if self._search.status().removed:
                self._search.scrub()
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"
