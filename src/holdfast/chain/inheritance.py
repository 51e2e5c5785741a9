"""What a session hands on to the next one of its thread: the anchors, and the duty to read them first (MB8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.chain.late_events import deliver_late
from holdfast.chain.session_rows import Changes, change_session, existing, with_extra
from holdfast.core.memory import MemoryFacts, required_anchors
from holdfast.core.settings import MemorySettings
from holdfast.store.interface import Change, Session, StateConflict, StateRow, Store, StoreError

INHERITS = "inherits"
"""In a session's extra: the predecessor whose legacy has not been taken over yet."""
_GATE = "recovery_gate"
_TRIES = 50

Facts = Callable[[str], MemoryFacts | None]
"""What a vault's memory bank looks like now."""


class Inheritance:
    """Taking over is done once, however often it is asked for, and also after a crash in the middle."""

    def __init__(self, store: Store, facts: Facts, settings: Callable[[], MemorySettings]) -> None:
        self._store = store
        self._facts = facts
        self._settings = settings

    def take_over(self, session: Session) -> Session:
        """The anchors of the predecessor, recovery as after a compaction, and events that came too late for it."""
        before = session.extra.get(INHERITS)
        if not before:
            return session
        old = self._store.session(str(before))
        if old is not None:
            self._arm(session, self._anchors(old))
        deliver_late(self._store, session)

        def step(row: Session) -> Changes | None:
            return {"extra": with_extra(row, **{INHERITS: None})} if INHERITS in row.extra else None

        return change_session(self._store, session.id, "an inheritance", step)

    def _anchors(self, old: Session) -> tuple[list[str], int]:
        gate: Any = self._store.state(old.id).data.get(_GATE, {})
        # What was still to be read counts as known: the old session may have ended in recovery itself.
        known = list(dict.fromkeys((*gate.get("anchors", ()), *gate.get("all", ()))))
        return [str(path) for path in known], int(gate.get("compactions", 0))

    def _arm(self, session: Session, legacy: tuple[list[str], int]) -> None:
        anchors, compactions = legacy
        settings = self._settings()
        if not settings.enabled:
            return
        facts = self._facts(session.vault) if session.vault else None
        unread = required_anchors(anchors, facts) if settings.recovery else []
        if not unread and not anchors:
            return
        for _ in range(_TRIES):
            existing(self._store, session.id, "an inheritance")
            row = self._store.state(session.id)
            if _GATE in row.data:
                return  # it was taken over before, or the session has moved on by itself
            gate: dict[str, Any] = {"anchors": anchors, "compactions": compactions + 1}
            if unread:
                gate.update(unread=unread, all=unread)
            try:
                self._store.commit(Change(session.id, state=StateRow(row.version, {**row.data, _GATE: gate})))
                return
            except StateConflict:
                continue
        raise StoreError(f"the state of session {session.id.session!r} changed {_TRIES} times in a row")
