"""Everything that happens in an agent, as frozen records.

Time, usage and ids are fields, so a decision needs no clock and can be replayed. `kind` discriminates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from holdfast.core.history import Item
from holdfast.core.keys import SessionId
from holdfast.core.memory import MemoryFacts
from holdfast.core.patterns import Rule
from holdfast.core.settings import GuardMode
from holdfast.core.targets import Access, Domain
from holdfast.core.verdict import Mode

if TYPE_CHECKING:
    from holdfast.shell.reading import CommandReading

StartSource = Literal["startup", "resume", "clear", "compact", "fork"]
Trigger = Literal["auto", "manual"]
Answer = Literal["once", "always", "for_a_while", "deny"]
StandingOrders = Literal["", "panic", "paused"]
"""`panic`: nothing runs any more; `paused`: Holdfast only watches, apart from the hard limits."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool. The plane fills `accesses`, `reading` and `risk` in before any judge sees it."""

    id: str
    tool: str
    """The neutral name: read, write, bash, ...; a host's own name when there is no neutral one."""
    input: Mapping[str, Any] = field(default_factory=dict)
    cwd: str = ""
    host_tool: str = ""
    """How the host itself calls the tool; messages name this one."""
    domain: Domain | Literal["none", "unknown"] = "unknown"
    """`none`: no effect outside the conversation, never asked (PE1)."""
    accesses: tuple[Access, ...] = ()
    reading: CommandReading | None = None
    """What a shell command would do."""
    files: int = 0
    """How many files a patch or multi-edit touches."""
    batch: str = ""
    """Calls of one assistant message share it."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    output: str = ""
    failed: bool = False
    exit_code: int | None = None
    duration_ms: float | None = None
    structured: bool = False
    """True when `output` is JSON rendered from an object."""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    id: str
    at: float
    """Seconds since 1970, UTC."""
    where: SessionId
    invocation: str = ""
    """The run this belongs to: one user message until the agent stops."""
    mode: Mode = "agent"
    interactive: bool = True
    """False when nobody can be asked: an ask becomes a deny (PE9)."""
    memory: MemoryFacts | None = None
    """What the vault's memory bank looks like now; None where there is no vault."""
    orders: StandingOrders = ""
    """What a person has ordered for everything that happens now."""
    guard: GuardMode | None = None
    """The guard mode that the environment of a host asks for; it counts where it is stricter than the configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(_Event):
    kind: Literal["session_started"] = "session_started"
    source: StartSource = "startup"
    host: str = "holdfast"
    vault: str = ""
    cwd: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSubmitted(_Event):
    """A message to the agent; `typed` tells a person's words from an automatic continuation."""

    kind: Literal["prompt_submitted"] = "prompt_submitted"
    text: str
    typed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantReplied(_Event):
    """Text that the model wrote, as it stands in the transcript."""

    kind: Literal["assistant_replied"] = "assistant_replied"
    text: str
    reasoning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalling(_Event):
    """A tool is about to run."""

    kind: Literal["tool_calling"] = "tool_calling"
    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(_Event):
    """A tool has run, or failed; `hooked` is False for calls that never passed `ToolCalling`."""

    kind: Literal["tool_called"] = "tool_called"
    call: ToolCall
    result: ToolResult
    hooked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySending(_Event):
    """A request is about to go to the model."""

    kind: Literal["history_sending"] = "history_sending"
    history: tuple[Item, ...]
    model: str = ""
    window: int | None = None
    managed: bool = False
    """The model's window is fixed by its provider: customContext does not apply (CO1)."""
    system: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 1
    overflow: bool = False
    """The provider refused the last attempt because it was too long."""
    manual: bool = False
    """The user asked for compaction now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacting(_Event):
    kind: Literal["compacting"] = "compacting"
    trigger: Trigger = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted(_Event):
    kind: Literal["compacted"] = "compacted"
    trigger: Trigger = "auto"
    summary: str = ""
    before: int | None = None
    after: int | None = None
    record: Mapping[str, Any] = field(default_factory=dict)
    """What the page shows of it: method, sizes, summary length, dropped tools (CO8)."""
    inferred: bool = False
    """True when the host gave no signal and it was concluded from other traces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMeasured(_Event):
    kind: Literal["context_measured"] = "context_measured"
    used: int
    window: int | None = None
    reserve: int | None = None
    exact: bool = True
    host: str = "holdfast"
    model: str = ""
    compressions: int = 0
    output: int = 0
    """Tokens of the answer, where the request is ours: what a thread has cost is counted from these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswered(_Event):
    kind: Literal["approval_answered"] = "approval_answered"
    approval: str
    call_id: str
    answer: Answer
    by: str
    message: str = ""
    policy: str = ""
    """Whose ask it was: a doom_loop answer resets its counts (DL2)."""
    rules: tuple[Rule, ...] = ()
    """What `always` wrote down, or what `for_a_while` grants to this session until it expires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeChanged(_Event):
    kind: Literal["mode_changed"] = "mode_changed"
    to: Mode
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(_Event):
    kind: Literal["session_ended"] = "session_ended"
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed(_Event):
    """The person was told something: a gate's warning, a budget that is used up. Kept where it was said."""

    kind: Literal["noticed"] = "noticed"
    message: Mapping[str, Any]
    """As `Message.to_dict` gives it: whoever shows it chooses the language."""
    problem: bool = False
    """The run could not go on."""
    code: str = ""
    next_step: Mapping[str, Any] = field(default_factory=dict)


Event = (
    SessionStarted
    | PromptSubmitted
    | AssistantReplied
    | ToolCalling
    | ToolCalled
    | HistorySending
    | Compacting
    | Compacted
    | ContextMeasured
    | ApprovalAnswered
    | ModeChanged
    | SessionEnded
    | Noticed
)
