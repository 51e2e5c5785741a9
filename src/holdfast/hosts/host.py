"""What a host adapter is: it says whose event a payload is, parses it, and renders the answer. Nothing else.

What a host cannot do stands in its capability table and is downgraded by the gateway, in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.core.events import Event, StartSource
from holdfast.core.keys import SessionId
from holdfast.core.outcome import Outcome
from holdfast.core.policy import Capabilities

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Address:
    """Whose event it is, in the host's own words."""

    session: str
    cwd: str
    subagent: str = ""
    source: StartSource | None = None
    """Set on events that begin a session."""
    transcript: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """What every event of this payload carries."""

    where: SessionId
    at: float
    invocation: str
    interactive: bool
    new_id: Callable[[], str]

    def fields(self) -> dict[str, Any]:
        return {
            "id": self.new_id(),
            "at": self.at,
            "where": self.where,
            "invocation": self.invocation,
            "interactive": self.interactive,
        }


@dataclass(frozen=True, slots=True)
class Reply:
    """What a hook command prints and returns."""

    code: int = 0
    out: bytes = b""
    err: bytes = b""


class Host(Protocol):
    """A pure translator between one host's hooks and our events."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def address(self, payload: Payload) -> Address | None:
        """None: an event that is of no concern to us."""
        ...

    def invocation(self, payload: Payload) -> str:
        """The host's own id of the running turn, or empty."""
        ...

    def parse(self, payload: Payload, header: Header) -> Sequence[Event]: ...

    def render(self, payload: Payload, event: Event | None, outcome: Outcome | None) -> Reply:
        """The answer in the host's dialect; without an outcome: nothing to say."""
        ...

    def refuse(self, payload: Payload, reason: str) -> Reply:
        """Our own failure on something that is not known to only read: block, with the reason."""
        ...
