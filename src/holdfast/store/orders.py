"""What a person has ordered for everything that happens now: panic, or a pause of one host.

Small files in the home, because they are asked for at every call, must hold in every process at once, and must be
there even if the database is not.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.core.events import StandingOrders
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.atomic_file import write_atomic
from holdfast.store.home import Home
from holdfast.store.interface import Change, Session, Store

PANIC_FILE = "panic"
PAUSE_FILE = "paused-"
OPERATOR = "operator"
"""The session in whose audit a person's own orders stand."""


@dataclass(frozen=True, slots=True)
class Pause:
    host: str
    until: float


class Orders:
    """`of(host)` is asked at every call; the others are for people."""

    def __init__(self, home: Home) -> None:
        self._run = home.run
        self._panic = str(home.run / PANIC_FILE)

    def of(self, host: str, now: float | None = None) -> StandingOrders:
        if os.path.lexists(self._panic):
            return "panic"
        pause = self._read(host)
        return "paused" if pause is not None and (time.time() if now is None else now) < pause.until else ""

    def panic(self) -> bool:
        """True when it was not ordered already."""
        fresh = not os.path.lexists(self._panic)
        self._run.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(self._run / PANIC_FILE, b"everything is stopped; `holdfast panic off` ends it\n")
        return fresh

    def calm(self) -> bool:
        """True when there was panic."""
        there = os.path.lexists(self._panic)
        (self._run / PANIC_FILE).unlink(missing_ok=True)
        return there

    def pause(self, host: str, until: float) -> None:
        self._run.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(self._run / f"{PAUSE_FILE}{host}", json.dumps({"until": until}).encode())

    def resume(self, host: str) -> bool:
        path = self._run / f"{PAUSE_FILE}{host}"
        there = path.exists()
        path.unlink(missing_ok=True)
        return there

    def pauses(self, now: float) -> list[Pause]:
        """Those that still hold."""
        files = sorted(self._run.glob(f"{PAUSE_FILE}*")) if self._run.is_dir() else []
        found = (self._read(path.name.removeprefix(PAUSE_FILE)) for path in files)
        return [pause for pause in found if pause is not None and now < pause.until]

    def _read(self, host: str) -> Pause | None:
        """A pause that cannot be read is none: in doubt Holdfast stays on guard."""
        try:
            with open(f"{self._run}/{PAUSE_FILE}{host}", "rb") as file:
                return Pause(host, float(json.load(file)["until"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None


def put_on_record(store: Store, *, what: str, by: str, at: float, event_id: str, more: Mapping[str, Any]) -> None:
    """A person's order, in an audit of its own."""
    where = SessionId(SessionKey(by, "holdfast", OPERATOR), OPERATOR)
    store.open_session(Session(where, host="holdfast", vault="", started_at=at, title="Orders of the user"))
    entry = {
        "eventId": event_id,
        "sessionId": OPERATOR,
        "user": by,
        "mode": "agent",
        "decision": "allow",
        "permissionDomain": "",
        "targets": [],
        "rulePattern": "",
        "timestamp": at,
        "decidedBy": by,
        "what": what,
        **more,
    }
    store.commit(Change(where, audit=(entry,)))
