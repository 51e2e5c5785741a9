"""Full access is announced and confirmed; what it lifts is decided in the one merge (MO1, MO2).

A person who switches confirms at the switch, so `ModeChanged` arrives confirmed. A session that begins in full access
because of `mode.default` has not been confirmed by anybody: the first message asks in the own runtime; in a host,
which cannot ask at a message, the first tool call does. Unattended runs cannot be asked; their configuration speaks.
"""

from __future__ import annotations

from typing import Literal

from holdfast.core.events import (
    ApprovalAnswered,
    Event,
    ModeChanged,
    PromptSubmitted,
    SessionStarted,
    ToolCalling,
)
from holdfast.core.messages import Phrase
from holdfast.core.policy import State
from holdfast.core.verdict import NOTHING, Finding, Verdict

NAME = "modes"
OWN_RUNTIME = "holdfast"

BANNER = Phrase(
    "modes.banner",
    "Full access is on: nothing is asked in this session. Your deny rules, the hard limits and the gates hold, and "
    "everything is recorded. Switch back with `holdfast mode agent`.",
    "完全访问权限已开启：本会话不再询问。你的禁止规则、硬性限制与门禁仍然有效，一切均有记录。"
    "用 `holdfast mode agent` 切回。",
)
BACK = Phrase(
    "modes.back",
    "Full access is off: risky operations are asked about again.",
    "完全访问权限已关闭：有风险的操作将重新询问。",
)
STARTED_FULL = Phrase(
    "modes.started_full",
    "This session began with full access because mode.default says so.",
    "根据 mode.default，本会话以完全访问权限启动。",
)
CONFIRM = Phrase(
    "modes.confirm",
    "This session would run with full access (mode.default): nothing would be asked any more. Is that intended?",
    "本会话将以完全访问权限运行（mode.default）：之后不再询问任何操作。是否确认？",
)


class ModesPolicy:
    """Announces the mode, and has an unconfirmed full access confirmed once."""

    name = NAME
    on_error: Literal["open", "closed"] = "closed"

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        match event:
            case SessionStarted():
                return self._started(event, state)
            case ModeChanged():
                confirmed = event.to == "full_access"
                announced = (BANNER() if confirmed else BACK(),)
                return Verdict(warnings=announced), {**state, "confirmed": confirmed, "waits": False}
            case ApprovalAnswered(policy="modes"):
                # A refusal is followed by `ModeChanged` to agent; until then every call asks again.
                return NOTHING, {**state, "confirmed": event.answer != "deny", "waits": event.answer == "deny"}
            case PromptSubmitted() if state.get("host") == OWN_RUNTIME:
                return self._confirm(event, state)
            case ToolCalling():
                return self._confirm(event, state)
            case _:
                return NOTHING, state

    def _started(self, event: SessionStarted, state: State) -> tuple[Verdict, State]:
        new: State = {**state, "host": event.host}
        if event.mode != "full_access" or state.get("confirmed"):
            return NOTHING, new
        finding = Finding(NAME, "allow", STARTED_FULL())
        return Verdict(findings=(finding,), warnings=(BANNER(),)), {**new, "waits": True}

    def _confirm(self, event: PromptSubmitted | ToolCalling, state: State) -> tuple[Verdict, State]:
        if event.mode != "full_access" or not state.get("waits") or not event.interactive:
            return NOTHING, state
        return Verdict(findings=(Finding(NAME, "ask", CONFIRM()),)), state
