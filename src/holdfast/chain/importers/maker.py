"""Makes records of what another program's transcript tells, in the form that our own recording has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any

from holdfast.core.keys import SessionId
from holdfast.records import FORMAT, RECALL_TOOLS
from holdfast.store.interface import EventRecord
from holdfast.store.json_text import to_json

_PATHS = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "dir_path", "target_file")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_EXIT = re.compile(r"(?:exited with code|Exit [Cc]ode:?)\s*(-?\d+)")
_EXIT_WITHIN = 400


@dataclass(slots=True)
class Origin:
    """Whose transcript it is. Ids of events follow from it, so that the same line always makes the same event."""

    host: str
    where: SessionId
    cwd: str = ""
    vault: str = ""
    _begin: Any = None

    def __post_init__(self) -> None:
        name = f"{self.host}\0{self.where.session}\0{self.where.subagent}\0"
        self._begin = blake2b(name.encode("utf-8", "replace"), digest_size=12)

    def event_id(self, source: str, part: int | str = 0) -> str:
        digest = self._begin.copy()
        digest.update(f"{source}\0{part}".encode("utf-8", "replace"))
        return f"i{digest.hexdigest()}"


class Maker:
    """One method for each kind of event; `source` names the line or message, `part` the piece of it."""

    def __init__(self, origin: Origin, tools: Mapping[str, str]) -> None:
        self.origin = origin
        self._tools = tools
        self.invocation = ""

    def prompt(self, source: str, at: float, text: str, part: int | str = 0, *, typed: bool = True) -> EventRecord:
        data = {"text": text, "typed": typed, "format": FORMAT}
        return self._record(source, part, at, "prompt_submitted", data, text)

    def reply(self, source: str, at: float, text: str, part: int | str = 0, reasoning: str = "") -> EventRecord:
        data = {"text": text, "reasoning": reasoning, "format": FORMAT}
        return self._record(source, part, at, "assistant_replied", data, text)

    def calling(
        self, source: str, at: float, call_id: str, own_tool: str, given: Any, part: int | str = 0
    ) -> EventRecord:
        tool = self._tools.get(own_tool, own_tool)
        arguments = given if isinstance(given, Mapping) else {"input": given}
        call = {"id": call_id, "tool": tool, "input": arguments, "cwd": self.origin.cwd, "host_tool": own_tool}
        text = "" if tool.endswith(RECALL_TOOLS) else f"{tool} {to_json(arguments)}"
        files = self.files(arguments)
        return self._record(source, part, at, "tool_calling", {"call": call, "format": FORMAT}, text, tool, files)

    def called(
        self,
        source: str,
        at: float,
        call_id: str,
        own_tool: str,
        output: str,
        part: int | str = 0,
        *,
        failed: bool = False,
        exit_code: int | None = None,
        files: tuple[str, ...] = (),
    ) -> EventRecord:
        tool = self._tools.get(own_tool, own_tool)
        if exit_code is None and tool == "bash":
            exit_code = _exit_code(output)
        result = {"output": output, "failed": failed, "exit_code": exit_code, "error": output if failed else ""}
        call = {"id": call_id, "tool": tool, "host_tool": own_tool, "cwd": self.origin.cwd}
        data = {"call": call, "result": result, "hooked": False, "format": FORMAT}
        text = "" if tool.endswith(RECALL_TOOLS) else output
        return self._record(source, part, at, "tool_called", data, text, tool, files)

    def compacted(
        self,
        source: str,
        at: float,
        summary: str,
        part: int | str = 0,
        *,
        trigger: str = "auto",
        before: int | None = None,
        after: int | None = None,
        inferred: bool = False,
    ) -> EventRecord:
        data = {
            "trigger": "manual" if trigger == "manual" else "auto",
            "summary": summary,
            "before": before,
            "after": after,
            "inferred": inferred,
            "format": FORMAT,
        }
        return self._record(source, part, at, "compacted", data, summary)

    def _record(
        self,
        source: str,
        part: int | str,
        at: float,
        kind: str,
        data: Mapping[str, Any],
        text: str,
        tool: str = "",
        files: tuple[str, ...] = (),
    ) -> EventRecord:
        origin = self.origin
        return EventRecord(
            origin.event_id(source, part), origin.where, at, kind, data, self.invocation, text, tool, files
        )

    def files(self, given: Mapping[str, Any]) -> tuple[str, ...]:
        """The files that a call names, as targets; by spelling alone, since the files may be long gone."""
        found = [value for key in _PATHS if isinstance(value := given.get(key), str) and value]
        for key in ("input", "patch", "patchText", "command"):
            value = given.get(key)
            if isinstance(value, str) and value.startswith("*** Begin Patch"):
                found += _PATCHED.findall(value)
        return tuple(dict.fromkeys(self._target(path) for path in found))

    def _target(self, path: str) -> str:
        vault, cwd = self.origin.vault, self.origin.cwd
        if not path.startswith("/"):
            path = f"{cwd.rstrip('/')}/{path}" if cwd else path
        if vault and (path == vault or path.startswith(vault.rstrip("/") + "/")):
            return f"vault:{path[len(vault.rstrip('/')) :] or '/'}"
        return f"fs:{path}"


def _exit_code(output: str) -> int | None:
    """As hosts tell it in words, at the beginning or at the end."""
    for text in (output[:_EXIT_WITHIN], output[-_EXIT_WITHIN:]):
        if "xit" in text and (match := _EXIT.search(text)):
            return int(match[1])
    return None


def moment(value: Any, default: float = 0.0) -> float:
    """A time as hosts write it: ISO with Z, or milliseconds since 1970."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except ValueError:
            return default
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1000 if value > 1e11 else float(value)
    return default


def joined_text(content: Any) -> str:
    """The text of a message whose content is a string or a list of blocks; what is no text is named."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else to_json(content)
    parts = []
    for block in content:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, Mapping):
            text = block.get("text")
            parts.append(text if isinstance(text, str) else f"[{block.get('type', 'part')}]")
    return "\n".join(parts)
