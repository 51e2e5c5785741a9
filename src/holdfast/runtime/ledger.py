"""What a thread has used and cost, and the budget that stops it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.core.keys import SessionKey
from holdfast.core.messages import Phrase
from holdfast.core.settings import BudgetSettings
from holdfast.runtime.trouble import Trouble
from holdfast.store.interface import StateConflict, Store

OUT_OF_BUDGET = Phrase(
    "model.budget",
    "This thread has used {used} of {limit} {unit} (agents.runtime.budget).",
    "本线程已使用 {used}，上限 {limit} {unit}（agents.runtime.budget）。",
)
RAISE_BUDGET = Phrase("model.raise_budget", "Raise the budget, or start a new thread.", "请提高预算，或开启新的线程。")


@dataclass(frozen=True, slots=True)
class Totals:
    """Of one thread, over all its sessions and sub-agents."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    """None when some model's price is not known."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Ledger:
    """Kept in the store, so that a budget holds over restarts."""

    def __init__(self, store: Store, key: SessionKey) -> None:
        self._store = store
        self._name = f"usage:{key.user}:{key.agent}:{key.thread}"

    def totals(self) -> Totals:
        kept: Any = self._store.noted(self._name)
        return Totals(**kept) if isinstance(kept, dict) else Totals()

    def add(self, input_tokens: int, output_tokens: int, cost: float | None) -> Totals:
        before = self.totals()
        known = before.cost is not None and cost is not None
        after = Totals(
            before.requests + 1,
            before.input_tokens + input_tokens,
            before.output_tokens + output_tokens,
            (before.cost or 0.0) + (cost or 0.0) if known else None,
        )
        body = {
            "requests": after.requests,
            "input_tokens": after.input_tokens,
            "output_tokens": after.output_tokens,
            "cost": after.cost,
        }
        self._store.note(self._name, body)
        return after

    def check(self, budget: BudgetSettings) -> None:
        """Raises `Trouble` when the budget is used up."""
        totals = self.totals()
        if budget.max_tokens is not None and totals.tokens >= budget.max_tokens:
            why = OUT_OF_BUDGET(used=totals.tokens, limit=budget.max_tokens, unit="tokens")
            raise Trouble("budget", why, RAISE_BUDGET())
        if budget.max_cost is not None and totals.cost is not None and totals.cost >= budget.max_cost:
            why = OUT_OF_BUDGET(used=f"{totals.cost:.4f}", limit=budget.max_cost, unit="")
            raise Trouble("budget", why, RAISE_BUDGET())


def remember_health(
    store: Store, session: str, *, used: int, window: int | None, reserve: int | None, exact: bool, at: float
) -> None:
    """The context's fill, for the bar of any terminal or page (SC2)."""
    for _ in range(20):
        current = store.session(session)
        if current is None:
            return
        try:
            store.update_session(
                session, current.version, used=used, window=window, reserve=reserve, exact=exact, measured_at=at
            )
            return
        except StateConflict:
            continue
