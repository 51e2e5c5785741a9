"""Makes the last session of a chain active again (SC3)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.chain.breaker import Breaker
from holdfast.chain.on_record import put_on_record
from holdfast.chain.sealer import Finaliser
from holdfast.chain.session_rows import Changes, change_session, existing, with_extra
from holdfast.core.keys import SessionId
from holdfast.core.messages import Phrase
from holdfast.store.interface import IMPORTED, Session, SessionState, StateConflict, Store, StoreError

STATES: Mapping[SessionState, Phrase] = {
    "active": Phrase("session.active", "active", "活动"),
    "sealing": Phrase("session.sealing", "sealing", "封存中"),
    "sealed": Phrase("session.sealed", "sealed", "已封存"),
}
_NOT_SEALED = Phrase(
    "unseal.not_sealed",
    "session {session} is {state}; only a sealed one can be unsealed",
    "会话 {session} 的状态为{state}；只有已封存的会话才能解封",
)
_IMPORTED = Phrase(
    "unseal.imported",
    "session {session} was imported; it goes on where it was recorded",
    "会话 {session} 是导入的；请在其原处继续",
)
_UNSEALED = Phrase(
    "unseal.by_others",
    "session {session} is {state}; somebody else has unsealed it",
    "会话 {session} 的状态为{state}；已被他人解封",
)
_NOT_LAST = Phrase(
    "unseal.not_last",
    "session {session} is number {number} of its thread and not the last; go on in {last}, or delete that first",
    "会话 {session} 是其对话的第 {number} 个，而不是最后一个；请在 {last} 中继续，或先删除它",
)
_CANNOT = Phrase("unseal.cannot", "session {session} cannot be unsealed: {error}", "会话 {session} 无法解封：{error}")


class UnsealError(StoreError):
    """It cannot be unsealed; the message says why and what to do."""


def unseal(store: Store, finaliser: Finaliser, where: SessionId, *, by: str, at: float, event_id: str) -> Session:
    """Raises `UnsealError` when it is not sealed, is not the last, or another session of the thread is live."""
    where = where.main()
    name = where.session
    session = existing(store, where, "an unseal")
    if session.state != "sealed":
        raise UnsealError(_NOT_SEALED(session=repr(name), state=STATES[session.state]()))
    if session.seal_reason == IMPORTED:
        raise UnsealError(_IMPORTED(session=repr(name)))

    def step(row: Session) -> Changes | None:
        if row.state != "sealed":
            raise UnsealError(_UNSEALED(session=repr(name), state=STATES[row.state]()))
        last = store.chain(where.key)[-1]
        if last.id != row.id:
            raise UnsealError(_NOT_LAST(session=repr(name), number=row.number, last=repr(last.id.session)))
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
        raise UnsealError(_CANNOT(session=repr(name), error=error.message)) from None
    finaliser.forget(unsealed)
    Breaker(store, where.key).reset()
    put_on_record(store, where, "session_unsealed", by=by, at=at, event_id=event_id)
    return unsealed
