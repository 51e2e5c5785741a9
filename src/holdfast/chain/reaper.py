"""Follows up sessions that got stuck on their way to the seal: at start, and every five minutes (SC3)."""

from __future__ import annotations

import threading
from collections.abc import Callable

from holdfast.chain.sealer import Sealer

INTERVAL_SECONDS = 300.0


class Reaper:
    """`start` in a process that stays, as the daemon does. Nothing it meets ends it.

    Where there is no daemon, whoever sends the next message to a stuck session hurries its seal (`Sealer.hurry`).
    """

    def __init__(
        self,
        sealer: Sealer,
        *,
        interval: float = INTERVAL_SECONDS,
        on_error: Callable[[Exception], None] = lambda error: None,
    ) -> None:
        self._sealer = sealer
        self.interval = interval
        self._on_error = on_error
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="reaper", daemon=True)
            self._thread.start()

    def stop(self, seconds: float = 5.0) -> None:
        """Let it end; it is never waited for longer than this."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def run_once(self) -> None:
        try:
            self._sealer.follow_up()
        except Exception as error:  # the store may be away for a while; the next round tries again
            self._on_error(error)

    def _run(self) -> None:
        self.run_once()
        while not self._stopping.wait(self.interval):
            self.run_once()
