"""The offline model as openai-agents sees it."""

import asyncio
import json

from agents import FunctionTool
from openai.types.responses import ResponseCompletedEvent, ResponseTextDeltaEvent

from holdfast.runtime.offline_model import OfflineModel


async def _never(context, arguments):
    raise AssertionError("the model calls nothing itself")


TOOLS = [
    FunctionTool(
        name="read",
        description="",
        params_json_schema={"type": "object", "properties": {"path": {"type": "string"}}},
        on_invoke_tool=_never,
        strict_json_schema=False,
    )
]


def ask(items, tools=TOOLS):
    return asyncio.run(OfflineModel().get_response("be brief", items, None, tools, None, [], None))


def streamed(items):
    async def collect():
        return [event async for event in OfflineModel().stream_response(None, items, None, TOOLS, None, [], None)]

    return asyncio.run(collect())


def test_OP1_a_request_becomes_a_call_and_its_result_an_answer():
    items = [{"role": "user", "content": "read a.txt"}]
    call = ask(items).output[0]
    assert (call.name, json.loads(call.arguments)) == ("read", {"path": "a.txt"})
    items += [
        {"type": "function_call", "call_id": call.call_id, "name": "read", "arguments": call.arguments},
        {"type": "function_call_output", "call_id": call.call_id, "output": "hello\n"},
    ]
    answer = ask(items)
    assert "hello" in answer.output[0].content[0].text
    assert answer.usage.input_tokens > 0


def test_OP1_the_same_question_has_the_same_answer_and_every_place_its_own_call_id():
    first = ask([{"role": "user", "content": "read a.txt"}]).output[0]
    again = ask([{"role": "user", "content": "read a.txt"}]).output[0]
    later = ask(
        [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
            {"role": "user", "content": "read a.txt"},
        ]
    ).output[0]
    assert first.call_id == again.call_id != later.call_id


def test_OP1_streaming_gives_the_words_in_pieces_and_then_the_whole():
    events = streamed([{"role": "user", "content": "help"}])
    assert isinstance(events[-1], ResponseCompletedEvent)
    pieces = "".join(event.delta for event in events if isinstance(event, ResponseTextDeltaEvent))
    assert pieces == events[-1].response.output[0].content[0].text


def test_OP1_without_tools_it_shortens_a_text():
    text = "\n".join(f"line {number}" for number in range(100))
    answer = ask([{"role": "user", "content": text}], tools=[]).output[0].content[0].text
    assert "line 0" in answer
    assert "line 99" in answer
    assert len(answer) < len(text) / 4
