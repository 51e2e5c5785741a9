"""A conversation on a throw-away home, with a scripted model server behind it and a record of everything it showed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.control import Control
from holdfast.core.history import is_valid
from holdfast.runtime.runner import Conversation
from holdfast.runtime.threads import new_thread
from holdfast.runtime.transcript import Transcript
from holdfast.store.config_file import Inline
from holdfast.store.home import Home
from holdfast.store.interface import Session
from runtime.small_tools import SMALL_TOOLS

PATIENCE = 60.0


def settings(base_url: str, *, api: str = "chat", model: str = "scripted", **runtime: Any) -> Inline:
    """A configuration whose model is the scripted server."""
    about = {"baseUrl": base_url, "api": api, **runtime.pop("about", {})}
    body = {"model": model, "models": {model: about}, **runtime}
    return Inline(environ={}, mapping={"agents": {"runtime": body}})


@dataclass
class Stage:
    """One process's view of a thread; `again` is the next process."""

    folder: Path
    inline: Inline
    tools: Sequence[Any] = SMALL_TOOLS
    interactive: bool = True
    events: list[Any] = field(default_factory=list)
    on_event: Callable[[Any], None] = lambda event: None
    session: Session | None = None
    specs: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.vault = self.folder / "vault"
        self.vault.mkdir(exist_ok=True)
        self.control = Control.open(Home(self.folder / "home"), inline=self.inline, tools=self.specs)
        if self.session is None:
            self.session = new_thread(self.control, self.vault, self.vault)
        self.conversation = Conversation(
            self.control, self.session, watch=self._see, tools=self.tools, interactive=self.interactive
        )

    def _see(self, event: Any) -> None:
        self.events.append(event)
        self.on_event(event)

    async def __aenter__(self) -> Stage:
        await self.conversation.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.conversation.close()
        self.control.close()

    def again(self, **changes: Any) -> Stage:
        """As another process finds it, with nothing but the store."""
        options = {"tools": self.tools, "interactive": self.interactive, "inline": self.inline, **changes}
        return Stage(self.folder, session=self.session, **options)

    # looking

    def of(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.kind == kind]

    def last(self, kind: str) -> Any:
        return self.of(kind)[-1]

    async def until(self, kind: str, count: int = 1) -> Any:
        """Wait until so many events of a kind were shown."""
        async with asyncio.timeout(PATIENCE):
            while len(self.of(kind)) < count:
                await asyncio.sleep(0.01)
        return self.of(kind)[count - 1]

    def answer(self, answer: str, index: int = -1, **options: Any) -> None:
        approval = self.of("tool_waiting")[index].approval
        self.control.approvals.answer(approval.id, answer, by="tester", **options)

    def history(self) -> Any:
        """What the store says now; it must be valid at any moment."""
        assert self.session is not None
        loaded = Transcript(self.control.plane, self.session.id).load()
        assert is_valid(loaded.items)
        return loaded

    def transcript(self) -> list[tuple[str, str]]:
        assert self.session is not None
        return [(record.kind, record.text) for record in self.control.store.events(self.session.id.session)]

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.transcript() if kind not in ("history_sending", "context_measured")]


def answering(stage_of: Callable[[], Stage], *answers: str) -> Callable[[Any], None]:
    """A person who answers each question at once, in this order."""
    left = list(answers)

    def see(event: Any) -> None:
        if event.kind == "tool_waiting":
            stage_of().control.approvals.answer(event.approval.id, left.pop(0), by="tester")

    return see


def play(work: Callable[[], Any]) -> Any:
    """Run a test's coroutine with a deadline."""

    async def bounded() -> Any:
        async with asyncio.timeout(180):
            return await work()

    return asyncio.run(bounded())
