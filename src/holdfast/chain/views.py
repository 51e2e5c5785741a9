"""A session's record as it is read: as a conversation, as a hand-over, or as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from holdfast.chain.archive import event_line
from holdfast.chain.digest import about_call, clip
from holdfast.store.interface import EventRecord

View = Literal["chat", "handoff", "raw"]
VIEWS: tuple[View, ...] = get_args(View)

CHAT_TEXT = 2000
CHAT_OUTPUT = 400
_WHO = {"prompt_submitted": "user", "assistant_replied": "agent"}
CHAT_KINDS = (*_WHO, "tool_calling", "tool_called", "compacted", "approval_answered")
"""Kinds of events that can be a line of the conversation; the others never are."""


def chat_entry(record: EventRecord) -> dict[str, Any] | None:
    """One line of the conversation; None for what is no part of it."""
    data = record.data
    entry: dict[str, Any] = {"eventNo": record.no, "at": record.at, "invocationId": record.invocation}
    if record.where.subagent:
        entry["subagent"] = record.where.subagent
    if record.kind in _WHO:
        if not data.get("text"):
            return None
        return {**entry, "who": _WHO[record.kind], "text": clip(str(data["text"]), CHAT_TEXT)}
    call = data.get("call") or {}
    if record.kind == "tool_calling":
        about = about_call(str(call.get("tool", "")), call.get("input") or {})
        said = {**entry, "who": "agent", "calls": record.tool, "text": about}
        return {**said, "decision": data["decision"]} if data.get("decision") not in (None, "allow") else said
    if record.kind == "tool_called":
        result = data.get("result") or {}
        text = clip(str(result.get("output") or result.get("error") or ""), CHAT_OUTPUT)
        return {**entry, "who": "tool", "tool": record.tool, "outcome": outcome_of(result), "text": text}
    if record.kind == "compacted":
        return {**entry, "who": "holdfast", "text": f"[compacted] {clip(str(data.get('summary', '')), CHAT_TEXT)}"}
    if record.kind == "approval_answered":
        answer = f"[approval] {data.get('by')} answered {data.get('answer')}"
        return {**entry, "who": "user", "text": f"{answer}: {data['message']}" if data.get("message") else answer}
    return None


def outcome_of(result: Mapping[str, Any]) -> str:
    if result.get("exit_code"):
        return f"exit {result['exit_code']}"
    return "failed" if result.get("failed") else "ok"


def raw_entry(record: EventRecord, longest: int) -> dict[str, Any]:
    """The event itself; strings that are longer than `longest` are cut, and marked as cut."""
    line = event_line(record)
    line.pop("text", None)
    shortened, cut = _shortened(line, longest)
    entry: dict[str, Any] = dict(shortened)
    entry["eventNo"] = entry.pop("no")
    if cut:
        entry["cut"] = True
    return entry


def _shortened(value: Any, longest: int) -> tuple[Any, bool]:
    if isinstance(value, str):
        return (clip(value, longest), True) if len(value) > longest else (value, False)
    if isinstance(value, Mapping):
        done = {key: _shortened(entry, longest) for key, entry in value.items()}
        return {key: entry for key, (entry, _) in done.items()}, any(cut for _, cut in done.values())
    if isinstance(value, list | tuple):
        listed = [_shortened(entry, longest) for entry in value]
        return [entry for entry, _ in listed], any(cut for _, cut in listed)
    return value, False


@dataclass(slots=True)
class InvocationNote:
    """What one request led to, in a few words."""

    invocation: str
    first: int
    last: int
    at: float
    prompt: str = ""
    reply: str = ""
    tools: dict[str, int] = field(default_factory=dict)
    failed: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "invocationId": self.invocation,
            "events": [self.first, self.last],
            "at": self.at,
            "asked": self.prompt,
            "tools": self.tools,
            "failed": self.failed,
            "answered": self.reply,
        }


def invocations(records: Iterable[EventRecord], longest: int = 200) -> list[InvocationNote]:
    """The requests of a session in order, for the hand-over."""
    notes: dict[str, InvocationNote] = {}
    for record in records:
        if not record.invocation:
            continue
        note = notes.setdefault(record.invocation, InvocationNote(record.invocation, record.no, record.no, record.at))
        note.last = record.no
        main = not record.where.subagent
        if record.kind == "prompt_submitted" and main and not note.prompt:
            note.prompt = clip(str(record.data.get("text", "")), longest)
        elif record.kind == "assistant_replied" and main and record.data.get("text"):
            note.reply = clip(str(record.data["text"]), longest)
        elif record.kind == "tool_called":
            note.tools[record.tool] = note.tools.get(record.tool, 0) + 1
            note.failed += bool((record.data.get("result") or {}).get("failed"))
    return list(notes.values())
