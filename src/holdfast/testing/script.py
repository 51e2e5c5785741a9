"""What a scripted model says, turn by turn, whatever protocol it says it in.

    Script(
        Turn(tool_calls=(ToolUse("Read", {"file_path": "/x"}, "r1"),)),
        lambda request: f"It says: {request.result_of('r1')}",
    )

A step is a `Turn`, a `Failure`, plain text, or a function of the request that gives one of these.
Each step answers one request. A script that is asked for more than it holds fails its test:
it records a ScriptError, which the server raises when its `with` block ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from holdfast.testing.model_request import ModelRequest, ToolUse


class ScriptError(AssertionError):
    """The conversation did not go as the script says: a step raised, or the script was too short."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The figures the model reports. `input_tokens` is the part that no cache gave or took."""

    input_tokens: int = 100
    output_tokens: int = 20
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """All that was sent to the model, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def total_tokens(self) -> int:
        """Prompt and answer together."""
        return self.prompt_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model: text, then tool calls.

    `first_byte_delay` and `piece_delay` make a slow stream (seconds). `cut_after` breaks the connection
    after so many stream events; without streaming any value breaks it before the body. `at_limit` says that
    the answer ended because it reached the output limit.
    """

    text: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    usage: Usage = field(default_factory=Usage)
    first_byte_delay: float = 0.0
    piece_delay: float = 0.0
    cut_after: int | None = None
    at_limit: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """An HTTP error in the protocol's own form; `body` replaces that form altogether."""

    status: int
    message: str = "scripted failure"
    retry_after: float | None = None
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ContextOverflow:
    """The error by which a provider says that the conversation no longer fits."""

    used: int = 210_000
    limit: int = 200_000


Reply: TypeAlias = Turn | Failure | ContextOverflow
Step: TypeAlias = Reply | str | Callable[[ModelRequest], Reply | str]


def as_reply(step: Step, request: ModelRequest, call_ids: str = "call") -> Reply:
    """Carries a step out: calls it if it is a function, makes a turn of plain text, names its calls."""
    made = step(request) if callable(step) else step
    if isinstance(made, str):
        return Turn(text=made)
    if isinstance(made, Turn):
        named = tuple(
            replace(call, id=call.id or f"{call_ids}_{place}") for place, call in enumerate(made.tool_calls, start=1)
        )
        return replace(made, tool_calls=named)
    if isinstance(made, Failure | ContextOverflow):
        return made
    raise ScriptError(
        f"a script step for request {request.number} gave {made!r}; "
        "it must give a Turn, a Failure, a ContextOverflow or text"
    )


class Script:
    """Steps in order, each used once; safe when a host asks from several connections at once.

    A call without an id gets one from its place: `call_2_1` is the first call of the second step.
    """

    def __init__(self, *steps: Step, then: Step | None = None, call_id_prefix: str = "call") -> None:
        """`then` answers every request after the last step, for a host whose number of turns is open."""
        self._steps = steps
        self._then = then
        self._call_id_prefix = call_id_prefix
        self._taken = 0
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """How many requests this script has answered."""
        return self._taken

    @property
    def finished(self) -> bool:
        """Whether every step has been used."""
        return self._taken >= len(self._steps)

    def answer(self, request: ModelRequest) -> Reply:
        """The next step's reply to this request."""
        with self._lock:
            self._taken += 1
            number = self._taken
        step = self._steps[number - 1] if number <= len(self._steps) else self._then
        if step is None:
            raise ScriptError(
                f"the script has {len(self._steps)} steps and request {request.number} asks for one more "
                f"(last words sent: {request.transcript[-200:]!r}); add a step, or give `then=`"
            )
        return as_reply(step, request, f"{self._call_id_prefix}_{number}")
