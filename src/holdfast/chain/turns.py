"""Which turns are under way in a session, kept in the row that also holds its state.

A turn can only be opened while the session is active, and a session is only sealed while no turn is open; both are
compare-and-set on one row, so neither can slip past the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.chain.session_rows import Changes, change_session, with_extra
from holdfast.core.keys import SessionId
from holdfast.store.interface import SealedError, Session, Store

_TURNS = "turns"


def open_turns(session: Session) -> Mapping[str, float]:
    """Invocation to the moment it was opened."""
    turns: Any = session.extra.get(_TURNS)
    return turns if isinstance(turns, Mapping) else {}


def open_turn(store: Store, where: SessionId, invocation: str, at: float, *, sole: bool = False) -> Session:
    """A user's message is about to be worked on.

    `sole`: this agent does one thing at a time, so whatever was open before has ended, with or without a word.
    Raises `SealedError` when the session is being sealed or is sealed: the message belongs to the next one.
    """

    def step(session: Session) -> Changes | None:
        if session.state != "active":
            raise SealedError(f"session {where.session!r} is {session.state}; the message starts the next session")
        turns = {} if sole else dict(open_turns(session))
        turns.setdefault(invocation, open_turns(session).get(invocation, at))
        return None if turns == open_turns(session) else {"extra": with_extra(session, **{_TURNS: turns})}

    return change_session(store, where, f"turn {invocation!r}", step)


def close_turn(store: Store, where: SessionId, invocation: str) -> Session:
    """The agent has stopped; closing a turn that is not open changes nothing."""

    def step(session: Session) -> Changes | None:
        turns = {name: at for name, at in open_turns(session).items() if name != invocation}
        if turns == open_turns(session):
            return None
        return {"extra": with_extra(session, **{_TURNS: turns or None})}

    return change_session(store, where, f"turn {invocation!r}", step)


def close_silent_turns(store: Store, seen: Session) -> Session:
    """Nothing was heard of these turns for so long that their process must be gone; one that opened since stays."""

    def step(session: Session) -> Changes | None:
        if not open_turns(seen) or dict(open_turns(session)) != dict(open_turns(seen)):
            return None
        return {"extra": with_extra(session, **{_TURNS: None})}

    return change_session(store, seen.id, "the end of silent turns", step)


def close_all_turns(store: Store, where: SessionId) -> Session:
    """Whoever worked here is known to be gone."""

    def step(session: Session) -> Changes | None:
        return {"extra": with_extra(session, **{_TURNS: None})} if open_turns(session) else None

    return change_session(store, where, "the end of its turns", step)
