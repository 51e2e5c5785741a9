"""Ends a session cleanly: active, sealing, sealed, each step by compare-and-set (SC3).

A wanted seal waits for the end of the turn and for open approvals. Between `sealing` and `sealed` the session is
finalised, in bounded time: what takes longer, or fails, leaves a mark and the session is sealed all the same. A note
made before the first step says what is being done, so a process that dies anywhere is followed up by the reaper.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from holdfast.chain.breaker import Breaker
from holdfast.chain.on_record import put_on_record
from holdfast.chain.session_rows import Changes, change_session, existing, with_extra
from holdfast.chain.turns import close_all_turns, close_silent_turns, open_turns
from holdfast.core.keys import SessionId
from holdfast.core.messages import Message, Phrase
from holdfast.core.verdict import SealReason
from holdfast.store.interface import PendingApproval, Session, Store

FINALISE_SECONDS = 30.0
SILENT_TURN_SECONDS = 6 * 3600.0
"""A turn of which nothing was heard for so long was left open by a process that is gone."""
NOTE = "seal:"
BY_POLICY = "policy"
AUTOMATIC: frozenset[str] = frozenset({"threshold", "budget", "compressions"})

WAITS_FOR_TURN = Phrase(
    "sealer.waits_for_turn",
    "A turn is under way; the session is sealed when it ends.",
    "当前回合仍在进行，结束后封存会话。",
)
WAITS_FOR_APPROVAL = Phrase(
    "sealer.waits_for_approval",
    "An approval is open; the session is sealed once it is answered.",
    "有审批待答复，答复后封存会话。",
)
SEALED = Phrase("sealer.sealed", "Session {session} is sealed.", "会话 {session} 已封存。")
IN_HAND = Phrase("sealer.in_hand", "Session {session} is being sealed.", "会话 {session} 正在封存。")
NOT_WANTED = Phrase("sealer.not_wanted", "Nobody asked to seal session {session}.", "没有封存会话 {session} 的请求。")

SealStatus = Literal["sealed", "sealing", "waits", "refused", "not_wanted"]


class Finaliser(Protocol):
    """What has to be made of a session at its end."""

    def digest(self, session: Session) -> str:
        """Make and keep the digest while the session is sealing; returns a mark when it is not all it should be."""
        ...

    def short_digest(self, session: Session) -> None:
        """Make and keep what needs neither network nor patience: for a seal that could not wait."""
        ...

    def archive(self, session: Session) -> None:
        """Write the sealed session's archive; safe to repeat."""
        ...

    def forget(self, session: Session) -> None:
        """Take digest and archive of an unsealed session away."""
        ...

    def barren(self, session: Session) -> bool:
        """Whether nothing to speak of happened in it."""
        ...


@dataclass(frozen=True, slots=True)
class Sealing:
    """What came of an attempt."""

    session: Session
    status: SealStatus
    message: Message
    warning: Message | None = None
    """For the user: the breaker has opened."""


class Sealer:
    """Safe under several processes; whoever comes first does the work, and the others see it done."""

    def __init__(
        self,
        store: Store,
        finaliser: Finaliser,
        *,
        clock: Callable[[], float],
        new_id: Callable[[], str],
        finalise_seconds: float = FINALISE_SECONDS,
    ) -> None:
        self._store = store
        self._finaliser = finaliser
        self._clock = clock
        self._new_id = new_id
        self.finalise_seconds = finalise_seconds

    # asking for a seal

    def want(self, where: SessionId, reason: SealReason, *, by: str = BY_POLICY) -> Message | None:
        """Note that the session should be sealed when it can; a message when the breaker says no."""
        where = where.main()
        session = existing(self._store, where, "a wish to seal")
        failures = Breaker(self._store, where.key).failures()
        if reason in AUTOMATIC and failures.open:
            return failures.message(where.session)
        if session.state != "active" or _wanted(session):
            return None
        wish: dict[str, Any] = {"id": self._new_id(), "reason": reason, "by": by, "at": self._clock()}
        # Before the wish itself, under a name of its own: whoever tidies up an earlier seal must not strike this one.
        note = _note(where.session, wish["id"])
        self._store.note(note, wish["at"])
        row = change_session(self._store, where, "a wish to seal", lambda row: _with_wish(row, wish))
        if (_wanted(row) or {}).get("id") != wish["id"]:
            self._store.note(note, None)
        return None

    def seal_now(
        self, where: SessionId, *, by: str, reason: SealReason = "manual", turn_is_over: bool = False
    ) -> Sealing:
        """A person's own wish: it closes the breaker, and still waits for a live turn and for open approvals.

        `turn_is_over` says that whoever worked here is gone, so that a turn it left open does not count.
        """
        where = where.main()
        Breaker(self._store, where.key).reset()
        if turn_is_over:
            close_all_turns(self._store, where)
        self.want(where, reason, by=by)
        sealing = self.try_seal(where)
        put_on_record(
            self._store,
            where,
            "session_seal_asked",
            by=by,
            at=self._clock(),
            event_id=self._new_id(),
            reason=reason,
            status=sealing.status,
        )
        return sealing

    # sealing

    def try_seal(self, where: SessionId) -> Sealing:
        """Seal it if that is wanted and nothing stands in the way; otherwise say what does."""
        where = where.main()
        session = existing(self._store, where, "a seal")
        if session.state == "active":
            held = self._held_back(session)
            if held is not None:
                return held
            try:
                session = change_session(self._store, where, "a seal", self._begin, quiet=True)
            except PendingApproval:
                return Sealing(session, "waits", WAITS_FOR_APPROVAL())
            if session.state == "active":  # a turn was opened, or the wish withdrawn, just now
                return self._held_back(session) or Sealing(session, "waits", WAITS_FOR_TURN())
            return self._finish(session)
        if self._is_stuck(session):
            return self._finish(session, hurry="finalising was cut off")
        return _seen(session)

    def _is_stuck(self, session: Session) -> bool:
        since = session.sealing_since or 0.0
        return session.state == "sealing" and self._clock() - since > self.finalise_seconds

    def _held_back(self, session: Session) -> Sealing | None:
        wish = _wanted(session)
        if wish is None:
            return Sealing(session, "not_wanted", NOT_WANTED(session=session.id.session))
        failures = Breaker(self._store, session.id.key).failures()
        if failures.open and wish["reason"] in AUTOMATIC:
            return Sealing(session, "refused", failures.message(session.id.session))
        if open_turns(session):
            return Sealing(session, "waits", WAITS_FOR_TURN())
        return None

    def _begin(self, row: Session) -> Changes | None:
        if row.state != "active" or open_turns(row) or _wanted(row) is None:
            return None
        # An attempt is known by a name of its own: two of them may begin at the same tick of the clock.
        return {"state": "sealing", "sealing_since": self._clock(), "extra": with_extra(row, sealing=self._new_id())}

    def hurry(self, where: SessionId) -> Sealing:
        """Somebody waits for the next session: seal a session that is sealing, without waiting for its finalising."""
        session = existing(self._store, where.main(), "a seal")
        if session.state != "sealing":
            return self.try_seal(where)
        return self._finish(session, hurry="the next session did not wait for finalising")

    # finalising

    def _finish(self, session: Session, *, hurry: str = "") -> Sealing:
        mark = hurry
        if hurry:
            try:
                self._finaliser.short_digest(session)
            except Exception as error:
                mark = f"{hurry}; {_said(error)}"
        else:
            mark = self._finalised_in_time(session)
        try:
            sealed, by_us = self._close(session, mark)
        except PendingApproval:
            return self._reopened(session)
        warning = self._after_seal(sealed, mark) if by_us else None
        return _seen(sealed, warning)

    def _finalised_in_time(self, session: Session) -> str:
        """The mark that finalising leaves; empty when all went well."""
        outcome: list[str] = []

        def work() -> None:
            try:
                outcome.append(self._finaliser.digest(session))
            except Exception as error:
                outcome.append(f"no digest: {_said(error)}")

        # A thread of its own, because what it waits for (a model) may never answer.
        worker = threading.Thread(target=work, name="finalise", daemon=True)
        worker.start()
        worker.join(self.finalise_seconds)
        return outcome[0] if outcome else f"finalising did not end within {self.finalise_seconds:g} s"

    def _close(self, begun: Session, mark: str) -> tuple[Session, bool]:
        """Sealing to sealed, and whether it was us; raises `PendingApproval` when a question came up meanwhile."""
        now = self._clock()
        by_us = False

        def step(row: Session) -> Changes | None:
            nonlocal by_us
            by_us = _same_attempt(row, begun)
            if not by_us:
                return None  # somebody else has sealed it, or it was unsealed since
            wish = _wanted(row) or {"id": "", "reason": "reaped", "by": BY_POLICY}
            return {
                "state": "sealed",
                "ended_at": now,
                "seal_reason": str(wish["reason"]),
                "seal_mark": mark,
                "extra": with_extra(
                    row, seal_wanted=None, sealing=None, sealed_by=str(wish["by"]), sealed_wish=wish["id"]
                ),
                **self._last_health(row),
            }

        return change_session(self._store, begun.id, "a seal", step, quiet=True), by_us

    def _last_health(self, row: Session) -> Changes:
        """The fill that the strategy saw last, where it is newer than what the row has (SC2)."""
        seen: Any = self._store.state(row.id).data.get("session_strategy", {})
        at = seen.get("at")
        if at is None or (row.measured_at is not None and row.measured_at >= at):
            return {}
        return {
            "used": seen.get("used"),
            "window": seen.get("window"),
            "reserve": seen.get("reserve"),
            "exact": bool(seen.get("exact")),
            "measured_at": at,
            "compressions": int(seen.get("compressions", row.compressions)),
        }

    def _reopened(self, begun: Session) -> Sealing:
        """A question is never cut: the session is active again, and sealed later."""

        def step(row: Session) -> Changes | None:
            if not _same_attempt(row, begun):
                return None
            return {"state": "active", "sealing_since": None}

        session = change_session(self._store, begun.id, "an open approval", step)
        return Sealing(session, "waits", WAITS_FOR_APPROVAL()) if session.state == "active" else _seen(session)

    def _after_seal(self, session: Session, mark: str) -> Message | None:
        """Archive it, and count how it went; the breaker's message when it has opened."""
        trouble = self._archived(session) or mark
        if not trouble and session.seal_reason in AUTOMATIC and self._finaliser.barren(session):
            trouble = "the context was full before anything happened; is the model's window set too small?"
        breaker = Breaker(self._store, session.id.key)
        if not trouble:
            breaker.reset()
            return None
        failures = breaker.failed(trouble)
        return failures.message(session.id.session) if failures.open else None

    def _archived(self, session: Session) -> str:
        """Archive it and strike the work off the list; the trouble, when it has to be tried again."""
        try:
            self._finaliser.archive(session)
        except Exception as error:
            return f"not archived: {_said(error)}"
        self._store.note(_note(session.id.session, str(session.extra.get("sealed_wish"))), None)
        return ""

    # following up

    def follow_up(self) -> list[Sealing]:
        """What the reaper does: seal what got stuck, try again what waited, archive what was not."""
        done = [
            self._finish(session, hurry="finalising was cut off")
            for session in self._store.sessions(state="sealing", limit=1000)
            if self._is_stuck(session)
        ]
        for note in list(self._store.notes(NOTE)):
            name, _, wish = note.removeprefix(NOTE).partition("\n")
            session = self._store.session(name)
            if session is None:
                self._store.note(note, None)
            elif session.state == "sealed" and session.extra.get("sealed_wish") == wish:
                self._archived(session)
            elif session.state == "active" and _wanted(session) is not None:
                if self._turns_are_silent(session):
                    close_silent_turns(self._store, session)
                done.append(self.try_seal(session.id))
        return done

    def _turns_are_silent(self, session: Session) -> bool:
        """Whether the turns that hold a wanted seal have been without an event for hours; a question is no silence."""
        turns = open_turns(session)
        if not turns or self._clock() - max(turns.values()) <= SILENT_TURN_SECONDS:
            return False
        last = self._store.events(session.id.session, limit=1, newest_first=True)
        return not last or self._clock() - last[0].at > SILENT_TURN_SECONDS


def _note(session: str, wish: str) -> str:
    return f"{NOTE}{session}\n{wish}"


def _with_wish(row: Session, wish: dict[str, Any]) -> Changes | None:
    return None if row.state != "active" or _wanted(row) else {"extra": with_extra(row, seal_wanted=wish)}


def _wanted(session: Session) -> dict[str, Any] | None:
    wish: Any = session.extra.get("seal_wanted")
    return wish if isinstance(wish, dict) else None


def _same_attempt(row: Session, begun: Session) -> bool:
    """Whether the session is still in the sealing that was begun, and not in a later one."""
    return row.state == "sealing" and row.extra.get("sealing") == begun.extra.get("sealing")


def _seen(session: Session, warning: Message | None = None) -> Sealing:
    """A session as somebody else, or we, have left it."""
    name = session.id.session
    if session.state == "active":
        return Sealing(session, "not_wanted", NOT_WANTED(session=name), warning)
    message = SEALED(session=name) if session.state == "sealed" else IN_HAND(session=name)
    return Sealing(session, session.state, message, warning)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
