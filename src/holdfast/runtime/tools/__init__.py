"""The built-in tools of the own agent, one file each."""

from __future__ import annotations

from holdfast.core.tools import ToolSpec
from holdfast.runtime.tool import Tool
from holdfast.runtime.tools import (
    apply_patch,
    bash,
    bash_output,
    bash_stop,
    delete,
    edit,
    glob,
    grep,
    ls,
    manage_plan,
    move,
    multiedit,
    read,
    search_in_file,
    web_fetch,
    web_search,
    write,
)

_TOOLS: tuple[Tool, ...] = (
    read.TOOL,
    ls.TOOL,
    glob.TOOL,
    grep.TOOL,
    search_in_file.TOOL,
    write.TOOL,
    edit.TOOL,
    multiedit.TOOL,
    apply_patch.TOOL,
    move.TOOL,
    delete.TOOL,
    bash.TOOL,
    bash_output.TOOL,
    bash_stop.TOOL,
    web_fetch.TOOL,
    web_search.TOOL,
    manage_plan.TOOL,
)


def all_tools(profile: str) -> tuple[Tool, ...]:
    """The tools of a profile; on `mobile` there is no bash (HK6)."""
    return tuple(tool for tool in _TOOLS if profile in tool.profiles)


def tool_specs(profile: str) -> dict[str, ToolSpec]:
    """How the tools that the neutral table does not know are judged."""
    return {tool.name: tool.spec for tool in all_tools(profile) if tool.spec is not None}
