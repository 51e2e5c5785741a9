"""What stands in a host's own transcript, in one form for all hosts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import orjson

LONGEST_READ = 32 * 1024 * 1024
"""Of one go; what is left comes with the next."""


@dataclass(frozen=True, slots=True)
class Words:
    """Text that the model wrote."""

    id: str
    at: float
    text: str
    turn: str = ""


@dataclass(frozen=True, slots=True)
class Fill:
    """How full the context was after a request."""

    used: int
    at: float
    window: int | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the host has carried out, or refused."""

    id: str
    tool: str
    at: float
    arguments: Mapping[str, Any] = field(default_factory=dict)
    turn: str = ""
    ran: bool = True
    """False when the host knows that it was not carried out."""


Item = Words | Fill | Call


class Dialect(Protocol):
    """Reads one host's lines."""

    def items(self, line: Mapping[str, Any]) -> Iterator[Item]: ...


def read_lines(path: Path, offset: int) -> tuple[list[Mapping[str, Any]], int]:
    """The whole lines from an offset on, and where they end; a line that is being written comes next time."""
    try:
        with path.open("rb") as file:
            if file.seek(0, 2) < offset:
                offset = 0  # it was written anew
            file.seek(offset)
            data = file.read(LONGEST_READ)
    except OSError:
        return [], offset
    end = data.rfind(b"\n") + 1
    lines: list[Mapping[str, Any]] = []
    for line in data[:end].splitlines():
        with contextlib.suppress(orjson.JSONDecodeError):
            parsed = orjson.loads(line)
            if isinstance(parsed, dict):
                lines.append(parsed)
    return lines, offset + end


def seconds_of(value: Any) -> float:
    """An ISO moment as seconds since 1970; 0 when it is none."""
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0


def number_of(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
