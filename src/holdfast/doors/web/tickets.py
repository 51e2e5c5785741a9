"""Addresses that work once: a link that the browser follows by itself carries no header, so it carries a ticket."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any

from holdfast.core.messages import Phrase
from holdfast.doors.web.routes import ApiError

_USED = Phrase(
    "page.ticket_used",
    "this link works once, within a minute; ask for a new one on the page",
    "此链接在一分钟内有效且只能使用一次；请在页面上重新获取",
)


SECONDS = 60.0
MOST_WAITING = 200


class Tickets:
    """Given to whoever has entered, for one download; taken by whoever follows the link, within a minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[float, str, Any]] = {}

    def give(self, what_for: str, data: Any) -> str:
        ticket = secrets.token_urlsafe(32)
        with self._lock:
            self._drop_old()
            self._waiting[ticket] = (self._clock() + SECONDS, what_for, data)
        return ticket

    def take(self, what_for: str, ticket: str) -> Any:
        """What it was given for; raises `ApiError` for one that is used, old, made up, or for something else."""
        with self._lock:
            self._drop_old()
            known = self._waiting.pop(ticket, None)
        if known is None or known[1] != what_for:
            raise ApiError(410, "ticket_used", _USED())
        return known[2]

    def _drop_old(self) -> None:
        now = self._clock()
        kept = [(ticket, known) for ticket, known in self._waiting.items() if now < known[0]]
        self._waiting = dict(kept[-MOST_WAITING:])
