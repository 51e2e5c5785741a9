"""After a compaction nothing of consequence happens before the anchors were read again (MB7, MB8, MB9)."""

from __future__ import annotations

from typing import Any, Literal

from holdfast.core.events import (
    Compacted,
    Compacting,
    Event,
    HistorySending,
    PromptSubmitted,
    SessionStarted,
    ToolCalled,
    ToolCalling,
)
from holdfast.core.memory import (
    ANCHORS_OPEN,
    MEMORY_OPEN,
    MemoryFacts,
    anchor_block,
    existing,
    injection,
    is_anchor,
    read_call,
    required_anchors,
    with_anchor,
)
from holdfast.core.memory_reads import calls_reader, files_read
from holdfast.core.messages import Phrase
from holdfast.core.policy import State
from holdfast.core.risk import at_least, risk_of
from holdfast.core.settings import MemorySettings
from holdfast.core.verdict import NOTHING, Finding, Inject, Verdict

NAME = "recovery_gate"

BLOCKED = Phrase(
    "recovery_gate.blocked",
    "[Recovery Gate] The context was compacted. Before this, read:\n{calls}",
    "[Recovery Gate] 上下文已被压缩。执行此操作前请先读取：\n{calls}",
)
CLEARED = Phrase(
    "recovery_gate.cleared", "[Recovery Gate] Cleared by memory-reader.", "[Recovery Gate] 已由 memory-reader 解除。"
)


class RecoveryGate:
    """Holds in every guard mode; its own switch is `memory.recovery`.

    State: `anchors` (newest first), `unread` (what must still be read; absent: the gate is open), `compactions`,
    and `settling` while the several signals of one compaction come in.
    """

    name = NAME
    on_error: Literal["open", "closed"] = "closed"

    def __init__(self, settings: MemorySettings) -> None:
        self._settings = settings

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if not self._settings.enabled:
            return NOTHING, state
        match event:
            case Compacting():
                return Verdict(inject=self._memory(event.memory)), _without(state, "settling")
            case Compacted() | SessionStarted(source="compact"):
                return self._compacted(event, state)
            case SessionStarted():
                return Verdict(inject=(*self._memory(event.memory), *self._anchors(event.memory, state))), state
            case HistorySending():
                return Verdict(inject=(*self._memory(event.memory), *self._anchors(event.memory, state))), state
            case PromptSubmitted():
                return Verdict(inject=self._anchors(event.memory, state)), _without(state, "settling")
            case ToolCalled():
                return self._read(event, _without(state, "settling"))
            case ToolCalling():
                return self._calling(event, _without(state, "settling"))
            case _:
                return NOTHING, state

    def _compacted(self, event: Compacted | SessionStarted, state: State) -> tuple[Verdict, State]:
        if not state.get("settling"):
            # A host may tell of one compaction twice (Claude: SessionStart, then PostCompact); it counts once.
            unread = required_anchors(state.get("anchors", ()), event.memory) if self._settings.recovery else []
            state = {
                **_without(state, "unread"),
                "compactions": state.get("compactions", 0) + 1,
                "settling": True,
                **({"unread": unread, "all": unread} if unread else {}),
            }
        return Verdict(inject=(*self._memory(event.memory), *self._anchors(event.memory, state))), state

    def _memory(self, facts: MemoryFacts | None) -> tuple[Inject, ...]:
        text = injection(facts)
        return (Inject(text, sentinel=MEMORY_OPEN),) if text else ()

    def _anchors(self, facts: MemoryFacts | None, state: State) -> tuple[Inject, ...]:
        paths = existing(state.get("all", ()), facts) if state.get("unread") else []
        if not paths:
            return ()
        return (Inject(anchor_block(paths, facts, state.get("compactions", 0)), sentinel=ANCHORS_OPEN),)

    def _read(self, event: ToolCalled, state: State) -> tuple[Verdict, State]:
        read = files_read(event)
        facts = event.memory or MemoryFacts()
        new: dict[str, Any] = dict(state)
        for path in read:
            if is_anchor(path, facts):
                new["anchors"] = with_anchor(new.get("anchors", ()), path, facts)
        if not state.get("unread"):
            return NOTHING, (new if new != state else state)
        if calls_reader(event):
            return Verdict(findings=(Finding(NAME, "allow", CLEARED()),)), _without(new, "unread", "all")
        seen = {facts.fold(path) for path in read}
        unread = [path for path in new["unread"] if facts.fold(path) not in seen]
        return NOTHING, ({**new, "unread": unread} if unread else _without(new, "unread", "all"))

    def _calling(self, event: ToolCalling, state: State) -> tuple[Verdict, State]:
        if not state.get("unread") or not self._settings.recovery:
            return NOTHING, state
        unread = existing(state["unread"], event.memory)
        if not unread:
            return NOTHING, _without(state, "unread", "all")
        if unread != state["unread"]:
            state = {**state, "unread": unread}
        if not at_least(risk_of(event.call, self._settings), "medium"):
            return NOTHING, state
        calls = "\n".join(f"  {read_call(event.where.agent, path)}" for path in unread)
        return Verdict(findings=(Finding(NAME, "deny", BLOCKED(calls=calls)),)), state


def _without(state: State, *keys: str) -> State:
    return {k: v for k, v in state.items() if k not in keys} if any(key in state for key in keys) else state
