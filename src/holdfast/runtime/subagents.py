"""Sub-agents: a task with a history, a key and gates of its own; the parent sees its last words.

A sub-agent's run is known by the call that started it. When the parent is taken up again after a crash, the same call
finds the same run and goes on with it: what it has done is not done twice.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from holdfast.core.memory import READER, WRITER
from holdfast.core.tools import ToolSpec
from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput

DEFAULT_AGENT = "general"
Spawn = Callable[[ToolContext, str, str], Awaitable[str]]
"""`(context, agent, prompt) -> last words`."""

READER_PROMPT = """\
You read this project's memory bank for another agent. Read memory-bank/MEMORY.md and memory-bank/details/patterns.md,
then whatever in memory-bank/details/ bears on the task you are given. Change nothing. Answer with what matters for the
task: decisions, rules, progress, open points, each with the file it stands in."""
WRITER_PROMPT = """\
You write this project's memory bank: Markdown files below memory-bank/, nothing else. Write only what the user has
confirmed, word for word as it was confirmed; read each file before you change it, keep what it says otherwise, and
keep MEMORY.md short. Answer with the files you changed and what stands there now."""
BUILT_IN: Mapping[str, str] = {DEFAULT_AGENT: "", READER: READER_PROMPT, WRITER: WRITER_PROMPT}
"""Agents that are there without a file; an empty prompt is the default one."""

BUILT_IN_FOR: Mapping[str, str] = {
    DEFAULT_AGENT: "any task",
    READER: "reads the project's memory bank for you; use it after a compaction",
    WRITER: "writes to the memory bank what the user has confirmed",
}
_NAME = re.compile(r"[\w][\w.-]{0,63}")


def task_tool(spawn: Spawn, agents: Mapping[str, str]) -> Tool:
    """The tool by which an agent hands a task on; `agents` are names with what each is for."""
    listed = "; ".join(f"{name}: {about}" if about else name for name, about in agents.items())

    async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
        prompt = str(given.get("prompt") or "").strip()
        name = str(given.get("agent") or DEFAULT_AGENT)
        if not prompt:
            raise ToolFailure("task needs a prompt: say what the sub-agent is to do and what it should report")
        if name not in agents or not _NAME.fullmatch(name):
            raise ToolFailure(f"there is no agent {name!r}; there are: {', '.join(agents)}")
        return ToolOutput(await spawn(context, name, prompt))

    return Tool(
        name="task",
        description=(
            "Hand a self-contained task to a sub-agent, which works with the same tools and permissions and reports "
            f"back. It sees nothing of this conversation: say everything it needs. Agents: {listed}."
        ),
        parameters={
            "type": "object",
            "properties": {
                "prompt": {"type": "string", "description": "The whole task, and what to report."},
                "agent": {"type": "string", "enum": list(agents), "description": "Who does it."},
                "description": {"type": "string", "description": "The task in a few words, for people."},
            },
            "required": ["prompt"],
        },
        run=run,
        spec=ToolSpec("task", "none"),
    )
