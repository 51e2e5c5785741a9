"""The limits that hold in every mode and under every rule (PE10)."""

from __future__ import annotations

from typing import Literal

from holdfast.core.events import Event, ToolCalling
from holdfast.core.policy import State
from holdfast.core.verdict import NOTHING, Finding, Verdict
from holdfast.policies.hard_limits.destruction import Destruction
from holdfast.policies.hard_limits.protected import HostProgram, Protected, standard_protection
from holdfast.policies.hard_limits.self_protection import SelfProtection

__all__ = ["HardLimitsPolicy", "HostProgram", "Protected", "standard_protection"]

NAME = "hard_limits"


class HardLimitsPolicy:
    """Denies, for good, what destroys the machine and what would free the agent."""

    name = NAME
    on_error: Literal["open", "closed"] = "closed"

    def __init__(self, protected: Protected) -> None:
        self._destruction = Destruction(protected)
        self._self_protection = SelfProtection(protected)

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if not isinstance(event, ToolCalling):
            return NOTHING, state
        call = event.call
        said = {why.text(): why for why in (*self._destruction.judge(call), *self._self_protection.judge(call))}
        if not said:
            return NOTHING, state
        targets = ", ".join(str(access.target) for access in call.accesses[:1])
        return Verdict(
            tuple(Finding(NAME, "deny", why, hard=True, target=targets, domain=call.domain) for why in said.values())
        ), state
