"""`holdfast panic`: nothing runs any more, in no host and no mode, until a person takes it back."""

from __future__ import annotations

from typing import Literal

from holdfast.core.events import Event, ToolCalling
from holdfast.core.messages import Phrase
from holdfast.core.policy import State
from holdfast.core.verdict import NOTHING, Finding, Verdict

NAME = "standing_orders"

PANIC = Phrase(
    "standing_orders.panic",
    "The user has stopped everything (`holdfast panic`). Do nothing more; say where you are and wait.",
    "用户已停止一切操作（`holdfast panic`）。请不要再做任何事，说明当前进度并等待。",
)


class StandingOrdersPolicy:
    """Denies every call while there is panic; a pause is carried out where findings are weighed."""

    name = NAME
    on_error: Literal["open", "closed"] = "closed"

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if event.orders != "panic" or not isinstance(event, ToolCalling):
            return NOTHING, state
        return Verdict(findings=(Finding(NAME, "deny", PANIC(), hard=True),)), state
