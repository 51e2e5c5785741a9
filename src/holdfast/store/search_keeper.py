"""A thread that keeps the index up to date, for processes that live long: the daemon, the page, the MCP server."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from holdfast.store.search import Search

_LONGEST_PAUSE = 30.0
_SCRUB_AFTER = 60.0


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
        self.trouble = ""

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience: float = 5.0) -> None:
        self._stop.set()
        self._thread.join(patience)
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

    def _tidy(self) -> None:
        """While nothing happens: what deleted sessions left in the index's files goes for good."""
        try:
            if self._search.status().removed:
                self._search.scrub()
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"
