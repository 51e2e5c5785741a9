"""Makes the last session of a chain active again (SC3)."""

from __future__ import annotations

from holdfast.chain.breaker import Breaker
from holdfast.chain.on_record import put_on_record
from holdfast.chain.sealer import Finaliser
from holdfast.chain.session_rows import Changes, change_session, existing, with_extra
from holdfast.core.keys import SessionId
from holdfast.store.interface import IMPORTED, Session, StateConflict, Store, StoreError


class UnsealError(StoreError):
    """It cannot be unsealed; the message says why and what to do."""


def unseal(store: Store, finaliser: Finaliser, where: SessionId, *, by: str, at: float, event_id: str) -> Session:
    """Raises `UnsealError` when it is not sealed, is not the last, or another session of the thread is live."""
    where = where.main()
    name = where.session
    session = existing(store, where, "an unseal")
    if session.state != "sealed":
        raise UnsealError(f"session {name!r} is {session.state}; only a sealed one can be unsealed")
    if session.seal_reason == IMPORTED:
        raise UnsealError(f"session {name!r} was imported; it goes on where it was recorded")

    def step(row: Session) -> Changes | None:
        if row.state != "sealed":
            raise UnsealError(f"session {name!r} is {row.state}; somebody else has unsealed it")
        last = store.chain(where.key)[-1]
        if last.id != row.id:
            raise UnsealError(
                f"session {name!r} is number {row.number} of its thread and not the last; "
                f"go on in {last.id.session!r}, or delete that first"
            )
        return {
            "state": "active",
            "ended_at": None,
            "seal_reason": "",
            "seal_mark": "",
            "sealing_since": None,
            "extra": with_extra(row, claimed_by=None, sealed_by=None, sealed_wish=None, seal_wanted=None, turns=None),
        }

    try:
        unsealed = change_session(store, where, "an unseal", step)
    except StateConflict as error:
        raise UnsealError(f"session {name!r} cannot be unsealed: {error}") from None
    finaliser.forget(unsealed)
    Breaker(store, where.key).reset()
    put_on_record(store, where, "session_unsealed", by=by, at=at, event_id=event_id)
    return unsealed
