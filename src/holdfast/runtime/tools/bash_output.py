"""`bash_output`: what a background command has written since the last look."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from holdfast.core.tools import ToolSpec
from holdfast.runtime.tool import Tool, ToolContext, ToolOutput
from holdfast.runtime.tools.arguments import number_of, schema, text_of
from holdfast.runtime.tools.bash_jobs import job_of, told


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    job = job_of(context, text_of(given, "job", "job_id"))
    seconds = number_of(given, "wait", 0, least=0, most=60)
    if seconds and job.running:
        await asyncio.to_thread(job.wait, float(seconds))
    return await asyncio.to_thread(told, job, context.settings.runtime.truncation)


TOOL = Tool(
    name="bash_output",
    description=(
        "Look at a background command that `bash` started: whether it still runs, its exit code, and its output since "
        "your last look. `wait` waits up to so many seconds for its end; prefer that to looking again and again."
    ),
    parameters=schema(
        {
            "job": {"type": "string", "description": "The job id, such as job-1."},
            "wait": {"type": "integer", "description": "Seconds to wait for it to end, up to 60.", "default": 0},
        },
        ["job"],
    ),
    run=run,
    spec=ToolSpec("bash_output", "none"),
    profiles=frozenset({"desktop"}),
)
