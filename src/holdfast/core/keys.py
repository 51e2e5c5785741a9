"""Who an event belongs to.

Everything stateful carries its owner explicitly (SC1). There is no default thread: an object that lacks one
cannot be made, so nothing can drift into whichever thread happens to be active.
"""

from __future__ import annotations

from dataclasses import dataclass

_FORBIDDEN = {"\x00", "\n", "\r"}


def _require(name: str, value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a non-empty string, got {value!r}; every key names its owner")
    if any(char in value for char in _FORBIDDEN):
        raise ValueError(f"{name} may not hold line breaks or NUL, got {value!r}")


@dataclass(frozen=True, slots=True)
class SessionKey:
    """A conversation: one user, one agent, one thread."""

    user: str
    agent: str
    thread: str

    def __post_init__(self) -> None:
        _require("user", self.user)
        _require("agent", self.agent)
        _require("thread", self.thread)


@dataclass(frozen=True, slots=True)
class SessionId:
    """One session of a thread; `subagent` is empty for the main agent."""

    key: SessionKey
    session: str
    subagent: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.key, SessionKey):
            raise ValueError(f"key must be a SessionKey, got {self.key!r}")
        _require("session", self.session)
        if self.subagent:
            _require("subagent", self.subagent)

    @property
    def user(self) -> str:
        return self.key.user

    @property
    def agent(self) -> str:
        return self.key.agent

    @property
    def thread(self) -> str:
        return self.key.thread

    @property
    def subagent_name(self) -> str:
        """Which kind of sub-agent it is: `explorer` for `explorer#7`, of which several may run at once."""
        return self.subagent.partition("#")[0]

    def of_subagent(self, subagent: str) -> SessionId:
        """The same session seen from one of its sub-agents."""
        return SessionId(self.key, self.session, subagent)

    def main(self) -> SessionId:
        """The session's main agent, whoever asks."""
        return SessionId(self.key, self.session)


class WrongThreadError(ValueError):
    """An event, timer or message reached a thread it does not belong to."""

    def __init__(self, what: str, expected: SessionKey, got: SessionKey) -> None:
        super().__init__(
            f"{what} belongs to thread {got.thread!r} (user {got.user!r}, agent {got.agent!r}), "
            f"not to {expected.thread!r} (user {expected.user!r}, agent {expected.agent!r}); it was refused"
        )


def require_same_thread(what: str, expected: SessionKey, got: SessionKey) -> None:
    """Refuse whatever belongs elsewhere."""
    if expected != got:
        raise WrongThreadError(what, expected, got)
