"""The one protocol every policy follows, and what a host is able to carry out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from holdfast.core.events import Event
from holdfast.core.messages import Phrase
from holdfast.core.verdict import Verdict

State = Mapping[str, Any]
"""A policy's memory for one session and sub-agent: plain JSON values, replaced and never changed in place."""

EMPTY: State = {}


class Policy(Protocol):
    """Pure: same event and state, same answer. Whatever needs a clock or a disk is a field of the event."""

    @property
    def name(self) -> str: ...

    @property
    def on_error(self) -> Literal["open", "closed"]:
        """`closed`: an error of ours denies. `open`: it is recorded and the work goes on."""
        ...

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]: ...


Ability = Literal[
    "block", "ask", "rewrite_input", "replace_output", "inject", "see_failure", "veto_compaction", "warn_user"
]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a host can do at each kind of event: data, so that a downgrade is decided in one place (HO3)."""

    host: str
    abilities: Mapping[str, frozenset[Ability]]
    """Event kind to abilities."""
    compaction_signal: Literal["yes", "inferred", "no"] = "no"
    names_subagents: bool = False
    inject_limit: int | None = None
    """Characters of injected text that reach the model whole."""
    notes: tuple[Phrase, ...] = ()

    def can(self, ability: Ability, kind: str) -> bool:
        return ability in self.abilities.get(kind, frozenset())
