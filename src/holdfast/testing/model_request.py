"""What a scripted model server was asked, in one form for all wire protocols.

Each server reads its own wire format into these records, so that a test says
`server.requests[1].result_of("call_1")` and not where Anthropic or Gemini keeps it.
The untouched body stays at hand for whatever this neutral form leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call, as a script orders it or as a request shows it in the history.

    `arguments` as text is sent verbatim: the input of a freeform tool (Codex `apply_patch`), or broken JSON.
    `id` left empty is made from the call's place in the script. `namespace` is Codex's own field for MCP tools.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the conversation the model was sent; a tool's result is an entry with role `tool`."""

    role: Role
    text: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    call_id: str = ""
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request for a model's answer; `number` counts from 1 over everything a server was asked.

    `conversation` is the client's own id of the session or sub-agent that asks, where it tells (Gemini CLI
    does not). `side` is the kind of side request, None for the conversation itself.
    """

    number: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    model: str
    stream: bool
    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    conversation: str = ""
    side: str | None = None

    @property
    def system(self) -> str:
        """The system text, all parts joined."""
        return "\n\n".join(message.text for message in self.messages if message.role == "system")

    @property
    def last_user_text(self) -> str:
        """The newest user entry that holds text; empty when there is none."""
        texts = (m.text for m in reversed(self.messages) if m.role == "user" and m.text)
        return next(texts, "")

    @property
    def tool_results(self) -> dict[str, str]:
        """What each finished call gave back to the model, by call id."""
        return {m.call_id: m.text for m in self.messages if m.role == "tool"}

    @property
    def transcript(self) -> str:
        """Everything the model could read, in order: for `assert "..." in request.transcript`."""
        return "\n".join(message.text for message in self.messages)

    def from_client(self, name: str) -> bool:
        """Whether the client calls itself so: the name begins its user agent."""
        return self.headers.get("user-agent", "").startswith(name)

    def result_of(self, call_id: str) -> str:
        """The result of one call; a KeyError names the calls that do have one."""
        results = self.tool_results
        if call_id not in results:
            raise KeyError(f"request {self.number} holds no result for {call_id!r}; it has {sorted(results)}")
        return results[call_id]
