"""How the offline model reaches for a tool, and what it gets back."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.runtime.marks import DENIED, FAILED

Schema = Mapping[str, Any]
"""The properties of a tool's input."""


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    text: str
    ok: bool
    denied: bool = False

    @property
    def why(self) -> str:
        return self.text.removeprefix(DENIED).removeprefix(FAILED).strip()


Work = Generator[Call, Result, str]
"""Yields calls, is sent their results, ends with words."""


class NoTool(Exception):
    """The request needs a tool that is not there."""

    def __init__(self, tool: str) -> None:
        super().__init__(tool)
        self.tool = tool


_NAMES: Mapping[str, tuple[str, ...]] = {
    "path": ("path", "file_path", "filePath", "file"),
    "content": ("content", "text", "contents"),
    "old": ("old", "old_text", "old_string", "oldString", "search"),
    "new": ("new", "new_text", "new_string", "newString", "replace"),
    "source": ("source", "from", "src", "path"),
    "to": ("destination", "to", "dest", "dst"),
    "prompt": ("prompt", "task", "instructions", "message"),
    "about": ("description", "title", "name"),
}


@dataclass(frozen=True, slots=True)
class Hands:
    """The tools that are there, called by whatever names their inputs have."""

    tools: Mapping[str, Schema] = field(default_factory=dict)

    def call(self, tool: str, **values: object) -> Call:
        """`path="x"` lands in the tool's own name for it; what the tool does not take is left out."""
        if tool not in self.tools:
            raise NoTool(tool)
        taken: dict[str, Any] = {}
        for role, value in values.items():
            name = next((name for name in _NAMES.get(role, (role,)) if name in self.tools[tool]), None)
            if name is not None and value not in ("", None):
                taken[name] = value
        return Call(tool, taken)
