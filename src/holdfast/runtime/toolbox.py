"""The tools of an agent: built in, and the user's own; which of them, the profile says (PE1, HK3, HK6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.control import Control
from holdfast.core.keys import SessionId
from holdfast.core.settings import RuntimeSettings
from holdfast.core.tools import NEUTRAL_TOOLS, ToolSpec
from holdfast.external_tools import ExternalTool, ExternalTools
from holdfast.policies.truncation import render
from holdfast.runtime.memory_tools import memory_tools
from holdfast.runtime.recall_tools import recall_of
from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools import all_tools, tool_specs
from holdfast.store.home import Home


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What is offered, how it is judged, and what could not be loaded."""

    tools: tuple[Tool, ...]
    specs: Mapping[str, ToolSpec]
    problems: tuple[str, ...] = ()


class Tools:
    """The tools of a process that lives on: an edited file counts from the next run (HK3)."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._files: ExternalTools | None = None
        self._told: frozenset[str] = frozenset()

    def current(self, runtime: RuntimeSettings) -> Toolbox:
        """Ask once at the start of a run; each problem is in one answer only, until it changes or goes."""
        built_in = all_tools(runtime.profile)
        if self._files is None:
            self._files = ExternalTools(self._home.tools, reserved={*NEUTRAL_TOOLS, *(t.name for t in built_in)})
        loaded = self._files.current(enabled=runtime.tools.external.enabled, profile=runtime.profile)
        own = tuple(_wrapped(tool) for tool in loaded.tools)
        specs = {**tool_specs(runtime.profile), **{tool.name: tool.spec for tool in own if tool.spec is not None}}
        problems = tuple(str(problem) for problem in loaded.problems)
        new = tuple(problem for problem in problems if problem not in self._told)
        self._told = frozenset(problems)
        return Toolbox((*built_in, *own), specs, new)


def toolbox(home: Home, runtime: RuntimeSettings) -> Toolbox:
    """The tools as they are now."""
    return Tools(home).current(runtime)


def tools_in(box: Toolbox, control: Control, where: SessionId) -> tuple[Tool, ...]:
    """All tools of one thread: those of the box, the memory bank's, and recall over the thread's own sessions."""
    return (*box.tools, *memory_tools(control), *recall_of(control, where))


def _wrapped(tool: ExternalTool) -> Tool:
    async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
        try:
            text, structured = render(await tool.call(given, context))
        except ValueError as error:
            raise ToolFailure(str(error)) from error
        return ToolOutput(text, structured=structured)

    return Tool(tool.name, tool.description, tool.parameters, run, tool.spec, frozenset({"desktop"}))
