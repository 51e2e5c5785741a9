"""The agent as openai-agents drives it: its every tool is wrapped, its every request goes through the plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agents import Agent, FunctionTool, RunConfig, RunContextWrapper, Runner
from agents import Tool as LibraryTool
from agents.tool_context import ToolContext as LibraryContext

from holdfast.runtime.controlled_model import ControlledModel
from holdfast.runtime.dialect import InputItem
from holdfast.runtime.guarded_tools import GuardedTools
from holdfast.runtime.tool import Tool


@dataclass
class GuardedAgent(Agent[Any]):
    """The library asks for the tools anew in every turn; this is the only place it gets them from."""

    guard: GuardedTools | None = None
    asks: ControlledModel | None = None
    offered: Sequence[Tool] = field(default_factory=tuple)

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[LibraryTool]:
        return [self._wrapped(tool) for tool in self.offered]

    def _wrapped(self, tool: Tool) -> FunctionTool:
        guard, asks = self.guard, self.asks
        assert guard is not None
        assert asks is not None

        async def invoke(context: LibraryContext[Any], arguments: str) -> str:
            call_id = context.tool_call_id
            return await guard.invoke(tool, call_id, arguments, asks.batch_of.get(call_id, ""))

        return FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=dict(tool.parameters),
            on_invoke_tool=invoke,
            strict_json_schema=False,
        )


async def run_agent(
    guard: GuardedTools, model: ControlledModel, offered: Sequence[Tool], given: list[InputItem]
) -> str:
    """From a history to the agent's last words; raises `Trouble`, and whatever cancels it."""
    agent = GuardedAgent(name="holdfast", guard=guard, asks=model, offered=offered)
    config = RunConfig(model=model, tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
    # The loop watch counts calls and asks; the library's own limit would end a run without a word.
    result = await Runner.run(agent, given, run_config=config, max_turns=None)  # type: ignore[arg-type]
    return str(result.final_output or "")
