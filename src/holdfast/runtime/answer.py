"""One answer of a model, put together from its stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from agents.exceptions import ModelBehaviorError
from agents.models.interface import Model
from agents.usage import Usage as TokenUsage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseReasoningItem

from holdfast.runtime.scene import Scene
from holdfast.runtime.ui_events import ReasoningDelta, TextDelta, ToolPreparing

_REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


@dataclass(frozen=True, slots=True)
class Answer:
    output: Sequence[Any]
    usage: TokenUsage = field(default_factory=TokenUsage)
    hit_output_limit: bool = False

    @property
    def text(self) -> str:
        """All words of the answer, a refusal's too."""
        parts = (part for entry in self.output if isinstance(entry, ResponseOutputMessage) for part in entry.content)
        return "".join(getattr(part, "text", "") or getattr(part, "refusal", "") for part in parts)

    @property
    def reasoning(self) -> str:
        entries = (entry for entry in self.output if isinstance(entry, ResponseReasoningItem))
        return "\n".join(part.text for entry in entries for part in entry.summary)


async def collect(stream: AsyncIterator[Any], model: Model, scene: Scene) -> Answer:
    """Follow a stream to its end, telling the watchers; raises what the stream raises, and when it ends too early."""
    async with aclosing(stream) as events:  # type: ignore[type-var]  # every stream of the library is a generator
        return await _answer(events, model, scene)


async def _answer(events: AsyncIterator[Any], model: Model, scene: Scene) -> Answer:
    done: list[Any] = []
    async for event in events:
        kind = getattr(event, "type", "")
        if kind == "response.output_text.delta":
            scene.emit(TextDelta(text=event.delta))
        elif kind in _REASONING:
            scene.emit(ReasoningDelta(text=event.delta))
        elif kind == "response.output_item.added" and isinstance(event.item, ResponseFunctionToolCall):
            scene.emit(ToolPreparing(call_id=event.item.call_id, tool=event.item.name))
        elif kind == "response.output_item.done":
            done.append(event.item)
        elif kind == "response.completed":
            # Some servers leave the final list empty and have told the items one by one.
            cut = getattr(model, "finish_reason", None) == "length"
            return Answer(event.response.output or done, _usage(event.response), cut)
        elif kind == "response.incomplete" and _at_limit(event.response):
            return Answer(event.response.output or done, _usage(event.response), hit_output_limit=True)
        elif kind in ("response.failed", "response.incomplete"):
            error = getattr(event.response, "error", None) or getattr(event.response, "incomplete_details", None)
            raise ModelBehaviorError(f"{kind}: {getattr(error, 'code', '')} {getattr(error, 'message', error)}")
        elif kind in ("error", "response.error"):
            raise ModelBehaviorError(f"{kind}: {getattr(event, 'code', '')} {getattr(event, 'message', '')}")
    raise ModelBehaviorError("the stream ended before the final response")


def _at_limit(response: Any) -> bool:
    return getattr(getattr(response, "incomplete_details", None), "reason", None) == "max_output_tokens"


def _usage(response: Any) -> TokenUsage:
    usage = getattr(response, "usage", None)
    if usage is None:
        return TokenUsage(requests=1)
    return TokenUsage(
        requests=1,
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        total_tokens=usage.total_tokens or 0,
    )
