"""Before code is written, the project's patterns must have been read in this message (MB2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from holdfast.core.events import Event, PromptSubmitted, ToolCalled, ToolCalling
from holdfast.core.memory import PATTERNS, is_patterns, read_call
from holdfast.core.memory_reads import calls_reader, files_read
from holdfast.core.messages import Message, Phrase
from holdfast.core.policy import State
from holdfast.core.risk import Risk, risk_of
from holdfast.core.settings import GuardMode, MemorySettings
from holdfast.core.verdict import NOTHING, Finding, Verdict

NAME = "context_gate"

BLOCKED = Phrase(
    "context_gate.blocked",
    "[Memory Bank Gating] This is a high-risk change, and the project's context was not read in this message.",
    "[Memory Bank Gating] 检测到高风险写操作，但本轮未读取项目上下文。",
)
WARNED: Mapping[Risk, Phrase] = {
    "medium": Phrase(
        "context_gate.warned",
        "[Memory Bank Gating] A medium-risk change, and the project's context was not read in this message. "
        "First run: {call}",
        "[Memory Bank Gating] 中风险写操作，但本轮未读取项目上下文。请先执行：{call}",
    ),
    "high": Phrase(
        "context_gate.warned_high",
        "[Memory Bank Gating] A high-risk change, and the project's context was not read in this message. "
        "First run: {call}",
        "[Memory Bank Gating] 高风险写操作，但本轮未读取项目上下文。请先执行：{call}",
    ),
}
NEXT = Phrase("context_gate.next", "First run: {call}", "请先执行：{call}")
NO_PATTERNS = Phrase(
    "context_gate.no_patterns",
    "[Memory Bank Gating] There is no memory-bank/details/patterns.md, so nothing is checked; "
    "run `holdfast memory init`.",
    "[Memory Bank Gating] 没有 memory-bank/details/patterns.md，因此不做检查。请运行 `holdfast memory init`。",
)
DOC_FIRST = Phrase(
    "context_gate.doc_first",
    "[Memory Bank Gating] Code is being written before any memory-bank document was read or proposed in this message.",
    "[Memory Bank Gating] 本轮在阅读或提议任何 memory-bank 文档之前就开始写代码。",
)


STRICTNESS: tuple[GuardMode, ...] = ("off", "warn", "block")


def stricter(configured: GuardMode, wished: GuardMode | None) -> GuardMode:
    """A host's environment may tighten the gate; a repository can set it, so it never loosens anything (PE10)."""
    return max(configured, wished or "off", key=STRICTNESS.index)


class ContextGate:
    """off, warn or block; satisfied by a successful read of patterns.md, or by memory-reader."""

    name = NAME
    on_error: Literal["open", "closed"] = "closed"

    def __init__(self, settings: MemorySettings) -> None:
        self._settings = settings

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if not self._settings.enabled:
            return NOTHING, state
        match event:
            case PromptSubmitted(typed=True):
                # A new message of the user's is a new task: what was read for the last one may not fit it.
                kept = {"no_patterns": True} if state.get("no_patterns") else {}
                return NOTHING, kept
            case ToolCalled():
                return NOTHING, self._read(event, state)
            case ToolCalling():
                return self._calling(event, state)
            case _:
                return NOTHING, state

    def _read(self, event: ToolCalled, state: State) -> State:
        read = files_read(event)
        if any(map(is_patterns, read)) or calls_reader(event):
            return {**state, "satisfied": True, "read": True}
        if (read or event.call.tool == "memory_propose") and not state.get("read"):
            return {**state, "read": True}
        return state

    def _calling(self, event: ToolCalling, state: State) -> tuple[Verdict, State]:
        risk = risk_of(event.call, self._settings)
        if risk is None or risk == "low":
            return NOTHING, state
        warnings: list[Message] = []
        if self._settings.doc_first and not state.get("read") and not state.get("reminded"):
            warnings.append(DOC_FIRST())
            state = {**state, "reminded": True}
        guard = stricter(self._settings.guard_mode, event.guard)
        if guard == "off" or state.get("satisfied"):
            return Verdict(warnings=tuple(warnings)), state
        if event.memory is None or not any(map(is_patterns, event.memory.files)):
            if not state.get("no_patterns"):
                warnings.append(NO_PATTERNS())
                state = {**state, "no_patterns": True}
            return Verdict(warnings=tuple(warnings)), state
        return self._unsatisfied(event, risk, guard, warnings), state

    def _unsatisfied(self, event: ToolCalling, risk: Risk, guard: GuardMode, warnings: list[Message]) -> Verdict:
        call = read_call(event.where.agent, PATTERNS)
        if risk == "high" and guard == "block":
            finding = Finding(NAME, "deny", BLOCKED(), next_step=NEXT(call=call))
            return Verdict(findings=(finding,), warnings=tuple(warnings))
        return Verdict(warnings=(*warnings, WARNED[risk](call=call)))
