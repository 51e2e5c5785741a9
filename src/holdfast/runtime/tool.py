"""What a tool of the own agent is: a name, a schema, and one coroutine. The plane stands in front of each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.core.keys import SessionId
from holdfast.core.settings import Settings
from holdfast.core.tools import ToolSpec
from holdfast.store.outputs import OutputStore


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where a call runs and on whose behalf."""

    vault: Path
    cwd: Path
    where: SessionId
    call_id: str
    settings: Settings
    home: Path
    """Holdfast's own home (trash, outputs)."""
    say: Callable[[str], None] = lambda text: None
    """Streams partial output to whoever watches; never part of the result."""
    memory: dict[str, Any] = field(default_factory=dict)
    """Lives as long as the session's process: versions of files that were read, background jobs."""
    outputs: OutputStore | None = None
    """Where a tool streams an output that outgrows the limits (TR7); the home's own folder when absent."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool has to say to the model."""

    text: str
    failed: bool = False
    exit_code: int | None = None
    structured: bool = False
    full_output: str = ""
    """Set when the tool streamed its output to disk itself (TR7)."""
    total_lines: int | None = None
    total_bytes: int | None = None
    display: Mapping[str, Any] = field(default_factory=dict)
    """For people only: a diff, an exit code, a duration."""


class ToolFailure(Exception):
    """A failure the model should read: what was wrong and what to do instead."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of the agent."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of the input object."""
    run: Callable[[ToolContext, Mapping[str, Any]], Awaitable[ToolOutput]]
    spec: ToolSpec | None = None
    """How its input is judged, when the neutral table does not know it."""
    profiles: frozenset[str] = frozenset({"desktop", "mobile"})
