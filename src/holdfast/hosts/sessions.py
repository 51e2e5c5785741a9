"""Which of our sessions a host's session is (SC1). Nothing joins a thread by chance, and never by directory alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.core.keys import SessionId, SessionKey
from holdfast.hosts.host import Address
from holdfast.store.interface import Session, StateConflict, Store

_NOTE = "host-session:"
_MOST_KNOWN = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A host's session, found in the store."""

    where: SessionId
    vault: str
    new: bool = False
    """True when this very payload opened it."""


class HostSessions:
    """Finds and opens; a thread is opened by a host's first event and kept by its session id."""

    def __init__(self, store: Store, *, user: str, vault_of: Callable[[str], str], clock: Callable[[], float]) -> None:
        self._store = store
        self._user = user
        self._vault_of = vault_of
        self._clock = clock
        self._known: dict[tuple[str, str], Place] = {}

    def find(self, host: str, address: Address) -> Place:
        """The live session of this address; one that was sealed is followed by the next of its thread."""
        place = self._known.get((host, address.session))
        if place is None:
            place = self._look_up(host, address)
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            self._known[host, address.session] = Place(place.where, place.vault)
        if not address.subagent:
            return place
        return Place(place.where.of_subagent(address.subagent), place.vault, place.new)

    def forget(self, host: str, session: str) -> None:
        """It was sealed or deleted meanwhile: look again."""
        self._known.pop((host, session), None)

    def _look_up(self, host: str, address: Address) -> Place:
        note = f"{_NOTE}{host}:{address.session}"
        name = self._store.noted(note)
        current = self._store.session(name) if name else None
        if current is not None and current.state != "sealed":
            return Place(current.id, current.vault)
        opened = self._open(host, address, current)
        self._store.note(note, opened.id.session)
        return Place(opened.id, opened.vault, new=True)

    def _open(self, host: str, address: Address, sealed: Session | None) -> Session:
        if sealed is not None:
            key, name = sealed.id.key, f"{address.session}.{sealed.number + 1}"
        else:
            key = SessionKey(self._user, host, f"{host}-{address.session}")
            name = address.session
        session = Session(
            id=SessionId(key, name),
            host=host,
            vault=self._vault_of(address.cwd),
            started_at=self._clock(),
            cwd=address.cwd,
            model=address.model,
            extra={"transcript": address.transcript, "host_session": address.session},
        )
        try:
            return self._store.open_session(session)
        except StateConflict:
            active = [other for other in self._store.chain(key) if other.state != "sealed"]
            if not active:
                raise
            return active[-1]
