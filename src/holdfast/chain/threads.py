"""Which thread and session an agent's work belongs to.

A host's session opens a thread of its own. It joins an older one only by name (HOLDFAST_THREAD), because a person said
so (`holdfast continue`), or by claiming the one session that was sealed in the same vault, host and user. Never because
the directory is the same, and never the session of somebody else that is still live: that is how one agent came to act
with another's memories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from holdfast.chain.arrivals import BUSY, JOINED, SEVERAL, TAKEN, Arrival, How, Opening
from holdfast.chain.inheritance import INHERITS
from holdfast.chain.sealer import Sealer
from holdfast.chain.session_rows import Changes, change_session, with_extra
from holdfast.chain.turns import open_turns
from holdfast.core.keys import SessionId, SessionKey, WrongThreadError, require_same_thread
from holdfast.core.messages import Message
from holdfast.store.interface import IMPORTED, Session, StateConflict, Store, StoreError

CLAIM_SECONDS = 24 * 3600.0
"""A sealed session waits this long for a new one to go on with it by itself; after that a person says so."""
OFFER_SECONDS = 3600.0
_MOST_CANDIDATES = 500


class Threads:
    """Every decision is a compare-and-set in the store, so that two processes never take the same place."""

    def __init__(
        self, store: Store, sealer: Sealer, *, clock: Callable[[], float], new_id: Callable[[], str], user: str
    ) -> None:
        self._store = store
        self._sealer = sealer
        self._clock = clock
        self._new_id = new_id
        self._user = user

    # finding the place of a host's session

    def open(self, arrival: Arrival) -> Opening:
        """The session of a host's session, opened if need be; refused when it is claimed for another thread."""
        known = self._known(arrival)
        if known is None:
            opening = self._newcomer(arrival)
        else:
            if arrival.thread and arrival.thread not in (known.id.thread, known.extra.get("asked_for")):
                named = SessionKey(self._user, known.id.agent, arrival.thread)
                raise WrongThreadError(f"session {arrival.session!r} of {arrival.host}", named, known.id.key)
            if known.state == "active":
                return Opening(known, "known")
            opening = self._after(known, arrival)
        self._store.note(self._note(arrival), opening.session.id.session)
        return opening

    def known(self, host: str, session: str) -> Session | None:
        """The session that a host's session has now, if it has shown up before."""
        return self._known(Arrival(host, session, ""))

    def _known(self, arrival: Arrival) -> Session | None:
        name = self._store.noted(self._note(arrival))
        return self._store.session(str(name)) if name else None

    def _note(self, arrival: Arrival) -> str:
        return f"host-session:{self._user}\n{arrival.host}\n{arrival.session}"

    def _newcomer(self, arrival: Arrival) -> Opening:
        if arrival.thread:
            return self._named(arrival)
        if arrival.source in ("startup", "clear"):
            offered = self._offered(arrival)
            if offered is not None:
                return self._join(arrival, offered, "continued")
            return self._claiming(arrival)
        if arrival.source in ("resume", "compact", None):
            # Nobody saw it begin. What was imported of it is its own past.
            past = self._store.session(arrival.session)
            if past is not None and past.seal_reason == IMPORTED and past.id.key == self._own_key(arrival):
                return self._next(arrival, past, "next")
        return self._new(arrival)

    def _own_key(self, arrival: Arrival) -> SessionKey:
        return SessionKey(self._user, arrival.agent_id, f"{arrival.host}-{arrival.session}")

    def _new(self, arrival: Arrival, hint: Message | None = None) -> Opening:
        key = self._own_key(arrival)
        if any(session.extra.get("host_session") != arrival.session for session in self._store.chain(key)):
            key = replace(key, thread=f"{key.thread}-{self._new_id()[:8]}")
        session = self._store.open_session(self._row(arrival, SessionId(key, self._free_name(arrival.session, key))))
        return Opening(session, "new", hint)

    # going on after a seal

    def _after(self, sealed: Session, arrival: Arrival) -> Opening:
        """The host's session goes on although ours was sealed: in the next one of the same thread."""
        if sealed.state == "sealing":
            sealed = self._sealer.hurry(sealed.id).session
            if sealed.state == "active":  # a question came up, and it was not sealed after all
                return Opening(sealed, "known")
        if not self._claim(sealed, arrival):
            return self._new(arrival, self._taken(sealed))
        return self._next(arrival, sealed, "next")

    def _claiming(self, arrival: Arrival) -> Opening:
        waiting = self.waiting(arrival.vault, arrival.host, arrival.agent_id)
        mine = [session for session in waiting if session.extra.get("claimed_by") == arrival.session]
        free = [session for session in waiting if not session.extra.get("claimed_by")]
        candidates = mine or free
        if len(candidates) > 1:
            names = ", ".join(sorted(session.id.thread for session in candidates)[:5])
            return self._new(arrival, SEVERAL(threads=names))
        if not candidates or not self._claim(candidates[0], arrival):
            return self._new(arrival)
        return self._next(arrival, candidates[0], "claimed")

    def waiting(self, vault: str, host: str, agent: str) -> Sequence[Session]:
        """Sessions that were sealed here and that nothing has come after."""
        sealed = self._store.sessions(
            user=self._user, host=host, agent=agent, vault=vault, state="sealed", limit=_MOST_CANDIDATES
        )
        since = self._clock() - CLAIM_SECONDS
        recent = [s for s in sealed if s.seal_reason != IMPORTED and (s.ended_at or 0.0) >= since]
        return [session for session in recent if self._store.chain(session.id.key)[-1].id == session.id]

    def _claim(self, sealed: Session, arrival: Arrival) -> bool:
        """Take the place after a sealed session; only one host's session ever gets it."""

        def step(row: Session) -> Changes | None:
            if row.state != "sealed" or row.extra.get("claimed_by"):
                return None
            return {"extra": with_extra(row, claimed_by=arrival.session)}

        claimed = change_session(self._store, sealed.id, "a claim", step)
        return claimed.state == "sealed" and claimed.extra.get("claimed_by") == arrival.session

    # joining by name, or because a person said so

    def _named(self, arrival: Arrival) -> Opening:
        key = SessionKey(self._user, arrival.agent_id, arrival.thread)
        own = self._store.chain(key)
        # Named by a person, so another agent's thread of that name is meant as well.
        others = () if own else self._store.sessions(user=self._user, thread=arrival.thread, limit=1)
        last = next(iter((*own[-1:], *others)), None)
        if last is not None:
            return self._join(arrival, last, "named")
        name = self._free_name(arrival.session, key)
        return Opening(self._store.open_session(self._row(arrival, SessionId(key, name))), "named")

    def offer(self, thread: Session, *, host: str, vault: str, by: str) -> None:
        """The next session that this host starts in this vault goes on with the thread (`holdfast continue`)."""
        body = {"session": thread.id.session, "at": self._clock(), "by": by}
        self._store.note(self._offer_note(host, vault), body)

    def _offered(self, arrival: Arrival) -> Session | None:
        note = self._offer_note(arrival.host, arrival.vault)
        body: Any = self._store.noted(note)
        if not isinstance(body, dict):
            return None
        session = self._store.session(str(body["session"]))
        if session is None or self._clock() - float(body["at"]) > OFFER_SECONDS or session.id.user != self._user:
            self._store.note(note, None)
            return None

        # The offer is good for one: whoever writes itself down first.
        mine = [body["at"], arrival.session]

        def step(row: Session) -> Changes | None:
            taken = row.extra.get("offer_taken")
            return None if taken and taken[0] == body["at"] else {"extra": with_extra(row, offer_taken=mine)}

        taken = change_session(self._store, session.id, "a continuation", step)
        if taken.extra.get("offer_taken") != mine:
            return None
        self._store.note(note, None)
        return taken

    def _offer_note(self, host: str, vault: str) -> str:
        return f"offer:{self._user}\n{host}\n{vault}"

    def _join(self, arrival: Arrival, last: Session, how: How) -> Opening:
        """Come after the last session of a thread, which is sealed for it if it only lies idle."""
        if last.extra.get("host_session") == arrival.session and last.state == "active":
            return Opening(last, "known")
        if last.state == "active" and open_turns(last):
            return self._new(arrival, BUSY(thread=last.id.thread, session=last.id.session))
        if last.state != "sealed":
            if last.state == "active":
                self._sealer.seal_now(last.id, by=self._user, reason="handoff")
            last = self._sealer.hurry(last.id).session
            if last.state != "sealed":
                return self._new(arrival, BUSY(thread=last.id.thread, session=last.id.session))
        if last.id.agent != arrival.agent_id:
            return self._other_agent(arrival, last, how)
        return self._next(arrival, last, how)

    def _other_agent(self, arrival: Arrival, last: Session, how: How) -> Opening:
        """A person has handed the thread to another agent: a chain of its own under the thread's name."""
        key = replace(last.id.key, agent=arrival.agent_id)
        own = self._store.chain(key)
        if own and own[-1].state != "sealed":
            return self._join(arrival, own[-1], how)
        name = self._free_name(arrival.session, key)
        row = self._row(arrival, SessionId(key, name), continues=last.id.agent, **{INHERITS: last.id.session})
        return self._opened(row, arrival, how)

    # opening

    def _next(self, arrival: Arrival, last: Session, how: How) -> Opening:
        name = self._free_name(arrival.session, last.id.key, last.number + 1)
        inherits = {} if last.seal_reason == IMPORTED else {INHERITS: last.id.session}
        row = self._row(arrival, SessionId(last.id.key, name), continues=last.extra.get("continues"), **inherits)
        return self._opened(replace(row, title=last.title), arrival, how)

    def _opened(self, row: Session, arrival: Arrival, how: How) -> Opening:
        try:
            session = self._store.open_session(row)
        except StateConflict:
            live = next((other for other in self._store.chain(row.id.key) if other.state != "sealed"), None)
            if live is None or live.extra.get("host_session") != arrival.session:
                return self._new(arrival, self._taken(row))
            session = live
        return Opening(session, how, JOINED(thread=session.id.thread, number=session.number) if how != "next" else None)

    def next_session(self, key: SessionKey, row: Session) -> Session:
        """The live session of a thread, else `row` as its next one: for the own runtime, which names its threads."""
        require_same_thread("a session", key, row.id.key)
        for _ in range(3):
            chain = self._store.chain(key)
            last = chain[-1] if chain else None
            if last is not None and last.state == "sealing":
                last = self._sealer.hurry(last.id).session
            if last is not None and last.state != "sealed":
                return last
            inherits = {INHERITS: last.id.session} if last is not None and last.seal_reason != IMPORTED else {}
            title = row.title or (last.title if last is not None else "")
            try:
                return self._store.open_session(replace(row, title=title, extra={**row.extra, **inherits}))
            except StateConflict:
                continue
        raise StoreError(f"thread {key.thread!r} was opened and sealed by others meanwhile; try again")

    def _row(self, arrival: Arrival, where: SessionId, **extra: Any) -> Session:
        known = {"host_session": arrival.session, "transcript": arrival.transcript, **extra}
        if arrival.thread != where.thread:
            known["asked_for"] = arrival.thread  # it could not have that one; it is not asked about again
        return Session(
            id=where,
            host=arrival.host,
            vault=arrival.vault,
            started_at=self._clock(),
            cwd=arrival.cwd,
            model=arrival.model,
            mode=arrival.mode,
            extra={name: value for name, value in known.items() if value},
        )

    def _free_name(self, wanted: str, key: SessionKey, number: int = 1) -> str:
        """The host's own id where it is free; another session that bears it is never taken for this one."""
        for name in (wanted, f"{wanted}.{number}", f"{wanted}.{number}-{self._new_id()[:8]}"):
            there = self._store.session(name)
            if there is None or (there.id.key == key and there.state == "active"):
                return name
        raise StoreError(f"no name is free for session {wanted!r}")

    def _taken(self, session: Session) -> Message:
        live = [other for other in self._store.chain(session.id.key) if other.state != "sealed"]
        name = live[-1].id.session if live else session.id.session
        return TAKEN(thread=session.id.thread, session=name)
