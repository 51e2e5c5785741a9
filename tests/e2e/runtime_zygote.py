"""Starts agent processes quickly, so that a test can kill many: loads everything once, then forks one per line.

Each line of standard input is a JSON order. A child tells what it is doing, one word per line, on standard output;
it ends by itself when its messages are done, and the parent then says `ended <code>`.
"""

import asyncio
import json
import os
import sys
import threading
from pathlib import Path

from holdfast.control import Control
from holdfast.core.tools import ToolSpec
from holdfast.runtime.models import build
from holdfast.runtime.runner import Conversation
from holdfast.runtime.threads import new_thread, threads
from holdfast.runtime.tool import Tool, ToolOutput
from holdfast.store.config_file import Inline
from holdfast.store.home import Home
from runtime.small_tools import SMALL_TOOLS

PHASES = {
    "text_delta": "streaming",
    "tool_running": "running",
    "tool_waiting": "waiting",
    "compaction_started": "compacting",
}


def tell(word):
    os.write(1, f"{word}\n".encode())


async def _mark(context, given):
    """An effect that shows whether it happened once: a line is added, never looked for."""
    await asyncio.sleep(0.02)
    with Path(context.cwd, "ledger").open("a") as ledger:
        ledger.write(given["token"] + "\n")
    await asyncio.sleep(0.02)
    return ToolOutput(f"marked {given['token']}")


MARK = Tool(
    "mark",
    "add a line to the ledger",
    {"type": "object", "properties": {"path": {"type": "string"}, "token": {"type": "string"}}},
    _mark,
    ToolSpec("mark", "edit", writes=("path",), required=(("path",),)),
)


async def work(order):
    home = Home(Path(order["home"]))
    inline = Inline(environ={}, mapping=order["settings"])
    vault = Path(order["vault"])
    control = Control.open(home, inline=inline, tools={"mark": MARK.spec})
    known = threads(control, vault, limit=1)
    session = known[0] if known else new_thread(control, vault, vault)
    last = [""]

    def watch(event):
        phase = PHASES.get(event.kind)
        if phase and (phase, event.kind) != last[0]:
            last[0] = (phase, event.kind)
            tell(phase)
        elif not phase:
            last[0] = ""

    conversation = Conversation(control, session, watch=watch, tools=(*SMALL_TOOLS, MARK))
    await conversation.start()
    done = control.store.noted("test:done") or 0
    while done < order["messages"]:
        # The message's own number tells whether it was taken before the last process died.
        end = await conversation.resume()
        if end is None:
            chain = control.store.chain(session.id.key)
            prompts = (control.store.events(s.id.session, kinds=("prompt_submitted",), limit=10_000) for s in chain)
            started = sum(record.text.startswith("message ") for records in prompts for record in records)
            if started <= done:
                end = await conversation.send(f"message {done}")
        if end is not None and end.reason != "done":
            tell(f"bad {end.reason} {end.problem}")
            return 3
        done += 1
        control.store.note("test:done", done)
    await conversation.close()
    control.close()
    return 0


def main():
    assert threading.active_count() == 1, threading.enumerate()
    assert build
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            code = 70
            try:
                code = asyncio.run(work(order))
            finally:
                os._exit(code)
        tell(f"pid {child}")
        _, status = os.waitpid(child, 0)
        tell(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
