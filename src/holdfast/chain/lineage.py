"""The sessions that came before one: its own chain, and the chain it was handed over from."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.keys import SessionKey
from holdfast.store.interface import Session, Store


def related_keys(store: Store, key: SessionKey) -> list[SessionKey]:
    """The thread's own key, then those of the agents a person has taken it over from, nearest first."""
    keys = [key]
    for known in keys:
        for session in store.chain(known):
            before = session.extra.get("continues")
            other = replace(known, agent=str(before)) if before else known
            if other not in keys:
                keys.append(other)
    return keys


def predecessors(store: Store, session: Session) -> list[Session]:
    """Oldest first."""
    found = [
        other
        for key in related_keys(store, session.id.key)
        for other in store.chain(key)
        if other.id != session.id and (key != session.id.key or other.number < session.number)
    ]
    return sorted((other for other in found if other.started_at <= session.started_at), key=lambda s: s.started_at)
