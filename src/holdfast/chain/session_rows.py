"""A session's row, changed by compare-and-set, and never by anybody from another thread (SC1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.core.keys import SessionId, SessionKey, require_same_thread
from holdfast.store.interface import PendingApproval, Session, StateConflict, Store, StoreError

TRIES = 200
Changes = Mapping[str, Any]


class NoSuchSession(StoreError):
    """A session that is not there, or that was deleted."""

    def __init__(self, session: str) -> None:
        super().__init__(f"no session {session!r}; `holdfast sessions list` shows those there are")


def existing(store: Store, where: SessionId, what: str) -> Session:
    """The session at `where`; refused when the caller belongs to another thread."""
    session = store.session(where.session)
    if session is None:
        raise NoSuchSession(where.session)
    require_same_thread(what, session.id.key, where.key)
    return session


def change_session(
    store: Store,
    where: SessionId,
    what: str,
    step: Callable[[Session], Changes | None],
    *,
    quiet: bool = False,
) -> Session:
    """Apply `step` to the row as it is now, again and again until nobody else came in between.

    `step` gives the fields to change, or None to leave the row alone. Raises `PendingApproval` when `quiet` forbids the
    change, and `StateConflict` when it would give the chain a second live session.
    """
    for _ in range(TRIES):
        session = existing(store, where, what)
        changes = step(session)
        if changes is None:
            return session
        try:
            return store.update_session(where.session, session.version, quiet=quiet, **changes)
        except PendingApproval:
            raise
        except StateConflict:
            latest = store.session(where.session)
            if latest is not None and latest.version == session.version:
                raise  # nobody changed the row: the chain has another live session
    raise StoreError(f"session {where.session!r} was changed by others {TRIES} times in a row; try again")


def with_extra(session: Session, **entries: Any) -> dict[str, Any]:
    """The session's extra with these entries; None takes one away."""
    extra = {**session.extra, **entries}
    return {key: value for key, value in extra.items() if value is not None}


def key_text(key: SessionKey) -> str:
    """A key as part of a note's name; no part of a key holds a line break, so two keys never share it."""
    return "\n".join((key.user, key.agent, key.thread, ""))
