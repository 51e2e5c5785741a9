"""Actors that share a store, one call at a time in an order that the test chooses, and that can die before any call."""

from __future__ import annotations

import threading
from collections.abc import Callable

DEADLINE = 20.0


class Crash(BaseException):
    """The actor's process has died; nothing in the product may catch this."""


class Actor:
    """Runs `work(store)`; every call that `work` makes on the store waits for `step`."""

    def __init__(self, store: object, work: Callable[[object], None]) -> None:
        self._go = threading.Semaphore(0)
        self._paused = threading.Semaphore(0)
        self._dies = False
        self.done = False
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(SteppedStore(store, self._gate), work), daemon=True)
        self._thread.start()
        self._await()

    def _run(self, store: object, work: Callable[[object], None]) -> None:
        try:
            work(store)
        except Crash:
            pass
        except BaseException as error:
            self.error = error
        self.done = True
        self._paused.release()

    def _gate(self) -> None:
        self._paused.release()
        assert self._go.acquire(timeout=DEADLINE), "the test let an actor wait for ever"
        if self._dies:
            raise Crash

    def _await(self) -> None:
        assert self._paused.acquire(timeout=DEADLINE), "an actor hangs"
        if self.done and self.error is not None:
            raise self.error

    def step(self) -> None:
        """Let it make one call and go on to the next."""
        if not self.done:
            self._go.release()
            self._await()

    def crash(self) -> None:
        """It dies before its next call."""
        self._dies = True
        while not self.done:
            self.step()

    def finish(self) -> None:
        while not self.done:
            self.step()


class SteppedStore:
    """A store whose every method waits for its turn first."""

    def __init__(self, store: object, gate: Callable[[], None]) -> None:
        self._store = store
        self._gate = gate

    def __getattr__(self, name: str):
        method = getattr(self._store, name)

        def stepped(*args, **kwargs):
            self._gate()
            return method(*args, **kwargs)

        return stepped
