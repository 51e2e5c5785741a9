"""What happens in a run, for whoever shows it: the terminal, the page, a script's JSON lines.

Plain records without any presentation; each names the sub-agent it comes from (empty: the main agent).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.store.interface import Approval

EndReason = Literal["done", "stopped", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _UiEvent:
    subagent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(_UiEvent):
    kind: Literal["turn_started"] = "turn_started"
    invocation: str
    text: str
    typed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(_UiEvent):
    kind: Literal["text_delta"] = "text_delta"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta(_UiEvent):
    kind: Literal["reasoning_delta"] = "reasoning_delta"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReset(_UiEvent):
    """The reply broke off and is asked for again: what was shown of it does not count."""

    kind: Literal["text_reset"] = "text_reset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied(_UiEvent):
    """One whole reply of the model, durable in the transcript."""

    kind: Literal["replied"] = "replied"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPreparing(_UiEvent):
    """The model has begun to write a call, or a call is being judged."""

    kind: Literal["tool_preparing"] = "tool_preparing"
    call_id: str
    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolWaiting(_UiEvent):
    """A person is asked; anybody may answer, here or elsewhere."""

    kind: Literal["tool_waiting"] = "tool_waiting"
    call_id: str
    tool: str
    approval: Approval


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswered(_UiEvent):
    """The question has been decided, here or elsewhere."""

    kind: Literal["tool_answered"] = "tool_answered"
    call_id: str
    tool: str
    approval: Approval


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRunning(_UiEvent):
    kind: Literal["tool_running"] = "tool_running"
    call_id: str
    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(_UiEvent):
    """Output of a tool while it runs; never part of the result."""

    kind: Literal["tool_progress"] = "tool_progress"
    call_id: str
    tool: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDone(_UiEvent):
    kind: Literal["tool_done"] = "tool_done"
    call_id: str
    tool: str
    output: str
    """What the model sees."""
    failed: bool = False
    exit_code: int | None = None
    duration_ms: float = 0.0
    full_output: str = ""
    """Where the whole output lies, when it was cut."""
    display: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDenied(_UiEvent):
    kind: Literal["tool_denied"] = "tool_denied"
    call_id: str
    tool: str
    reason: str
    message: Mapping[str, Any] = field(default_factory=dict)
    """The same in every language; empty for a text that has no translation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionStarted(_UiEvent):
    kind: Literal["compaction_started"] = "compaction_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction(_UiEvent):
    """The history was made smaller (CO8)."""

    kind: Literal["compaction"] = "compaction"
    method: str
    before: int
    after: int
    summary: str = ""
    dropped_tools: Mapping[str, int] = field(default_factory=dict)
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(_UiEvent):
    """After each request: the context's fill and what the thread has cost so far."""

    kind: Literal["usage"] = "usage"
    used: int
    window: int | None
    exact: bool
    at: float
    input_tokens: int = 0
    output_tokens: int = 0
    thread_tokens: int = 0
    thread_cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryIn(_UiEvent):
    """The model could not answer now; it is asked again after a pause."""

    kind: Literal["retry_in"] = "retry_in"
    seconds: float
    attempt: int
    why: str
    message: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(_UiEvent):
    """A word to the person: a gate's warning, a failed hook, a rule that could not be written."""

    kind: Literal["notice"] = "notice"
    text: str
    message: Mapping[str, Any] = field(default_factory=dict)
    """The same in every language; empty for a text that has no translation."""
    id: str = ""
    """The event by which it stands in the record; empty for what is only said now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(_UiEvent):
    """The run cannot go on: what is wrong, and the one next step."""

    kind: Literal["problem"] = "problem"
    code: str
    text: str
    next_step: str = ""
    message: Mapping[str, Any] = field(default_factory=dict)
    next_message: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(_UiEvent):
    kind: Literal["turn_ended"] = "turn_ended"
    invocation: str
    reason: EndReason
    text: str = ""
    """The last words of the model."""
    problem: str = ""


UiEvent = (
    TurnStarted
    | TextDelta
    | ReasoningDelta
    | TextReset
    | Replied
    | ToolPreparing
    | ToolWaiting
    | ToolAnswered
    | ToolRunning
    | ToolProgress
    | ToolDone
    | ToolDenied
    | CompactionStarted
    | Compaction
    | Usage
    | RetryIn
    | Notice
    | Problem
    | TurnEnded
)
Watch = Callable[[UiEvent], None]


def to_json(event: UiEvent) -> dict[str, Any]:
    """The event as JSON values, for `--json` and for the page's stream."""
    body: dict[str, Any] = {}
    for entry in dataclasses.fields(event):
        value = getattr(event, entry.name)
        if isinstance(value, Approval):
            value = {"id": value.id, "status": value.status, "policy": value.policy, "question": dict(value.question)}
        elif isinstance(value, Mapping):
            value = dict(value)
        if entry.name != "subagent" or value:
            body[entry.name] = value
    return body
