"""Keep a history inside the model's window: when to compact, what is lost by it, and what never is (CO1-CO10).

The policy only plans. Whoever runs the model asks it for `plan.prompt` over `plan.input` when `plan.asks_model`, and
in any case hands the answer (or None) to `apply_summary`, together with the approvals on record: what comes back is the
history to send and to keep, and the record of what was done.

How far it goes is the session strategy's to say (SC9): `handoff` prunes at the threshold, `compress` summarises,
`hybrid` summarises up to `max_compressions` times in a session. What the user asks for, and a request that the provider
has refused as too long, are summarised under any strategy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from holdfast.core.calibration import Calibration, Line
from holdfast.core.events import Compacted, ContextMeasured, Event, HistorySending
from holdfast.core.history import Item, Size, count_characters, count_tokens, measure, partners
from holdfast.core.messages import Language, Message, Phrase
from holdfast.core.policy import State
from holdfast.core.pruning import (
    OLD,
    REPLACED,
    Division,
    Pruned,
    divide,
    is_pinned_lines,
    is_summary,
    prune,
    pruned_lines,
    repair,
)
from holdfast.core.settings import CompactionSettings, Settings, StrategyName
from holdfast.core.summary import (
    APPROVALS_CHARS,
    ApprovalFact,
    language_of,
    pinned_item,
    prompt_for,
    summary_input,
    summary_item,
)
from holdfast.core.tokens import Estimator, estimator, usable, window_for
from holdfast.core.verdict import NOTHING, Summarise, Verdict

Trigger = Literal["auto", "manual", "overflow"]
Method = Literal["summary", "pruned", "none"]
Fallback = Literal["", "no_summary", "larger"]

CALM_SHARE = 0.9
"""A turn may compact again once the history was seen this far below the threshold: what was done has worked."""
REFUSED_SHARE = 0.8
"""After a refusal, histories of this model stay below this share of what was refused."""
MODELS_REMEMBERED = 8
SUMMARY_SHARE, SHORTEST_SUMMARY, LONGEST_SUMMARY = 0.1, 200, 4096
"""Tokens that a summary may take, as a share of what may be sent, and its bounds."""

NOTHING_TO_DO = Phrase(
    "compaction.nothing",
    "There is nothing to compact: the history is no longer than its protected turns.",
    "没有可压缩的内容：历史不超过受保护的最近几轮。",
)
SUMMARISED = Phrase(
    "compaction.summarised",
    "Compacted from about {before} to {after} tokens; a summary stands for the older part.",
    "已压缩：约 {before} → {after} tokens；较早的部分由摘要代替。",
)
PRUNED_ONLY = Phrase(
    "compaction.pruned",
    "Older tool outputs were shortened, from about {before} to {after} tokens; no summary was made.",
    "已精简较早的工具输出：约 {before} → {after} tokens；没有生成摘要。",
)


@dataclass(frozen=True, slots=True)
class Plan:
    """One compaction, ready but for the summary."""

    trigger: Trigger
    original: tuple[Item, ...]
    before: Size
    division: Division
    pruned: Pruned | None
    """Already known where no summary is to be asked for."""
    asks_model: bool
    language: Language
    model: str
    """Who is to write the summary; empty: the working model."""
    input_limit: int
    summary_limit: int
    """Most tokens of the summary; a longer one is cut."""
    timeout_seconds: float
    protected_tools: tuple[str, ...]
    pinned: tuple[str, ...]
    estimate: Estimator = field(repr=False, compare=False)

    @property
    def prompt(self) -> str:
        return prompt_for(self.language, self.summary_limit)

    @property
    def input(self) -> str:
        """The older part as text: unpruned as far as it fits, the rest pruned."""
        history = self.division.history
        old = self.division.old()
        if REPLACED in self.division.fates:  # an earlier summary is folded into the new one
            old = sorted([*old, *(i for i, item in enumerate(history) if is_summary(item))])
        lines = pruned_lines(self.division, self.protected_tools)
        return summary_input(history, old, lines, self.input_limit, self.estimate)

    def prune(self) -> Pruned:
        return self.pruned or prune(self.division, self.protected_tools)


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """What the page shows and the transcript keeps (CO8)."""

    trigger: Trigger
    method: Method
    before: Size
    after: Size
    summary_length: int
    dropped_tools: Mapping[str, int]
    """Results by tool that are no longer in the history as they were."""
    fallback: Fallback = ""
    """Why there is no summary although one was asked for."""
    narrowed: bool = False

    def message(self) -> Message:
        phrase = {"summary": SUMMARISED, "pruned": PRUNED_ONLY, "none": NOTHING_TO_DO}[self.method]
        return phrase(before=self.before.tokens, after=self.after.tokens)

    def to_dict(self) -> dict[str, Any]:
        return {
            "trigger": self.trigger,
            "method": self.method,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "summaryLength": self.summary_length,
            "droppedTools": dict(self.dropped_tools),
            "fallback": self.fallback,
            "narrowed": self.narrowed,
        }


@dataclass(frozen=True, slots=True)
class CompactionResult:
    history: tuple[Item, ...]
    record: CompactionRecord
    summary: str = ""
    """The text of the summary item, for the page; empty when there is none."""


def apply_summary(plan: Plan, summary: str | None, approvals: Sequence[ApprovalFact] = ()) -> CompactionResult:
    """The history after compaction; without a usable summary it is only pruned, and the run goes on (CO7)."""
    fallback: Fallback = "no_summary" if plan.asks_model else ""
    if plan.asks_model and summary and summary.strip():
        item = summary_item(summary, approvals, plan.language, plan.summary_limit, plan.estimate)
        pinned = [pinned_item(plan.pinned, plan.estimate)] if plan.pinned else []
        history = (item, *pinned, *plan.division.remaining())
        after = measure(history, plan.estimate)
        if not after.larger_than(plan.before):
            record = CompactionRecord(
                plan.trigger, "summary", plan.before, after, len(summary.strip()), _dropped(plan.division),
                narrowed=plan.division.narrowed,
            )  # fmt: skip
            return CompactionResult(history, record, item.text)
        fallback = "larger"
    pruned = plan.prune()
    tools = pruned.tools
    history = pruned.history
    if tools and (plan.pinned or REPLACED in plan.division.fates):
        history = _with_pinned(history, plan)
    after = measure(history, plan.estimate)
    if after.larger_than(plan.before):  # the pinned lines are longer than what pruning saves: it all stays
        history, tools = repair(plan.original, partners(plan.original)[1], note_missing=False), {}
        after = measure(history, plan.estimate)
    method: Method = "pruned" if tools else "none"
    record = CompactionRecord(
        plan.trigger, method, plan.before, after, 0, tools, fallback, narrowed=plan.division.narrowed
    )
    return CompactionResult(history, record)


def _dropped(division: Division) -> dict[str, int]:
    results = [index for index in division.old() if division.history[index].kind == "result"]
    return dict(Counter([division.history[i].tool or division.history[division.partner[i]].tool for i in results]))


def _with_pinned(pruned: tuple[Item, ...], plan: Plan) -> tuple[Item, ...]:
    """The pruned history with the pinned lines as they stand in the settings now."""
    history = [item for item in pruned if item.kind != "system" or not is_pinned_lines(item)]
    if plan.pinned:
        history.insert(1 if history and is_summary(history[0]) else 0, pinned_item(plan.pinned, plan.estimate))
    return tuple(history)


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
        strategy: StrategyName = "hybrid",
        max_compressions: int = 1,
        tokenizer: Estimator | None = None,
    ) -> None:
        self._settings: CompactionSettings = settings.runtime.compaction
        self._models = settings.runtime.models
        self._strategy = strategy
        self._max_compressions = max_compressions
        self._estimate = estimator(self._settings.estimator, tokenizer)
        self._system_tokens = lru_cache(maxsize=16)(self._estimate)

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if isinstance(event, HistorySending):
            return self._before_sending(event, state)
        if isinstance(event, ContextMeasured) and event.exact:
            return NOTHING, _learned(event, state)
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
        given, lonely = partners(event.history)
        pruned: Pruned | None = None
        for note_missing in (True, False):
            history = repair(event.history, lonely, note_missing, self._estimate)
            partner = given if history is event.history else partners(history)[0]
            division = divide(
                history, partner, self._settings.protected_turns, limit.leaves_room, added, self._estimate
            )
            asks = OLD in division.fates and self._may_summarise(trigger, state)
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

    def _may_summarise(self, trigger: Trigger, state: State) -> bool:
        if trigger != "auto" or self._strategy == "compress":
            return True
        return self._strategy == "hybrid" and bool(state.get("compressions", 0) < self._max_compressions)

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
