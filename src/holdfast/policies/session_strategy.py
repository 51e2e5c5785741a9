"""Watch how full a session is and ask for a warning or a seal, as its strategy says (SC9).

The state doubles as the record: the latest health and action, and how often the session was compacted, stand in it for
the page and the chain. Sealing itself is the plane's: never in the middle of a turn or of an open approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from holdfast.core.context_health import Health
from holdfast.core.events import Compacted, ContextMeasured, Event, SessionStarted
from holdfast.core.messages import Message, Phrase
from holdfast.core.policy import State
from holdfast.core.settings import SessionStrategy, Settings
from holdfast.core.strategy import (
    OWN_HOST,
    SIGNALS,
    Action,
    Effective,
    Signal,
    Who,
    action_for,
    effective,
    out_of_budget,
)
from holdfast.core.verdict import NOTHING, Seal, SealReason, Verdict

WARNING = Phrase(
    "strategy.warn",
    "The context is {ratio} full ({used} of {usable} usable tokens); from {action} on the strategy {strategy} acts.",
    "上下文已用 {ratio}（可用 {usable} tokens 中的 {used}）；达到 {action} 时将执行 {strategy} 策略。",
)
SEALING = Phrase(
    "strategy.seal",
    "The context is {ratio} full, so this session is sealed when the turn ends; the next message goes on in a new one.",
    "上下文已用 {ratio}，本轮结束后封存此会话；下一条消息会在新会话中继续。",
)
SEALING_AFTER = Phrase(
    "strategy.seal_after_compress",
    "This session was compacted {compressions} times and is full again, so it is sealed when the turn ends.",
    "此会话已压缩 {compressions} 次并再次接近上限，本轮结束后封存。",
)
SEALING_BUDGET = Phrase(
    "strategy.budget",
    "Only {remaining} tokens remain, less than the reserve, so this session is sealed when the turn ends.",
    "仅剩 {remaining} tokens，低于预留量，本轮结束后封存此会话。",
)


class SessionStrategyPolicy:
    """On `ContextMeasured` and `Compacted`; `override` is what this run was started with."""

    name = "session_strategy"
    on_error: Literal["open", "closed"] = "open"

    def __init__(
        self,
        settings: Settings,
        *,
        override: SessionStrategy | None = None,
        signals: Mapping[str, Signal] = SIGNALS,
    ) -> None:
        self._settings = settings
        self._override = override
        self._signals = signals

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if isinstance(event, SessionStarted):
            return NOTHING, {**state, "host": event.host, "model": event.model or state.get("model", "")}
        if isinstance(event, ContextMeasured):
            return self._measured(event, state)
        if isinstance(event, Compacted):
            return self._compacted(event, state)
        return NOTHING, state

    def _measured(self, event: ContextMeasured, state: State) -> tuple[Verdict, State]:
        health = Health.of(event)
        rule = self._rule(Who(event.host, event.where.agent, event.model), event.window, event.reserve)
        if event.where.subagent:  # its context is its own; it ends with its task and is never handed on
            rule = replace(rule, chain=False)
        compressions = max(event.compressions, int(state.get("compressions", 0)))
        action = action_for(health, rule, compressions)
        warnings = _unsaid(rule.notes, state)
        if action != state.get("action") and (message := _message(action, health, rule, compressions)):
            warnings.append(message)
        after = {
            **state,
            **health.to_dict(),
            "host": event.host,
            "model": event.model,
            "strategy": rule.strategy,
            "source": rule.source,
            "approximate": rule.approximate or not health.exact,
            "action": action,
            "compressions": compressions,
            "said": [*state.get("said", ()), *(note.code for note in _unsaid(rule.notes, state))],
        }
        return Verdict(warnings=tuple(warnings), seal=_seal(action, health, rule)), after

    def _compacted(self, event: Compacted, state: State) -> tuple[Verdict, State]:
        """Count it; a hybrid session that was compacted more often than it may is sealed."""
        host = str(state.get("host", OWN_HOST))
        rule = self._rule(Who(host, event.where.agent, str(state.get("model", ""))), None, None)
        # Our own runtime reports a pruning as well, without a summary: nothing was compressed.
        pruned_only = host == OWN_HOST and not event.summary
        compressions = int(state.get("compressions", 0)) + (not pruned_only)
        after: dict[str, Any] = {**state, "compressions": compressions}
        over = compressions > rule.max_compressions
        if pruned_only and state.get("window") is None and event.trigger == "auto":
            # The window is unknown, so no ratio will ever say that it is full again: this pruning does.
            over = compressions >= rule.max_compressions
        if rule.strategy != "hybrid" or not over or not rule.chain or event.where.subagent:
            return NOTHING, after
        after["action"] = "seal_after_compress"
        warnings = (SEALING_AFTER(compressions=compressions),) if state.get("action") != after["action"] else ()
        return Verdict(warnings=warnings, seal=Seal("compressions", state.get("ratio"))), after

    def _rule(self, who: Who, window: int | None, reserve: int | None) -> Effective:
        return effective(self._settings, who, window, reserve, self._override, self._signals)


def _unsaid(notes: tuple[Message, ...], state: State) -> list[Message]:
    """Notes on the strategy itself, each told once in a session."""
    return [note for note in notes if note.code not in state.get("said", ())]


def _message(action: Action, health: Health, rule: Effective, compressions: int) -> Message | None:
    ratio = f"{100 * (health.ratio or 0):.0f} %"
    if action == "warn":
        room = (health.window or 0) - (health.reserve or 0)
        at = f"{100 * rule.action:.0f} %"
        return WARNING(ratio=ratio, used=health.used, usable=room, action=at, strategy=rule.strategy)
    if action == "seal_after_compress":
        return SEALING_AFTER(compressions=compressions)
    if action == "seal":
        if out_of_budget(health, rule):
            return SEALING_BUDGET(remaining=health.remaining)
        return SEALING(ratio=ratio)
    return None


def _seal(action: Action, health: Health, rule: Effective) -> Seal | None:
    if action not in ("seal", "seal_after_compress"):
        return None
    reason: SealReason = "budget" if out_of_budget(health, rule) else "threshold"
    return Seal("compressions" if action == "seal_after_compress" else reason, health.ratio)
