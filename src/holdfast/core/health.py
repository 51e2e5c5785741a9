"""What a check of the doctor found; every part of the program that can be ill describes itself in these words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from holdfast.core.messages import Message, Phrase

Level = Literal["ok", "warning", "problem"]
RUN = Phrase("doctor.run", "run: {command}", "运行：`{command}`")
"""The fix that is one command."""


@dataclass(frozen=True, slots=True)
class Health:
    """One finding: what was looked at, how it is, and what to do about it."""

    check: str
    level: Level
    what: Message
    fix: Message | None = None
    """The next step; always there unless the level is `ok`."""

    def __post_init__(self) -> None:
        if self.level != "ok" and not self.fix:
            raise ValueError(f"finding {self.check!r} of level {self.level!r} needs a fix")

    def to_dict(self) -> dict[str, Any]:
        """Texts in English for scripts, and both as messages for whoever shows them."""
        return {
            "check": self.check,
            "level": self.level,
            "what": self.what.text(),
            "fix": self.fix.text() if self.fix else "",
            "said": self.what.to_dict(),
            "next": self.fix.to_dict() if self.fix else None,
        }
