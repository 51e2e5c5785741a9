"""What a check of the doctor found; every part of the program that can be ill describes itself in these words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Health:
    """One finding: what was looked at, how it is, and what to do about it."""

    check: str
    level: Level
    what: str
    fix: str = ""
    """The next step; never empty unless the level is `ok`."""

    def __post_init__(self) -> None:
        if self.level != "ok" and not self.fix:
            raise ValueError(f"finding {self.check!r} of level {self.level!r} needs a fix")
