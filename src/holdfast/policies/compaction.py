"""Keep a history inside the model's window: when to compact, what is lost by it, and what never is (CO1-CO10).

The policy only plans. Whoever runs the model finishes the plan with `apply_summary`: what comes back is the history to
send and to keep, and the record of what was done.

How far it goes is the session strategy's to say (SC9): `handoff` prunes at the threshold, `compress` summarises,
`hybrid` summarises up to maxCompressions times in a session. What the user asks for, and a request that the provider
has refused as too long, are summarised under any strategy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from holdfast.core.calibration import Calibration, Line
from holdfast.core.compaction_plan import (
    NOTHING_TO_DO,
    CompactionRecord,
    CompactionResult,
    Plan,
    Trigger,
    apply_summary,
)
from holdfast.core.events import Compacted, ContextMeasured, Event, HistorySending, SessionStarted
from holdfast.core.history import Size, count_characters, count_tokens, measure, outline
from holdfast.core.policy import State
from holdfast.core.pruning import (
    OLD,
    Pruned,
    divide,
    prune,
    repair,
)
from holdfast.core.settings import CompactionSettings, SessionStrategy, Settings
from holdfast.core.strategy import OWN_HOST, Who, effective
from holdfast.core.summary import (
    APPROVALS_CHARS,
    language_of,
    pinned_item,
)
from holdfast.core.tokens import Estimator, estimator, usable, window_for
from holdfast.core.verdict import NOTHING, Summarise, Verdict

__all__ = ["Compaction", "CompactionRecord", "CompactionResult", "Plan", "apply_summary"]

CALM_SHARE = 0.9
"""A turn may compact again once the history was seen this far below the threshold: what was done has worked."""
REFUSED_SHARE = 0.8
"""After a refusal, histories of this model stay below this share of what was refused."""
MODELS_REMEMBERED = 8
SUMMARY_SHARE, SHORTEST_SUMMARY, LONGEST_SUMMARY = 0.1, 200, 4096
"""Tokens that a summary may take, as a share of what may be sent, and its bounds."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """How much may be sent: in tokens as the model counts them, or in characters where its window is unknown."""

    tokens: float | None
    characters: int
    refused: int | None
    """Our estimate of a request that this model has refused."""
    line: Line
    system: int

    @property
    def by_tokens(self) -> bool:
        return self.tokens is not None

    def used(self, tokens: int) -> float:
        return self.line.ratio * (tokens + self.system) + self.line.overhead

    def leaves_room(self, tokens: int, characters: int, share: float = 1.0) -> bool:
        if self.refused is not None and tokens + self.system > share * REFUSED_SHARE * self.refused:
            return False
        if self.tokens is not None:
            return self.used(tokens) <= share * self.tokens
        return characters <= share * self.characters


class Compaction:
    """On `HistorySending`: plan a compaction when one is due. Learns from `ContextMeasured`, counts `Compacted`."""

    name = "compaction"
    on_error: Literal["open", "closed"] = "open"

    def __init__(
        self,
        settings: Settings,
        *,
        override: SessionStrategy | None = None,
        tokenizer: Estimator | None = None,
    ) -> None:
        self._all = settings
        self._settings: CompactionSettings = settings.runtime.compaction
        self._models = settings.runtime.models
        self._override = override
        self._estimate = estimator(self._settings.estimator, tokenizer)
        self._system_tokens = lru_cache(maxsize=16)(self._estimate)

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if isinstance(event, HistorySending):
            return self._before_sending(event, state)
        if isinstance(event, ContextMeasured) and event.exact:
            return NOTHING, _learned(event, state)
        if isinstance(event, SessionStarted):
            return NOTHING, {**state, "host": event.host}
        if isinstance(event, Compacted) and event.summary:
            return NOTHING, {**state, "compressions": state.get("compressions", 0) + 1}
        return NOTHING, state

    def _before_sending(self, event: HistorySending, state: State) -> tuple[Verdict, State]:
        limit = self._limit(event, state)
        tokens = count_tokens(event.history, self._estimate)
        size = Size(tokens, 0 if limit.by_tokens else count_characters(event.history))
        sent = {"model": event.model, "estimate": tokens + limit.system}
        after: dict[str, Any] = {**state, "sent": sent}
        if event.overflow:
            refused = {**state.get("refused", {}), event.model: sent["estimate"]}
            after["refused"] = dict(list(refused.items())[-MODELS_REMEMBERED:])
            limit = self._limit(event, after)
        over = not limit.leaves_room(size.tokens, size.characters)
        trigger = self._trigger(event, state, over)
        if trigger is None:
            if "mark" in after and limit.leaves_room(size.tokens, size.characters, CALM_SHARE):
                del after["mark"]
            return NOTHING, after
        before = Size(tokens, count_characters(event.history))
        plan = self._plan(event, before, limit, trigger, state)
        if plan is None:
            return (Verdict(warnings=(NOTHING_TO_DO(),)) if event.manual else NOTHING), after
        after["mark"] = [event.model, event.invocation]
        if trigger == "overflow":
            after["forced"] = event.invocation
        history = None if plan.asks_model else apply_summary(plan, None).history
        return Verdict(history=history, summarise=Summarise(plan)), after

    def _trigger(self, event: HistorySending, state: State, over: bool) -> Trigger | None:
        if event.manual:
            return "manual"
        if not self._settings.enabled:
            return None
        if event.overflow:
            return "overflow" if state.get("forced") != event.invocation else None
        if over and state.get("mark") != [event.model, event.invocation]:
            return "auto"
        return None

    def _limit(self, event: HistorySending, state: State) -> _Limit:
        own = self._models.get(event.model)
        window = window_for(event.model, own.custom_context if own else None, event.window, event.managed)
        return _Limit(
            None if window is None else self._settings.threshold * usable(window),
            self._settings.fallback_char_limit,
            state.get("refused", {}).get(event.model),
            Calibration.from_json(state.get("calibration")).line(event.model),
            self._system_tokens(event.system),
        )

    def _plan(self, event: HistorySending, before: Size, limit: _Limit, trigger: Trigger, state: State) -> Plan | None:
        summary_limit = self._summary_limit(limit)
        added = self._added(summary_limit)
        given = outline(event.history)
        pruned: Pruned | None = None
        for note_missing in (True, False):
            history = repair(event.history, given.lonely, note_missing, self._estimate)
            found = given if history is event.history else outline(history)
            division = divide(history, found, self._settings.protected_turns, limit.leaves_room, added, self._estimate)
            asks = OLD in division.fates and self._may_summarise(event, trigger, state)
            if asks and history is event.history:
                break
            pruned = prune(division, self._settings.protected_tools)
            if history is event.history or not measure(pruned.history, self._estimate).larger_than(before):
                break
        if not asks and history is event.history and not (pruned and pruned.tools):
            return None
        return Plan(
            trigger, event.history, before, division, pruned, asks, language_of(event.history) if asks else "en",
            self._settings.model, self._input_limit(event), summary_limit, self._settings.timeout_seconds,
            self._settings.protected_tools, self._settings.pinned, self._estimate,
        )  # fmt: skip

    def _may_summarise(self, event: HistorySending, trigger: Trigger, state: State) -> bool:
        if trigger != "auto":
            return True
        who = Who(str(state.get("host", OWN_HOST)), event.where.agent, event.model)
        rule = effective(self._all, who, override=self._override)
        if rule.strategy == "hybrid":
            return bool(state.get("compressions", 0) < rule.max_compressions)
        return rule.strategy == "compress"

    def _summary_limit(self, limit: _Limit) -> int:
        tokens = limit.tokens if limit.tokens is not None else limit.characters / 4
        return max(SHORTEST_SUMMARY, min(LONGEST_SUMMARY, int(SUMMARY_SHARE * tokens)))

    def _added(self, summary_limit: int) -> Size:
        """What a compaction adds at most: the summary with its list of approvals, and the pinned lines."""
        pinned = measure([pinned_item(self._settings.pinned, self._estimate)] if self._settings.pinned else [])
        tokens = summary_limit + APPROVALS_CHARS // 4 + pinned.tokens
        return Size(tokens, 4 * summary_limit + APPROVALS_CHARS + pinned.characters)

    def _input_limit(self, event: HistorySending) -> int:
        """The prompt limit, or less where the summariser's own window is smaller."""
        model = self._settings.model or event.model
        own = self._models.get(model)
        reported = event.window if model == event.model else None
        window = window_for(model, own.custom_context if own else None, reported, event.managed)
        if window is None:
            return self._settings.prompt_limit
        return min(self._settings.prompt_limit, int(self._settings.threshold * usable(window)))


def _learned(event: ContextMeasured, state: State) -> State:
    """What the provider counted, set against what we had estimated for the same request."""
    sent = state.get("sent")
    if not isinstance(sent, Mapping) or (event.model and sent.get("model") != event.model):
        return state
    model, estimated = str(sent["model"]), int(sent["estimate"])
    calibration = Calibration.from_json(state.get("calibration")).observe(model, estimated, event.used)
    learned = {**{k: v for k, v in state.items() if k != "sent"}, "calibration": calibration.to_json()}
    refused = state.get("refused", {})
    if estimated > refused.get(model, estimated):  # it took more than it once refused
        learned["refused"] = {name: size for name, size in refused.items() if name != model}
    return learned
