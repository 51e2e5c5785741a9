"""Which of our sessions a host's session is: the chain decides, this remembers it between two hooks (SC1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.chain.arrivals import Arrival
from holdfast.chain.bootstrap import Packet
from holdfast.chain.chain import Begun, Chain
from holdfast.core.keys import SessionId
from holdfast.core.messages import Message
from holdfast.hosts.host import Address

_MOST_KNOWN = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A host's session, found in the store."""

    where: SessionId
    vault: str
    packet: Packet | None = None
    """What its model must be told of the sessions before it, when it has just begun."""
    hint: Message | None = None
    """For the person."""

    def settled(self) -> Place:
        """The same, once it was told."""
        return Place(self.where, self.vault)


class HostSessions:
    """Finds and opens; what was found is kept, because every hook asks."""

    def __init__(self, chain: Chain, *, vault_of: Callable[[str], str]) -> None:
        self.chain = chain
        self._vault_of = vault_of
        self._known: dict[tuple[str, str], Place] = {}

    def find(self, host: str, address: Address, thread: str = "", *, report: bool = False) -> Place:
        """The live session of this address; one that was sealed is followed by the next of its thread.

        A mere report of what has happened belongs to the session that is known, sealed or not.
        """
        place = self._known.get((host, address.session))
        if place is None and report and (known := self.chain.threads.known(host, address.session)) is not None:
            place = Place(known.id, known.vault)
        if place is None:
            place = self._keep(host, address, self.chain.open(self._arrival(host, address, thread)))
        return _for(place, address)

    def begin_turn(self, host: str, address: Address, invocation: str, thread: str = "") -> Place:
        """A message was typed: from here on no seal can cut in before the turn has ended."""
        begun = self.chain.begin_turn(self._arrival(host, address, thread), invocation)
        return _for(self._keep(host, address, begun), address)

    def forget(self, host: str, session: str) -> None:
        """It was sealed or deleted meanwhile: look again."""
        self._known.pop((host, session), None)

    def _keep(self, host: str, address: Address, begun: Begun) -> Place:
        session = begun.session
        place = Place(session.id, session.vault, begun.packet, begun.hint)
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        self._known[host, address.session] = place.settled()
        return place

    def _arrival(self, host: str, address: Address, thread: str) -> Arrival:
        return Arrival(
            host=host,
            session=address.session,
            vault=self._vault_of(address.cwd),
            cwd=address.cwd,
            source=address.source,
            thread=thread,
            model=address.model,
            transcript=address.transcript,
        )


def _for(place: Place, address: Address) -> Place:
    if not address.subagent:
        return place
    return Place(place.where.of_subagent(address.subagent), place.vault, place.packet, place.hint)
