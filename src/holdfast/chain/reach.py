"""Whose sessions a caller may see. Everything that recall shows has passed through one of these (SC5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from holdfast.chain.lineage import related_keys
from holdfast.core.keys import SessionKey
from holdfast.store.interface import Session, Store
from holdfast.store.search_filters import Scope

_MOST_SESSIONS = 5000


class Reach(Protocol):
    def sees(self, session: Session) -> bool: ...

    def sessions(self, thread: str | None = None) -> Sequence[Session]:
        """All that can be seen, oldest first; of one thread when it is named."""
        ...

    def scope(self) -> tuple[Scope, tuple[str, ...]]:
        """For the search: where, and by which agents (none: all)."""
        ...


@dataclass(frozen=True, slots=True)
class ThreadReach:
    """One thread, with those of other agents that a person has handed over to it."""

    store: Store
    key: SessionKey

    def sees(self, session: Session) -> bool:
        return session.id.key in related_keys(self.store, self.key)

    def sessions(self, thread: str | None = None) -> Sequence[Session]:
        if thread is not None and thread != self.key.thread:
            return ()
        found = [session for key in related_keys(self.store, self.key) for session in self.store.chain(key)]
        return sorted(found, key=lambda session: (session.started_at, session.number))

    def scope(self) -> tuple[Scope, tuple[str, ...]]:
        agents = tuple(key.agent for key in related_keys(self.store, self.key))
        return Scope(user=self.key.user, thread=self.key.thread), agents


@dataclass(frozen=True, slots=True)
class VaultReach:
    """All threads of one user in one project: a scope that a person starts a server with."""

    store: Store
    user: str
    vault: str

    def sees(self, session: Session) -> bool:
        return (session.id.user, session.vault) == (self.user, self.vault)

    def sessions(self, thread: str | None = None) -> Sequence[Session]:
        found = self.store.sessions(user=self.user, vault=self.vault, thread=thread, limit=_MOST_SESSIONS)
        return sorted(found, key=lambda session: (session.started_at, session.number))

    def scope(self) -> tuple[Scope, tuple[str, ...]]:
        return Scope(user=self.user, vault=self.vault), ()


@dataclass(frozen=True, slots=True)
class UserReach:
    """Everything of one user: for the person themselves, at the command line and on the page."""

    store: Store
    user: str

    def sees(self, session: Session) -> bool:
        return session.id.user == self.user

    def sessions(self, thread: str | None = None) -> Sequence[Session]:
        found = self.store.sessions(user=self.user, thread=thread, limit=_MOST_SESSIONS)
        return sorted(found, key=lambda session: (session.started_at, session.number))

    def scope(self) -> tuple[Scope, tuple[str, ...]]:
        return Scope(user=self.user), ()
