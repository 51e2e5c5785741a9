"""The process in which hooks run: reads requests as JSON lines, answers each with one. Standard library only.

Started as a script, so it does not import Holdfast, and starts in tens of milliseconds.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import queue
import sys
import threading
import types
from collections.abc import Callable
from typing import Any, TextIO

FUNCTIONS = ("chat_params", "chat_system", "tool_before", "tool_after")


def load(path: str) -> types.ModuleType:
    """A module from its source, always as it is now: no bytecode cache that could be older than an edit."""
    module = types.ModuleType("holdfast_hook_" + path.replace("\\", "/").rpartition("/")[2].removesuffix(".py"))
    module.__file__ = path
    sys.modules[module.__name__] = module
    with open(path, encoding="utf-8") as source:
        code = compile(source.read(), path, "exec")
    exec(code, module.__dict__)
    return module


def place(error: BaseException, path: str) -> int | None:
    """The line of the hook's own file at which an error arose."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def answer(request: dict[str, Any], modules: dict[str, types.ModuleType]) -> dict[str, Any]:
    path = request["file"]
    if request["op"] == "load":
        modules.pop(path, None)
        modules[path] = load(path)
        return {"functions": [name for name in FUNCTIONS if callable(getattr(modules[path], name, None))]}
    value = getattr(modules[path], request["function"])(*request["args"])
    if inspect.isawaitable(value):
        value = asyncio.run(_awaited(value))
    return {"value": value}


async def _awaited(value: Any) -> Any:
    return await value


def serve(requests: Callable[[], str], channel: TextIO) -> None:
    modules: dict[str, types.ModuleType] = {}
    while True:
        request = json.loads(requests())
        try:
            reply = json.dumps({"id": request["id"], **answer(request, modules)})
        except BaseException as error:  # whatever a hook raises, `SystemExit` too, is its own failure
            message = f"{type(error).__name__}: {error}"[:1000]
            reply = json.dumps({"id": request["id"], "error": message, "line": place(error, request["file"])})
        channel.write(reply + "\n")
        channel.flush()


def main() -> None:
    # Answers get a descriptor of their own; what a hook prints must not look like one.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.append(sys.argv[1])
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            waiting.put(line)
        os._exit(0)  # whoever started us is gone; a hook that hangs must not outlive it

    threading.Thread(target=read, daemon=True).start()
    channel.write('{"ready": true}\n')
    channel.flush()
    serve(waiting.get, channel)


if __name__ == "__main__":
    main()
