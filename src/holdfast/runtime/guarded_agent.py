"""The agent as openai-agents drives it: its every tool is wrapped, its every request goes through the plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    FunctionToolResult,
    RunConfig,
    RunContextWrapper,
    Runner,
    ToolsToFinalOutputResult,
)
from agents import Tool as LibraryTool
from agents.tool_context import ToolContext as LibraryContext

from holdfast.core.messages import Phrase
from holdfast.runtime.controlled_model import ControlledModel
from holdfast.runtime.guarded_tools import GuardedTools
from holdfast.runtime.marks import FAILED
from holdfast.runtime.tool import Tool

OWN_FAILURE = Phrase(
    "runtime.own_failure",
    "Holdfast itself failed at this call ({error}), so it may or may not have run. It is not your mistake: tell the "
    "user.",
    "Holdfast 自身在此调用上出错（{error}），它可能已运行，也可能没有。这不是你的错误：请告知用户。",
)

STRETCH = 6
"""Turns in one run of the library: starting one costs as much as two turns of a short run."""


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
                failure = OWN_FAILURE(error=f"{type(error).__name__}: {error}")
                guard.scene.tell(failure)
                return FAILED + failure.text(guard.scene.language)

        return FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=dict(tool.parameters),
            on_invoke_tool=invoke,
            strict_json_schema=False,
        )


class Stretches:
    """Ends a run of the library after every few turns, between a result and the next request.

    The library goes through everything its run has made so far in every turn, several times over. The history is ours
    and with the model, so that a run can start again from nothing and a long one stays as quick as a short one.
    """

    def __init__(self, turns: int = STRETCH) -> None:
        self._turns = turns
        self._left = turns
        self.unfinished = False

    def __call__(self, context: RunContextWrapper[Any], results: list[FunctionToolResult]) -> ToolsToFinalOutputResult:
        self._left -= 1
        self.unfinished = self._left <= 0
        return ToolsToFinalOutputResult(is_final_output=self.unfinished, final_output="")

    def begin(self) -> None:
        self._left = self._turns
        self.unfinished = False


async def run_agent(guard: GuardedTools, model: ControlledModel, offered: Sequence[Tool]) -> str:
    """From the model's history to the agent's last words; raises `Trouble`, and whatever cancels it."""
    stretches = Stretches()
    agent = GuardedAgent(
        name="holdfast", guard=guard, asks=model, offered=offered, model=model, tool_use_behavior=stretches
    )
    config = RunConfig(model=model, tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
    while True:
        stretches.begin()
        # The loop watch counts calls and asks; the library's own limit would end a run without a word.
        result = await Runner.run(agent, [], run_config=config, max_turns=None)
        if not stretches.unfinished:
            return str(result.final_output or "")
        model.keep(result.to_input_list())
