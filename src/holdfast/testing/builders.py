"""Short ways to make events in tests; every field can be overridden."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from holdfast.core.events import (
    Compacted,
    ContextMeasured,
    HistorySending,
    PromptSubmitted,
    SessionStarted,
    ToolCall,
    ToolCalled,
    ToolCalling,
    ToolResult,
)
from holdfast.core.history import Item
from holdfast.core.keys import SessionId, SessionKey

START = 1_790_000_000.0
"""The moment at which built events begin; each one is a second later."""


def session_id(
    session: str = "s1", *, user: str = "local", agent: str = "holdfast", thread: str = "t1", subagent: str = ""
) -> SessionId:
    return SessionId(SessionKey(user, agent, thread), session, subagent)


class EventBuilder:
    """Builds the events of one session with rising ids and times."""

    def __init__(self, where: SessionId | None = None, *, cwd: str = "/vault", start: float = START) -> None:
        self.where = where or session_id()
        self.cwd = cwd
        self._start = start
        self._numbers = count(1)
        self.invocation = "run-1"

    def _header(self, over: Mapping[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        header: dict[str, Any] = {
            "id": f"e{number}",
            "at": self._start + number,
            "where": self.where,
            "invocation": self.invocation,
        }
        header.update(over)
        return header

    def started(self, **over: Any) -> SessionStarted:
        return SessionStarted(**self._header({"cwd": self.cwd, "vault": self.cwd, **over}))

    def prompt(self, text: str = "do it", **over: Any) -> PromptSubmitted:
        return PromptSubmitted(**self._header({"text": text, **over}))

    def call(self, tool: str, /, *, call_id: str | None = None, **tool_input: Any) -> ToolCall:
        return ToolCall(id=call_id or f"c{next(self._numbers)}", tool=tool, input=tool_input, cwd=self.cwd)

    def calling(
        self, tool: str | ToolCall, /, *, over: Mapping[str, Any] | None = None, **tool_input: Any
    ) -> ToolCalling:
        call = tool if isinstance(tool, ToolCall) else self.call(tool, **tool_input)
        return ToolCalling(**self._header({"call": call, **(over or {})}))

    def called(
        self,
        tool: str | ToolCall,
        /,
        output: str = "",
        *,
        failed: bool = False,
        error: str = "",
        over: Mapping[str, Any] | None = None,
        **tool_input: Any,
    ) -> ToolCalled:
        call = tool if isinstance(tool, ToolCall) else self.call(tool, **tool_input)
        result = ToolResult(output=output, failed=failed, error=error)
        return ToolCalled(**self._header({"call": call, "result": result, **(over or {})}))

    def sending(self, *items: Item, **over: Any) -> HistorySending:
        return HistorySending(**self._header({"history": tuple(items), **over}))

    def compacted(self, **over: Any) -> Compacted:
        return Compacted(**self._header(over))

    def measured(self, used: int, window: int | None, **over: Any) -> ContextMeasured:
        return ContextMeasured(**self._header({"used": used, "window": window, **over}))
