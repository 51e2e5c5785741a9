"""What a thread has used and cost, and the budget that stops it.

Every request leaves a `ContextMeasured` event; the totals are those events counted. A note keeps the sum up to a
number, so that counting starts there: a crash loses nothing, and a request costs no extra write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from holdfast.core.keys import SessionId
from holdfast.core.messages import Phrase
from holdfast.core.settings import BudgetSettings
from holdfast.runtime.models import ModelChoice
from holdfast.runtime.trouble import Trouble
from holdfast.store.interface import StateConflict, Store

OUT_OF_BUDGET = Phrase(
    "model.budget",
    "This thread has used {used} of {limit} {unit} (agents.runtime.budget).",
    "本线程已使用 {used}，上限 {limit} {unit}（agents.runtime.budget）。",
)
RAISE_BUDGET = Phrase("model.raise_budget", "Raise the budget, or start a new thread.", "请提高预算，或开启新的线程。")
_PAGE = 1000


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

    def plus(self, input_tokens: int, output_tokens: int, cost: float | None) -> Totals:
        return Totals(
            self.requests + 1,
            self.input_tokens + input_tokens,
            self.output_tokens + output_tokens,
            None if self.cost is None or cost is None else self.cost + cost,
        )


@dataclass(slots=True)
class Health:
    """The latest measure of the main agent's context, for the session's row (SC2)."""

    used: int
    window: int | None
    reserve: int | None
    exact: bool
    measured_at: float


@dataclass(slots=True)
class Ledger:
    """One conversation's; `load` when a turn begins, `save` when it ends."""

    store: Store
    where: SessionId
    choice_of: Callable[[str], ModelChoice]
    totals: Totals = field(default_factory=Totals)
    health: Health | None = None

    def load(self) -> None:
        kept: Any = self.store.noted(self._name)
        totals = Totals(**kept["totals"]) if isinstance(kept, dict) else Totals()
        after = int(kept["seen"].get(self.where.session, 0)) if isinstance(kept, dict) else 0
        while page := self.store.events(self.where.session, after=after, kinds=("context_measured",), limit=_PAGE):
            for record in page:
                used, said = int(record.data["used"]), int(record.data.get("output", 0))
                if record.data.get("exact"):
                    cost = self.choice_of(str(record.data.get("model", ""))).cost(used, said)
                    totals = totals.plus(used, said, cost)
            after = page[-1].no
        self.totals = totals

    def add(self, input_tokens: int, output_tokens: int, cost: float | None) -> Totals:
        """A request whose event is already durable."""
        self.totals = self.totals.plus(input_tokens, output_tokens, cost)
        return self.totals

    def save(self) -> None:
        """Put the sum down, and the health into the session's row."""
        last = self.store.events(self.where.session, kinds=("context_measured",), limit=1, newest_first=True)
        if last:
            kept: Any = self.store.noted(self._name)
            seen = {**kept["seen"]} if isinstance(kept, dict) else {}
            totals = {name: getattr(self.totals, name) for name in Totals.__slots__}
            self.store.note(self._name, {"totals": totals, "seen": {**seen, self.where.session: last[0].no}})
        if self.health is not None:
            _remember(self.store, self.where.session, self.health)

    def check(self, budget: BudgetSettings) -> None:
        """Raises `Trouble` when the budget is used up."""
        totals = self.totals
        if budget.max_tokens is not None and totals.tokens >= budget.max_tokens:
            why = OUT_OF_BUDGET(used=totals.tokens, limit=budget.max_tokens, unit="tokens")
            raise Trouble("budget", why, RAISE_BUDGET())
        if budget.max_cost is not None and totals.cost is not None and totals.cost >= budget.max_cost:
            why = OUT_OF_BUDGET(used=f"{totals.cost:.4f}", limit=budget.max_cost, unit="")
            raise Trouble("budget", why, RAISE_BUDGET())

    @property
    def _name(self) -> str:
        key = self.where.key
        return f"usage:{key.user}:{key.agent}:{key.thread}"


def _remember(store: Store, session: str, health: Health) -> None:
    for _ in range(20):
        current = store.session(session)
        if current is None or current.state != "active":
            return
        try:
            changes = {name: getattr(health, name) for name in Health.__slots__}
            store.update_session(session, current.version, **changes)
            return
        except StateConflict:
            continue
