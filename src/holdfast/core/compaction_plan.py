"""One compaction: the plan of it, and the history and record that come of it (CO6-CO8, CO10).

Whoever runs the model asks it for `plan.prompt` over `plan.input` when `plan.asks_model`, and in any case hands the
answer (or None) to `apply_summary`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.core.history import Item, Size, measure, partners
from holdfast.core.messages import Language, Message, Phrase
from holdfast.core.pruning import (
    REPLACED,
    Division,
    Pruned,
    is_pinned_lines,
    is_summary,
    one_liner,
    prune,
    repair,
)
from holdfast.core.summary import ApprovalFact, pinned_item, prompt_for, summary_input, summary_item
from holdfast.core.tokens import Estimator

Trigger = Literal["auto", "manual", "overflow"]
Method = Literal["summary", "pruned", "repaired", "none"]
Fallback = Literal["", "no_summary", "larger"]

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

REPAIRED = Phrase(
    "compaction.repaired",
    "Calls without a result, or results without a call, were taken out of the history; nothing else was changed.",
    "已从历史中移除缺少结果的调用或缺少调用的结果；其余内容未改动。",
)
_SAYS: Mapping[Method, Phrase] = {
    "summary": SUMMARISED,
    "pruned": PRUNED_ONLY,
    "repaired": REPAIRED,
    "none": NOTHING_TO_DO,
}


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
        line_of = one_liner(self.division, self.protected_tools)
        return summary_input(self.division.older(), line_of, self.input_limit, self.estimate)

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
        phrase = _SAYS[self.method]
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
    method: Method = "pruned" if tools else "none" if history == plan.original else "repaired"
    record = CompactionRecord(
        plan.trigger, method, plan.before, after, 0, tools, fallback, narrowed=plan.division.narrowed
    )
    return CompactionResult(history, record)


def _dropped(division: Division) -> dict[str, int]:
    history, partner = division.history, division.partner
    return dict(Counter([history[i].tool or history[partner[i]].tool for i in division.old_results]))


def _with_pinned(pruned: tuple[Item, ...], plan: Plan) -> tuple[Item, ...]:
    """The pruned history with the pinned lines as they stand in the settings now."""
    history = [item for item in pruned if item.kind != "system" or not is_pinned_lines(item)]
    if plan.pinned:
        history.insert(1 if history and is_summary(history[0]) else 0, pinned_item(plan.pinned, plan.estimate))
    return tuple(history)
