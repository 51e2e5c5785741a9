"""The agent as openai-agents drives it: its every tool is wrapped, its every request goes through the plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agents import Agent, FunctionTool, RunConfig, RunContextWrapper, Runner
from agents import Tool as LibraryTool
from agents.tool_context import ToolContext as LibraryContext

from holdfast.core.messages import Phrase
from holdfast.runtime.controlled_model import ControlledModel
from holdfast.runtime.dialect import InputItem
from holdfast.runtime.guarded_tools import GuardedTools
from holdfast.runtime.marks import FAILED
from holdfast.runtime.tool import Tool
from holdfast.runtime.ui_events import Notice

OWN_FAILURE = Phrase(
    "runtime.own_failure",
    "Holdfast itself failed at this call ({error}), so it may or may not have run. It is not your mistake: tell the "
    "user.",
    "Holdfast 自身在此调用上出错（{error}），它可能已运行，也可能没有。这不是你的错误：请告知用户。",
)


@dataclass
class GuardedAgent(Agent[Any]):
    """The library asks for the tools anew in every turn; this is the only place it gets them from."""

    guard: GuardedTools | None = None
    asks: ControlledModel | None = None
    offered: Sequence[Tool] = field(default_factory=tuple)

    _made: list[LibraryTool] = field(default_factory=list, init=False, repr=False)

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[LibraryTool]:
        if not self._made:
            self._made = [self._wrapped(tool) for tool in self.offered]
        return list(self._made)

    def _wrapped(self, tool: Tool) -> FunctionTool:
        guard, asks = self.guard, self.asks
        assert guard is not None
        assert asks is not None

        async def invoke(context: LibraryContext[Any], arguments: str) -> str:
            call_id = context.tool_call_id
            try:
                return await guard.invoke(tool, call_id, arguments, asks.batch_of.get(call_id, ""))
            except Exception as error:
                # Left to the library it would become a sentence without a cause; it is ours, and says so.
                text = OWN_FAILURE(error=f"{type(error).__name__}: {error}").text(guard.scene.language)
                guard.scene.emit(Notice(text=text))
                return FAILED + text

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
