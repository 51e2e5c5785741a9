"""The line below the prompt: model, mode, how full the context is, and how old that figure is (SC2)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from holdfast.core.messages import Language, Phrase

if TYPE_CHECKING:
    from holdfast.doors.chat_engine import Engine

STALE_SECONDS = 600.0
WIDTH = 10

LOADING = Phrase("chat.bar.loading", "loading", "加载中")
CONTEXT = Phrase("chat.bar.context", "context", "上下文")
STALE = Phrase("chat.bar.stale", "stale, ", "已过时，")
AGO = Phrase("chat.bar.ago", "{age} ago", "{age}前")
FULL = Phrase("chat.bar.full", "FULL ACCESS", "完全访问权限")


class Status:
    def __init__(self, model: str, language: Language = "en") -> None:
        self._model = model
        self._language = language
        self._thread = ""
        self._full = False
        self._used: int | None = None
        self._window: int | None = None
        self._exact = True
        self._at: float | None = None
        self._tokens = 0
        self._cost: float | None = None
        self._ready = False

    def follow(self, engine: Engine) -> None:
        """Take over what the store says of the session."""
        session = engine.conversation.session
        self._ready = True
        self._model = engine.conversation.models.choice().name
        self._thread = session.id.thread
        self._full = session.mode == "full_access"
        self._used, self._window, self._exact = session.used, session.window, session.exact
        self._at = session.measured_at

    def measured(self, usage: Any) -> None:
        self._used, self._window, self._exact, self._at = usage.used, usage.window, usage.exact, usage.at
        self._tokens, self._cost = usage.thread_tokens, usage.thread_cost

    @property
    def full_access(self) -> bool:
        return self._full

    def bar(self) -> list[tuple[str, str]]:
        parts: list[tuple[str, str]] = []
        if self._full:
            parts.append(("bg:ansired ansiwhite bold", f" {FULL().text(self._language)} "))
        if not self._ready:
            parts.append(("", f" {LOADING().text(self._language)}"))
        texts = [self._model, self._thread, self.context(), self._spent()]
        parts.append(("", " " + " · ".join(text for text in texts if text)))
        return parts

    def context(self, now: float | None = None) -> str:
        """`context ▓▓░░░░░░░░ 21% of 32k, 12 s ago`; `~` marks an estimate."""
        if self._used is None:
            return ""
        about = "" if self._exact else "~"
        label = CONTEXT().text(self._language)
        if self._window:
            share = self._used / self._window
            filled = min(WIDTH, max(0, round(share * WIDTH)))
            figure = f"{'▓' * filled}{'░' * (WIDTH - filled)} {about}{share:.0%} / {_short(self._window)}"
        else:
            figure = f"{about}{_short(self._used)}"
        return f"{label} {figure}{self._age(time.time() if now is None else now)}"

    def _age(self, now: float) -> str:
        if self._at is None:
            return ""
        age = max(0.0, now - self._at)
        stale = STALE().text(self._language) if age > STALE_SECONDS else ""
        return f", {stale}{AGO(age=_duration(age)).text(self._language)}"

    def _spent(self) -> str:
        if not self._tokens:
            return ""
        cost = f" ({self._cost:.2f})" if self._cost else ""
        return f"{_short(self._tokens)} tokens{cost}"


def _short(count: int) -> str:
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 100_000 else f"{count // 1000}k"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 86_400 else f"{seconds / 86_400:.0f} d"
