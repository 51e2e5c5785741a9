"""The recall tools in the own runtime: what earlier sessions of this thread said and did (SC5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from holdfast.chain.cursors import RecallError
from holdfast.chain.recall_tools import recall_tools
from holdfast.control import Control
from holdfast.core.keys import SessionId
from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput


def recall_of(control: Control, where: SessionId) -> tuple[Tool, ...]:
    """Bound to one thread: an agent cannot name another one."""
    return tuple(
        Tool(name, description, schema, _runner(call))
        for name, description, schema, call in recall_tools(control, where)
    )


def _runner(
    call: Callable[[Mapping[str, Any]], Awaitable[str]],
) -> Callable[[ToolContext, Mapping[str, Any]], Awaitable[ToolOutput]]:
    async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
        try:
            return ToolOutput(await call(given), structured=True)
        except RecallError as error:
            raise ToolFailure(str(error)) from error

    return run
