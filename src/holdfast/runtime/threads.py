"""Threads of the own agent: opening a new one, finding an older one, and the next session after a seal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.chain.chain import Chain
from holdfast.control import Control
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import Session, StoreError

HOST = "holdfast"


def new_thread(control: Control, vault: Path, cwd: Path, *, agent: str = "", model: str = "") -> Session:
    """A thread of its own, as every `chat` and `run` has unless it is told otherwise."""
    key = SessionKey(control.user, agent or HOST, control.new_id()[:12])
    return next_session(control, key, vault, cwd, model=model)


def next_session(control: Control, key: SessionKey, vault: Path, cwd: Path, *, model: str = "") -> Session:
    """The thread's live session, opened if there is none."""
    session = Session(
        id=SessionId(key, control.new_id()),
        host=HOST,
        vault=str(vault),
        started_at=control.clock(),
        cwd=str(cwd),
        model=model,
        mode=control.settings.runtime.mode.default,
    )
    return Chain(control).next_session(key, session).session


def threads(control: Control, vault: Path | None = None, limit: int = 20) -> Sequence[Session]:
    """The newest session of each thread of the own agent, newest first."""
    found = control.store.sessions(user=control.user, host=HOST, vault=str(vault) if vault else None, limit=limit * 5)
    newest: dict[SessionKey, Session] = {}
    for session in found:
        newest.setdefault(session.id.key, session)
    return list(newest.values())[:limit]


def find_thread(control: Control, name: str, vault: Path | None = None) -> Session:
    """The newest session of the thread with that id, or the one whose id begins so; raises `StoreError`."""
    matching = [s for s in threads(control, limit=1000) if s.id.thread.startswith(name) or s.id.session == name]
    exact = [session for session in matching if session.id.thread == name]
    chosen = exact or matching
    if len(chosen) == 1:
        return chosen[0]
    if not chosen:
        raise StoreError(f"there is no thread {name!r}; `holdfast sessions list` shows them")
    names = ", ".join(session.id.thread for session in chosen[:5])
    raise StoreError(f"{name!r} begins the name of several threads: {names}; give more of it")
