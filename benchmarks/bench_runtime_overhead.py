"""What the control plane costs per tool call in a run of the own agent, beside bare openai-agents in the same run.

Both sides drive the same in-process model through the same number of turns with the same tool, one call a turn. The
difference is everything Holdfast adds: judging, recording each step durably in SQLite, the audit, measuring.

    python benchmarks/bench_runtime_overhead.py [--turns 50] [--rounds 8] [--json]
"""

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path

from agents import Agent, FunctionTool, RunConfig, Runner, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseUsage,
)
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

from holdfast.control import Control
from holdfast.core.settings import DoomLoopSettings
from holdfast.runtime.model_shelf import ModelShelf
from holdfast.runtime.models import ModelChoice
from holdfast.runtime.runner import Conversation
from holdfast.runtime.threads import new_thread
from holdfast.runtime.tool import Tool, ToolOutput
from holdfast.store.config_file import Inline
from holdfast.store.home import Home

LIMIT_MS = 3.0
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TEXT = "a line of a file that somebody reads\n" * 40


class Counting(Model):
    """Calls `read` once a turn, with another path each time, and then says a word."""

    def __init__(self, turns):
        self._turns = turns

    def _output(self, given):
        made = sum(1 for item in given if not isinstance(item, str) and item.get("type") == "function_call_output")
        if made < self._turns:
            arguments = json.dumps({"path": f"file-{made}.txt"})
            # As OpenAI's own ids are: long and random.
            call_id = f"call_{made:08d}aBcDeFgHiJkLmNoP"
            return [ResponseFunctionToolCall(type="function_call", call_id=call_id, name="read", arguments=arguments)]
        content = [ResponseOutputText(type="output_text", text="done", annotations=[])]
        return [ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=content)]

    async def get_response(self, system_instructions, input, *args, **kwargs):
        return ModelResponse(output=self._output(input), usage=Usage(requests=1, input_tokens=10), response_id=None)

    async def stream_response(self, system_instructions, input, *args, **kwargs):
        usage = ResponseUsage(
            input_tokens=10,
            output_tokens=1,
            total_tokens=11,
            input_tokens_details=InputTokensDetails(cached_tokens=0, cache_write_tokens=0),
            output_tokens_details=OutputTokensDetails(reasoning_tokens=0),
        )
        response = Response(
            id="r",
            object="response",
            created_at=0,
            model="counting",
            output=self._output(input),
            parallel_tool_calls=False,
            tool_choice="auto",
            tools=[],
            usage=usage,
        )
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)


class Timer:
    def __init__(self):
        self._since = (time.perf_counter(), time.process_time())

    def seconds(self):
        """Of the clock and of the processor."""
        return time.perf_counter() - self._since[0], time.process_time() - self._since[1]


async def bare(turns):
    async def invoke(context, arguments):
        json.loads(arguments)
        return TEXT

    tool = FunctionTool("read", "read a file", dict(SCHEMA), invoke, strict_json_schema=False)
    agent = Agent(name="bare", instructions="be brief", tools=[tool])
    config = RunConfig(model=Counting(turns), tracing_disabled=True)
    timer = Timer()
    result = await Runner.run(agent, [{"role": "user", "content": "go"}], run_config=config, max_turns=None)
    assert result.final_output == "done"
    return timer.seconds()


class Shelf(ModelShelf):
    def __init__(self, control, turns):
        super().__init__(control)
        self._model = Counting(turns)

    def choice(self, name=""):
        return ModelChoice("counting", needs_key=False, window=1_000_000)

    async def open(self, name=""):
        return self.choice(), self._model


async def controlled(turns):
    async def run(context, given):
        return ToolOutput(TEXT)

    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        vault = Path(folder, "vault")
        vault.mkdir()
        limit = DoomLoopSettings().max_tool_calls + turns
        settings = {"agents": {"runtime": {"doomLoop": {"maxToolCalls": limit}}}}
        control = Control.open(Home(Path(folder, "home")), inline=Inline(environ={}, mapping=settings))
        conversation = Conversation(
            control,
            new_thread(control, vault, vault),
            watch=lambda event: None,
            tools=(Tool("read", "read a file", SCHEMA, run),),
            models=Shelf(control, turns),
        )
        await conversation.start()
        timer = Timer()
        end = await conversation.send("go")
        took = timer.seconds()
        assert end.reason == "done", end
        await conversation.close()
        control.close()
        return took


async def measured(turns, rounds):
    """Seconds a call, each of its quickest round: whatever else the machine does can only make one slower."""
    set_tracing_disabled(True)
    await bare(3)
    await controlled(3)
    rows = [(*await bare(turns), *await controlled(turns)) for _ in range(rounds)]
    return tuple(min(column) / turns for column in zip(*rows, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    seconds = asyncio.run(measured(given.turns, given.rounds))
    theirs, their_cpu, ours, our_cpu = (each * 1000 for each in seconds)
    if given.json:
        figures = {"bare_ms": theirs, "holdfast_ms": ours, "added_ms": ours - theirs, "limit_ms": LIMIT_MS}
        print(json.dumps({**figures, "bare_cpu_ms": their_cpu, "holdfast_cpu_ms": our_cpu}))
        return
    print(f"{given.turns} turns, one tool call each; milliseconds a call, of the quickest of {given.rounds} rounds")
    print(f"  bare openai-agents   {theirs:7.2f}   processor {their_cpu:7.2f}")
    print(f"  through the plane    {ours:7.2f}   processor {our_cpu:7.2f}")
    print(f"  added by the plane   {ours - theirs:7.2f}   processor {our_cpu - their_cpu:7.2f}   (limit {LIMIT_MS:g})")


if __name__ == "__main__":
    main()
