"""Confirms or skips a proposal by the user's next message, and reminds of one that is missing (MB6)."""

from __future__ import annotations

from typing import Literal

from holdfast.core.events import Event, PromptSubmitted, ToolCalled
from holdfast.core.messages import Phrase
from holdfast.core.policy import State
from holdfast.core.proposals import answer_in
from holdfast.core.risk import at_least, risk_of
from holdfast.core.settings import MemorySettings
from holdfast.core.verdict import NOTHING, Inject, Settle, Verdict

NAME = "memory_proposals"
TOOL = "memory_propose"

REMINDER = Phrase(
    "memory_proposals.reminder",
    "[Memory Bank] The last turn changed files and proposed nothing for the memory bank. If anything is worth keeping, "
    "call memory_propose.",
    "[Memory Bank] 上一轮修改了文件但没有提议更新 memory-bank。如有值得保留的内容，请调用 memory_propose。",
)


class MemoryProposals:
    """State: `pending` proposals of the turn before this message, `wrote`, `proposed`."""

    name = NAME
    on_error: Literal["open", "closed"] = "open"

    def __init__(self, settings: MemorySettings) -> None:
        self._settings = settings

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if not self._settings.enabled:
            return NOTHING, state
        if isinstance(event, ToolCalled) and not event.result.failed:
            return NOTHING, self._called(event, state)
        if isinstance(event, PromptSubmitted) and event.typed:
            return self._message(event, state)
        return NOTHING, state

    def _called(self, event: ToolCalled, state: State) -> State:
        call = event.call
        if call.tool == TOOL or call.tool.endswith(f"__{TOOL}"):
            return {**state, "pending": [*state.get("pending", ()), call.id], "proposed": True}
        if not state.get("wrote") and at_least(risk_of(call, self._settings), "medium"):
            return {**state, "wrote": True}
        return state

    def _message(self, event: PromptSubmitted, state: State) -> tuple[Verdict, State]:
        # Only the message right after the proposal can confirm it; whatever comes later is about something else.
        pending = tuple(state.get("pending", ()))
        answer = answer_in(event.text) if pending else None
        settle = tuple(Settle(proposal, answer) for proposal in pending) if answer else ()
        forgotten = event.memory is not None and event.memory.files and state.get("wrote") and not state.get("proposed")
        inject = (Inject(REMINDER().text()),) if forgotten else ()
        return Verdict(settle=settle, inject=inject), {}
