"""How full a session's context is, and how far the figure can be trusted (SC2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.core.events import ContextMeasured
from holdfast.core.tokens import output_reserve, usable

STALE_AFTER_SECONDS = 300.0
OUTGROWN_AFTER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Health:
    used: int
    window: int | None
    reserve: int | None
    """What stays free for the answer: the host's own figure, else ours; None without a window."""
    exact: bool
    at: float
    """When it was measured."""

    @classmethod
    def of(cls, event: ContextMeasured) -> Health:
        reserve = event.reserve
        if reserve is None and event.window is not None:
            reserve = output_reserve(event.window)
        # Without a window nothing can be exact: there is nothing to compare with.
        return cls(event.used, event.window, reserve, event.exact and event.window is not None, event.at)

    @property
    def ratio(self) -> float | None:
        """Share of the usable window that is taken; None when no window is known."""
        if self.window is None:
            return None
        return self.used / max(1, usable(self.window, self.reserve))

    @property
    def remaining(self) -> int | None:
        return None if self.window is None else self.window - self.used

    def age(self, now: float) -> float:
        return max(0.0, now - self.at)

    def is_stale(self, now: float, last_event: float | None = None) -> bool:
        """Whether it is too old to be shown as what is so now, or the session went on for a while since."""
        if last_event is not None and last_event - self.at > OUTGROWN_AFTER_SECONDS:
            return True
        return self.age(now) > STALE_AFTER_SECONDS

    def to_dict(self) -> dict[str, Any]:
        ratio = self.ratio
        return {
            "used": self.used,
            "window": self.window,
            "reserve": self.reserve,
            "ratio": None if ratio is None else round(ratio, 4),
            "exact": self.exact,
            "at": self.at,
        }
