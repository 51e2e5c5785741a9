"""`bash`: a command in the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from holdfast.policies.truncation import Totals, compose_streamed
from holdfast.runtime.tool import Tool, ToolContext, ToolOutput
from holdfast.runtime.tools.arguments import flag_of, number_of, optional_text, schema, text_of
from holdfast.runtime.tools.bash_jobs import start_job
from holdfast.runtime.tools.bash_run import Ran, run_command
from holdfast.runtime.tools.bash_setup import hints, language_of
from holdfast.runtime.tools.places import vault_root
from holdfast.runtime.tools.vault_guard import put_back_note


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    settings = context.settings.runtime.tools.bash
    command = text_of(given, "command", "cmd", "script")
    workdir = optional_text(given, "workdir", "cwd")
    longest = int(settings.max_timeout_seconds)
    seconds = number_of(given, "timeout", int(min(settings.timeout_seconds, longest)), least=1, most=longest)
    if flag_of(given, "background"):
        return await asyncio.to_thread(start_job, context, command, workdir)
    ran = await run_command(context, command, workdir, seconds)
    return _told(context, ran, seconds)


def _told(context: ToolContext, ran: Ran, seconds: int) -> ToolOutput:
    output = ran.output
    full = ""
    if output.whole:
        text = output.head
    else:
        full = str(output.kept.path) if output.kept is not None else ""
        totals = Totals(output.lines, output.size)
        limits = context.settings.runtime.truncation
        text = compose_streamed(output.head, output.tail, totals, limits, full or None, language_of(context))
    notes = [*_notes(context, ran, seconds), *hints(output.tail or output.head, ran.code, ran.prepared)]
    if not text.strip() and not notes:
        notes.append("[no output]")
    if notes:
        text = text + ("" if not text or text.endswith("\n") else "\n") + "\n".join(notes)
    return ToolOutput(
        text,
        failed=ran.code != 0 or ran.late or ran.flooded,
        exit_code=ran.code,
        full_output=full,
        total_lines=output.lines,
        total_bytes=output.size,
        display={
            "exit_code": ran.code,
            "seconds": round(ran.seconds, 3),
            "sandbox": ran.prepared.sandbox.name,
            "network": ran.prepared.network,
        },
    )


def _notes(context: ToolContext, ran: Ran, seconds: int) -> list[str]:
    notes: list[str] = []
    if ran.late:
        notes.append(
            f"[stopped after {seconds} s, with everything it had started. Give a longer `timeout`, or use `background` "
            "for what runs on]"
        )
    elif ran.flooded:
        notes.append("[stopped: it wrote more than tools.bash.maxOutputBytes. Filter its output]")
    elif ran.code:
        notes.append(f"[exit code {ran.code}]")
    if ran.put_back:
        notes.append(put_back_note(ran.put_back))
    started_in = str(ran.prepared.cwd)
    if ran.ended_in and ran.ended_in != started_in:
        root = str(vault_root(context))
        shown = ran.ended_in.removeprefix(root).lstrip("/") if ran.ended_in.startswith(root + "/") else ran.ended_in
        notes.append(f"[it ended in {shown}; the next command starts in the working directory again: give `workdir`]")
    return notes


TOOL = Tool(
    name="bash",
    description=(
        "Run a shell command (bash) and get its output and exit code. It runs in a sandbox where there is one: only "
        "the project and a private /tmp can be written to, keys and credentials are hidden, and there is no network "
        "unless the command was seen to need it and allowed. Each call starts anew in the working directory; use "
        "`workdir` for another. There is no terminal and no input: pass -y or --no-pager where a program would ask. "
        "Long output is kept in a file that the result names. Prefer read, grep, glob and edit for files. For servers "
        "and watchers set `background`, then use bash_output and bash_stop."
    ),
    parameters=schema(
        {
            "command": {"type": "string", "description": "The command line."},
            "workdir": {"type": "string", "description": "Folder to run it in."},
            "timeout": {"type": "integer", "description": "Seconds after which it is ended; 120 when absent."},
            "background": {
                "type": "boolean",
                "description": "Start it and return a job id.",
                "default": False,
            },
        },
        ["command"],
    ),
    run=run,
    profiles=frozenset({"desktop"}),
)
