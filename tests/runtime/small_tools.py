"""A few small real tools, so that the runner's tests need none of the product's."""

import asyncio
import os
import signal
from pathlib import Path

from holdfast.runtime.tool import Tool, ToolFailure, ToolOutput


def _path(context, given):
    return Path(context.cwd, given["path"])


async def _read(context, given):
    path = _path(context, given)
    if not path.is_file():
        raise ToolFailure(f"there is no file {given['path']!r}; `ls` shows what there is")
    return ToolOutput(path.read_text())


async def _ls(context, given):
    folder = Path(context.cwd, given.get("path") or ".")
    return ToolOutput("\n".join(sorted(entry.name + ("/" if entry.is_dir() else "") for entry in folder.iterdir())))


async def _write(context, given):
    _path(context, given).write_text(given["content"])
    return ToolOutput(f"wrote {given['path']}")


async def _bash(context, given):
    process = await asyncio.create_subprocess_shell(
        given["command"],
        cwd=context.cwd,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        raise
    return ToolOutput(output.decode(), failed=process.returncode != 0, exit_code=process.returncode)


def _tool(name, run, **properties):
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in properties}}
    return Tool(name=name, description=f"{name} something", parameters=schema, run=run)


SMALL_TOOLS = (
    _tool("read", _read, path=1),
    _tool("ls", _ls, path=1),
    _tool("write", _write, path=1, content=1),
    _tool("bash", _bash, command=1),
)
