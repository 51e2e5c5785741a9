"""`bash_stop`: end a background command and everything it started."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holdfast.core.tools import ToolSpec
from holdfast.runtime.tool import Tool, ToolContext, ToolOutput
from holdfast.runtime.tools.arguments import schema, text_of
from holdfast.runtime.tools.bash_jobs import job_of, told


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    job = job_of(context, text_of(given, "job", "job_id"))
    await asyncio.to_thread(job.stop)
    # It was meant to end: whatever its exit code, that is no failure.
    return replace(await asyncio.to_thread(told, job, context.settings.runtime.truncation), failed=False)


TOOL = Tool(
    name="bash_stop",
    description="End a background command that `bash` started, with everything it started, and get its last output.",
    parameters=schema({"job": {"type": "string", "description": "The job id, such as job-1."}}, ["job"]),
    run=run,
    spec=ToolSpec("bash_stop", "none"),
    profiles=frozenset({"desktop"}),
)
