"""The session chain as hosts, runtime and doors use it: one object, put together from a `Control`.

At the start of a session `open`, before a turn `begin_turn`, at its end `end_turn`; what the plane answers goes through
`heed`, which takes note of a wanted seal. Everything else follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.chain.archive import Archive
from holdfast.chain.arrivals import Arrival, Opening
from holdfast.chain.bootstrap import Packet, bootstrap_packet
from holdfast.chain.digests import Digests
from holdfast.chain.finalising import Finalising
from holdfast.chain.inheritance import Inheritance
from holdfast.chain.late_events import keep_late
from holdfast.chain.lineage import predecessors
from holdfast.chain.minutes import MinutesModel
from holdfast.chain.minutes_model import minutes_model
from holdfast.chain.reaper import Reaper
from holdfast.chain.sealer import FINALISE_SECONDS, Sealer, Sealing
from holdfast.chain.session_rows import existing
from holdfast.chain.threads import Threads
from holdfast.chain.turns import close_turn, open_turn
from holdfast.chain.unsealing import unseal
from holdfast.control import OWN_MCP_SERVER, Control, folds_case
from holdfast.core.events import Event
from holdfast.core.keys import SessionId, SessionKey
from holdfast.core.memory import MemoryFacts
from holdfast.core.messages import Message
from holdfast.core.outcome import Outcome
from holdfast.plane import SEALED
from holdfast.store.interface import SealedError, Session
from holdfast.store.memory_files import MemoryFiles

_TRIES = 5
_BEGINNINGS = ("session_started", "prompt_submitted", "tool_calling")
OWN_HOST = "holdfast"


@dataclass(frozen=True, slots=True)
class Begun:
    """A session that work can begin in."""

    opening: Opening
    packet: Packet | None = None
    """What its model must be told, when there are sessions before it and it has not begun yet."""

    @property
    def session(self) -> Session:
        return self.opening.session

    @property
    def hint(self) -> Message | None:
        return self.opening.hint


class Chain:
    """Holds nothing that is not in the store, so any number of them may work on one.

    `minutes` writes minutes of sealed sessions instead of the configured model.
    """

    def __init__(
        self,
        control: Control,
        *,
        minutes: MinutesModel | None = None,
        finalise_seconds: float = FINALISE_SECONDS,
    ) -> None:
        self._control = control
        self._store = control.store
        self.digests = Digests(control.store, (lambda: minutes) if minutes else (lambda: minutes_model(control)))
        self.archive = Archive(control.home.archive, control.store, self.digests, clock=control.clock)
        self._finalising = Finalising(self.digests, self.archive)
        self.sealer = Sealer(
            control.store,
            self._finalising,
            clock=control.clock,
            new_id=control.new_id,
            finalise_seconds=finalise_seconds,
        )
        self.threads = Threads(
            control.store, self.sealer, clock=control.clock, new_id=control.new_id, user=control.user
        )
        self._inheritance = Inheritance(control.store, self._facts, lambda: control.settings.runtime.memory)

    # sessions

    def open(self, arrival: Arrival) -> Begun:
        """Where a host's session belongs: at its start, and for any event of it. Cheap when it is known."""
        return self._begun(self.threads.open(arrival))

    def next_session(self, key: SessionKey, row: Session) -> Begun:
        """The live session of a thread, else `row` as its next one: for the own runtime."""
        session = self.threads.next_session(key, row)
        return self._begun(Opening(session, "new" if session.id == row.id else "known"))

    def _begun(self, opening: Opening) -> Begun:
        session = self._inheritance.take_over(opening.session)
        opening = replace(opening, session=session)
        return Begun(opening, self.packet(session) if self._is_fresh(session) else None)

    def _is_fresh(self, session: Session) -> bool:
        """Whether nothing has begun in it yet: what it must be told has not reached a model."""
        if session.number == 1 and not session.extra.get("continues"):
            return False
        return not self._store.events(session.id.session, limit=1, kinds=_BEGINNINGS)

    def packet(self, session: Session) -> Packet | None:
        """What a session's model is told of those before it; the same text each time. None for the first."""
        before = predecessors(self._store, session)
        if not before:
            return None
        language = self._control.settings.runtime.language
        return bootstrap_packet(
            session,
            before,
            self.digests.of(before[-1]),
            language=None if language == "auto" else language,
            server="" if session.host == OWN_HOST else OWN_MCP_SERVER,
        )

    # turns

    def begin_turn(self, arrival: Arrival, invocation: str) -> Begun:
        """A message for a host's session: where it belongs, with its turn opened so that no seal can cut it."""
        for _ in range(_TRIES):
            begun = self.open(arrival)
            if begun.session.extra.get("seal_wanted"):
                # Its last turn ended without a word, or waited for an answer that has come: now is the time.
                sealing = self.sealer.try_seal(begun.session.id)
                if sealing.status == "sealed":
                    continue
            try:
                session = self.turn_opened(begun.session.id, invocation, sole=True)
            except SealedError:
                continue
            return replace(begun, opening=replace(begun.opening, session=session))
        raise SealedError(f"session {arrival.session!r} of {arrival.host} was sealed {_TRIES} times in a row")

    def turn_opened(self, where: SessionId, invocation: str, *, sole: bool = False) -> Session:
        """Raises `SealedError` when the session is sealed or about to be; see `turns.open_turn`."""
        return open_turn(self._store, where.main(), invocation, self._control.clock(), sole=sole)

    def end_turn(self, where: SessionId, invocation: str) -> Sealing | None:
        """The agent has stopped: a wanted seal is carried out now; None when none is wanted."""
        session = close_turn(self._store, where.main(), invocation)
        if session.state == "active" and not session.extra.get("seal_wanted"):
            return None
        return self.sealer.try_seal(where)

    def heed(self, event: Event, outcome: Outcome) -> tuple[Message, ...]:
        """Take note of what an answer means for the chain; what the user should be told besides.

        A wanted seal is remembered for the end of the turn. A report that came after the seal is kept for the next
        session.
        """
        if outcome.deciding is not None and outcome.deciding.why.code == SEALED.code:
            keep_late(self._store, event)
        if outcome.seal is None:
            return ()
        warning = self.sealer.want(event.where, outcome.seal.reason)
        return (warning,) if warning is not None else ()

    # people

    def hand_off(self, where: SessionId, *, by: str) -> Sealing:
        """Seal a session because a person says so, for another to go on with."""
        return self.sealer.seal_now(where, by=by, reason="handoff")

    def unseal(self, where: SessionId, *, by: str) -> Session:
        """Go on in the last session of a chain after all; raises `UnsealError`."""
        at, event_id = self._control.clock(), self._control.new_id()
        return unseal(self._store, self._finalising, where, by=by, at=at, event_id=event_id)

    def preview(self, session: Session) -> Packet:
        """What the session after this one would be told."""
        coming = replace(session, id=SessionId(session.id.key, f"{session.id.session}.next"), number=session.number + 1)
        before = [*predecessors(self._store, session), existing(self._store, session.id, "a preview")]
        return bootstrap_packet(coming, before, self.digests.of(session))

    def reaper(self, on_error: Callable[[Exception], None] = lambda error: None) -> Reaper:
        """To be started by a process that stays."""
        return Reaper(self.sealer, on_error=on_error)

    def _facts(self, vault: str) -> MemoryFacts | None:
        settings = self._control.settings.runtime.memory
        if not settings.enabled:
            return None
        return MemoryFiles(settings.max_chars, folds_case=folds_case(Path(vault))).facts(vault)
