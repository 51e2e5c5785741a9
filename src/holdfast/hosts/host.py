"""What a host adapter is: it says whose event a payload is, parses it, and renders the answer. Nothing else.

What a host cannot do stands in its capability table and is downgraded in one place (`carry`), so an adapter only ever
sees texts and decisions that it is able to pass on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from holdfast.core.events import Event, StartSource
from holdfast.core.keys import SessionId
from holdfast.core.policy import Capabilities
from holdfast.core.settings import GuardMode

Payload = Mapping[str, Any]
Standing = Literal["memory", "anchors", "bootstrap"]
"""Texts that a host wants anew with every request, because what it is given does not stay in its history."""
TurnMark = Literal["begins", "ends", ""]


@dataclass(frozen=True, slots=True)
class Address:
    """Whose event it is, in the host's own words."""

    session: str
    cwd: str
    subagent: str = ""
    """`name#id`, because several of one name may run at once; empty for the main agent."""
    source: StartSource | None = None
    """Set on events that begin a session."""
    transcript: str = ""
    model: str = ""


class Memo(Protocol):
    """A few facts about a host's session that must be known again at its next hook, also in another process."""

    def get(self, name: str) -> Any: ...

    def put(self, name: str, value: Any) -> None: ...


class CallNames(Protocol):
    """Names for calls of a host that gives its calls no ids."""

    def calling(self, tool: str, arguments: Payload) -> str: ...

    def called(self, tool: str, arguments: Payload) -> str: ...


@dataclass(frozen=True, slots=True)
class Header:
    """What every event of this payload carries, and what an adapter may ask while it parses."""

    where: SessionId
    at: float
    invocation: str
    interactive: bool
    new_id: Callable[[], str]
    memo: Memo
    calls: CallNames
    was_seen: Callable[[str], bool]
    """Whether a call of this id has passed our hooks."""
    guard: GuardMode | None = None
    """What the host's environment asks the context gate for."""

    def fields(self) -> dict[str, Any]:
        return {
            "id": self.new_id(),
            "at": self.at,
            "where": self.where,
            "invocation": self.invocation,
            "interactive": self.interactive,
            "guard": self.guard,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """What is to be passed on to the host: already in the user's language, already cut to what the host can carry."""

    kind: str = ""
    """Of the event that is answered; empty: there is nothing to say."""
    allowed: bool = True
    ask: bool = False
    """The host itself shows the question."""
    reason: str = ""
    input: Mapping[str, Any] | None = None
    output: str | None = None
    context: str = ""
    """For the model."""
    notice: str = ""
    """For the person."""
    standing: str | None = None
    """For the model, with its next request and no other; None when the host did not ask for it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a hook command prints and returns."""

    code: int = 0
    out: bytes = b""
    err: bytes = b""
    after: Callable[[], None] | None = None
    """Work that nobody waits for: done once the host has its answer."""


class Host(Protocol):
    """A pure translator between one host's hooks and our events."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def says_anew(self) -> frozenset[Standing]:
        """What every request brings along by `standing`, so that no event has to."""
        ...

    def address(self, payload: Payload) -> Address | None:
        """None: an event that is of no concern to us."""
        ...

    def invocation(self, payload: Payload, memo: Memo) -> str:
        """The host's own id of the running turn, or empty."""
        ...

    def changed_settings(self, payload: Payload) -> str | None:
        """The settings file that the host is about to load anew; None for everything else."""
        ...

    def is_report(self, payload: Payload) -> bool:
        """Whether it only tells what has happened: such a thing never begins a session."""
        ...

    def turn(self, payload: Payload) -> TurnMark:
        """Whether a person has just spoken to the main agent, or the agent has stopped."""
        ...

    def parse(self, payload: Payload, header: Header) -> Sequence[Event]: ...

    def standing(self, payload: Payload, memo: Memo) -> Sequence[Standing]:
        """What has to be said again here, if it still holds."""
        ...

    def render(self, payload: Payload, answer: Answer) -> Reply:
        """The answer in the host's dialect."""
        ...

    def refuse(self, payload: Payload, reason: str) -> Reply:
        """Our own failure: a call that is not known to only read is blocked, with the reason."""
        ...
