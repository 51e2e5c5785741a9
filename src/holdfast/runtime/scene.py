"""Where a run happens: whose it is, on what services it stands, and who watches it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.control import Control
from holdfast.core.events import Noticed
from holdfast.core.keys import SessionId
from holdfast.core.messages import Language, Message, plain
from holdfast.core.outcome import Outcome
from holdfast.runtime.judge import Judge
from holdfast.runtime.ledger import Ledger
from holdfast.runtime.tool import ToolContext
from holdfast.runtime.ui_events import Notice, Problem, UiEvent, Watch


@dataclass(frozen=True, slots=True)
class Scene:
    """One run of one agent."""

    control: Control
    judge: Judge
    where: SessionId
    vault: Path
    cwd: Path
    watch: Watch
    ledger: Ledger
    invocation: str = ""
    interactive: bool = True
    memory: dict[str, Any] = field(default_factory=dict)
    """Shared by all tools of a session for as long as its process lives."""
    answer_by_itself: Callable[[Any], str | None] = lambda approval: None
    """Lets a script answer what it may (`--yes-safe`): `once`, `deny` (nobody is there), or None to ask a person."""

    in_flight: set[asyncio.Task[Any]] = field(default_factory=set)
    """Calls that are under way, shared with sub-agents: a turn is not over before they have let go."""
    stopping: Callable[[], bool] = lambda: True
    """Whether a cancelled call was stopped for good; otherwise somebody will take it up again."""

    @property
    def language(self) -> Language:
        return self.control.language(str(self.vault))

    def header(self) -> dict[str, Any]:
        """The fields that every event of this run begins with."""
        return {
            "id": self.control.new_id(),
            "at": self.control.clock(),
            "where": self.where,
            "invocation": self.invocation,
            "interactive": self.interactive,
        }

    def tool_context(self, call_id: str = "", say: Callable[[str], None] = lambda text: None) -> ToolContext:
        return ToolContext(
            vault=self.vault,
            cwd=self.cwd,
            where=self.where,
            call_id=call_id,
            settings=self.control.settings,
            home=self.control.home.root,
            say=say,
            memory=self.memory,
            outputs=self.control.outputs,
        )

    def emit(self, event: UiEvent) -> None:
        self.watch(replace(event, subagent=self.where.subagent_name) if self.where.subagent else event)

    def tell_warnings(self, outcome: Outcome) -> None:
        """What policies want the user to know."""
        for warning in outcome.warnings:
            self.tell(warning)
        for inject in outcome.inject:
            if inject.audience in ("user", "both"):
                self.tell(plain(inject.text))

    def tell(self, message: Message) -> None:
        """Say something to the person now, and keep it in the record where it was said."""
        identity = self.keep(message)
        self.emit(Notice(text=message.text(self.language), message=message.to_dict(), id=identity))

    def tell_problem(self, code: str, why: Message, next_step: Message) -> None:
        identity = self.keep(why, problem=True, code=code, next_step=next_step.to_dict())
        texts = {"text": why.text(self.language), "next_step": next_step.text(self.language)}
        both = {"message": why.to_dict(), "next_message": next_step.to_dict()}
        self.emit(Problem(code=code, **texts, **both, id=identity))  # type: ignore[arg-type]

    def keep(self, message: Message, **more: Any) -> str:
        """Only in the record; the id under which it stands there. It goes with the agent's next event."""
        header = self.header()
        self.judge.later(Noticed(**header, message=message.to_dict(), **more))
        return str(header["id"])


def for_a_while(outcome: Outcome) -> str:
    """Injected text that goes with every request from now on: what is marked is told anew with each, as it then is."""
    return "\n\n".join(inject.text for inject in outcome.inject if inject.audience != "user" and not inject.sentinel)


def for_the_model(outcome: Outcome, *standing: str) -> str:
    """Injected text that the model is to see and that does not stand anywhere already."""
    texts = []
    for inject in outcome.inject:
        if inject.audience == "user" or (inject.sentinel and any(inject.sentinel in text for text in standing)):
            continue
        texts.append(inject.text)
    return "\n\n".join(texts)
