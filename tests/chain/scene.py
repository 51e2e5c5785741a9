"""A control on a throw-away home with a clock of its own, and short ways to live through a session."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from holdfast.chain.arrivals import Arrival
from holdfast.chain.chain import Chain
from holdfast.control import Control
from holdfast.core.events import AssistantReplied, PromptSubmitted, SessionStarted, ToolCall, ToolCalled, ToolCalling
from holdfast.core.events import ToolResult as Result
from holdfast.store.config_file import Inline
from holdfast.store.home import Home
from holdfast.testing.fixed_clock import FixedClock
from holdfast.testing.scripted_ids import ScriptedIds

START = 1_790_000_000.0


class Scene:
    """`arrive("h1", source="startup")` is a host's session; `say`, `tool` and `measure` are what happens in it."""

    def __init__(self, folder: Path, *, user: str = "local", **runtime) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir(exist_ok=True)
        self.clock = FixedClock(START)
        self.ids = ScriptedIds(user)
        inline = Inline(environ={}, mapping={"agents": {"runtime": runtime}})
        self.control = Control.open(Home(folder / "home"), inline=inline, user=user, clock=self.clock, new_id=self.ids)
        self.chain = Chain(self.control)
        self.store = self.control.store
        self._numbers = count(1)

    def close(self) -> None:
        self.control.close()

    def arrival(self, session, *, host="claude-code", vault=None, **more) -> Arrival:
        return Arrival(host, session, str(vault or self.vault), cwd=str(self.vault), **more)

    def arrive(self, session, *, source="startup", **more):
        return self.chain.open(self.arrival(session, source=source, **more))

    def header(self, where, invocation="run-1", **more):
        self.clock.advance(1)
        return {"id": self.ids(), "at": self.clock(), "where": where, "invocation": invocation, **more}

    def tell(self, event):
        outcome = self.control.plane.handle(event)
        self.chain.heed(event, outcome)
        return outcome

    def begin(self, where):
        return self.tell(SessionStarted(**self.header(where), host="claude-code", vault=str(self.vault)))

    def say(self, where, text, invocation="run-1"):
        return self.tell(PromptSubmitted(**self.header(where, invocation), text=text))

    def reply(self, where, text, invocation="run-1"):
        return self.tell(AssistantReplied(**self.header(where, invocation), text=text))

    def tool(self, where, tool, output="", *, failed=False, exit_code=None, invocation="run-1", **given):
        call = ToolCall(f"call-{next(self._numbers)}", tool, given, cwd=str(self.vault))
        asked = self.tell(ToolCalling(**self.header(where, invocation), call=call))
        if not asked.allowed:
            return asked
        result = Result(output=output, failed=failed, exit_code=exit_code, error=output if failed else "")
        return self.tell(ToolCalled(**self.header(where, invocation), call=call, result=result))

    def seal(self, where, **more):
        return self.chain.sealer.seal_now(where, by="ada", **more)

    def row(self, where):
        return self.store.session(where.session)
