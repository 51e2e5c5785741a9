"""A model without a network: fixed rules that drive the real tools (OP1).

It is how a newcomer tries everything without a key, how the tour runs, and how tests drive the whole stack. To the
runner it is a model like any other; it says what it is when it is asked, and whenever it does not understand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from agents.items import ModelResponse, TResponseStreamEvent
from agents.models.interface import Model
from agents.tool import FunctionTool
from agents.usage import Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
    ResponseUsage,
)
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

from holdfast.core.history import Item, measure
from holdfast.core.tokens import estimate
from holdfast.runtime.dialect import items_from_input
from holdfast.runtime.offline_hands import Hands
from holdfast.runtime.offline_mind import Reply, next_step

NAME = "offline"
_PIECE = 24


class OfflineModel(Model):
    """Deterministic: the same history and the same tools give the same answer."""

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],
        model_settings: Any,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        tracing: Any,
        *,
        previous_response_id: str | None = None,
        conversation_id: str | None = None,
        prompt: Any = None,
    ) -> ModelResponse:
        response = self._response(system_instructions, input, tools)
        usage = response.usage
        assert usage is not None
        counted = Usage(
            requests=1,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            total_tokens=usage.total_tokens,
        )
        return ModelResponse(output=response.output, usage=counted, response_id=None)

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],
        model_settings: Any,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        tracing: Any,
        *,
        previous_response_id: str | None = None,
        conversation_id: str | None = None,
        prompt: Any = None,
    ) -> AsyncIterator[TResponseStreamEvent]:
        response = self._response(system_instructions, input, tools)
        number = 0
        for index, output in enumerate(response.output):
            if not isinstance(output, ResponseOutputMessage):
                continue
            for piece in _pieces(output.content[0].text):  # type: ignore[union-attr]  # we only make text
                yield ResponseTextDeltaEvent(
                    type="response.output_text.delta",
                    delta=piece,
                    item_id=output.id,
                    output_index=index,
                    content_index=0,
                    sequence_number=number,
                    logprobs=[],
                )
                number += 1
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=number)

    def _response(self, system: str | None, given: str | list[Any], tools: Sequence[Any]) -> Response:
        history = items_from_input(given)
        reply = _summary_of(history) if not tools else next_step(history, Hands(_schemas(tools)))
        mark = _mark(history)
        output = _output(reply, mark)
        used = estimate(system or "") + measure(history).tokens
        said = estimate(reply.text) + sum(estimate(json.dumps(dict(call.input))) + 12 for call in reply.calls)
        return Response(
            id=f"offline_{mark}",
            object="response",
            created_at=0,
            model=NAME,
            output=output,
            parallel_tool_calls=False,
            tool_choice="auto",
            tools=[],
            status="completed",
            usage=ResponseUsage(
                input_tokens=used,
                output_tokens=said,
                total_tokens=used + said,
                input_tokens_details=InputTokensDetails(cached_tokens=0, cache_write_tokens=0),
                output_tokens_details=OutputTokensDetails(reasoning_tokens=0),
            ),
        )


def _output(reply: Reply, mark: str) -> list[Any]:
    output: list[Any] = []
    if reply.text:
        content = ResponseOutputText(type="output_text", text=reply.text, annotations=[])
        output.append(
            ResponseOutputMessage(
                id=f"msg_{mark}", type="message", role="assistant", status="completed", content=[content]
            )
        )
    for place, call in enumerate(reply.calls):
        output.append(
            ResponseFunctionToolCall(
                type="function_call",
                call_id=f"call_{mark}_{place}",
                name=call.tool,
                arguments=json.dumps(dict(call.input), ensure_ascii=False),
            )
        )
    return output


def _schemas(tools: Sequence[Any]) -> Mapping[str, Mapping[str, Any]]:
    return {
        tool.name: tool.params_json_schema.get("properties", {}) for tool in tools if isinstance(tool, FunctionTool)
    }


def _mark(history: Sequence[Item]) -> str:
    """Different for every place in a conversation, the same in every run."""
    digest = hashlib.sha256(str(len(history)).encode())
    for item in history:
        digest.update(f"\x00{item.kind}\x00{item.call_id}\x00{item.text}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:12]


def _summary_of(history: Sequence[Item]) -> Reply:
    """Without tools the request is a text to shorten (compaction): its requests and the end of it, word for word."""
    text = "\n".join(item.text for item in history if item.kind == "user")
    asked = [line for line in text.splitlines() if line.strip()]
    return Reply("\n".join([*asked[:6], "...", *asked[-6:]]) if len(asked) > 12 else "\n".join(asked))


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
