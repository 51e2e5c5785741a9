"""Events as the transcript keeps them, and back again for replay.

The format carries a version; golden files hold it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from holdfast.core import events as ev
from holdfast.core.events import Event, ToolCall
from holdfast.store.interface import EventRecord

FORMAT = 1
_BY_KIND: dict[str, Any] = {cls.__dataclass_fields__["kind"].default: cls for cls in get_args(Event)}
RECALL_TOOLS = ("list_session_chain", "read_session_events", "read_invocation_detail", "session_search")
"""What they say was said before; a search that found earlier searches would find nothing else any more."""
_HEADER = {"id", "at", "where", "invocation", "kind", "memory", "orders", "guard"}
_SCALARS = frozenset((str, int, float, bool, type(None)))
_NOT_KEPT = {"reading", "raw"}
"""Recomputed from the command, or a provider's own dialect: neither belongs in a transcript."""


def record_of(event: Event, *, extra: Mapping[str, Any] | None = None, text: str | None = None) -> EventRecord:
    """The event as one transcript entry; `extra` adds what became of it (the decision, the spilled output)."""
    if isinstance(event, ev.HistorySending):
        body: dict[str, Any] = {"model": event.model, "items": len(event.history), "attempt": event.attempt}
    else:
        kind: Any = type(event)
        body = {name: _plain(getattr(event, name)) for name in _names(kind) if name not in _HEADER}
    body["format"] = FORMAT
    if extra:
        body.update(extra)
    call = getattr(event, "call", None)
    return EventRecord(
        id=event.id,
        where=event.where,
        at=event.at,
        kind=event.kind,
        data=body,
        invocation=event.invocation,
        text=searchable(event) if text is None else text,
        tool=call.tool if isinstance(call, ToolCall) else "",
        files=_files(call) if isinstance(call, ToolCall) else (),
    )


def event_of(record: EventRecord) -> Event:
    """The event again. Histories are not kept, so a `history_sending` entry cannot be rebuilt."""
    cls = _BY_KIND.get(record.kind)
    if cls is None or cls is ev.HistorySending:
        raise ValueError(f"entry {record.id!r} of kind {record.kind!r} cannot be turned back into an event")
    hints = _hints(cls)
    values = {name: _build(hints[name], value) for name, value in record.data.items() if name in hints}
    values.update(id=record.id, at=record.at, where=record.where, invocation=record.invocation)
    event: Event = cls(**values)
    return event


def searchable(event: Event) -> str:
    """The words of an event that a search should find."""
    if isinstance(event, ev.ToolCalling | ev.ToolCalled) and event.call.tool.endswith(RECALL_TOOLS):
        return ""
    match event:
        case ev.PromptSubmitted() | ev.AssistantReplied():
            return event.text
        case ev.ToolCalling():
            return f"{event.call.tool} {json.dumps(dict(event.call.input), ensure_ascii=False, default=str)}"
        case ev.ToolCalled():
            return event.result.output or event.result.error
        case ev.Compacted():
            return event.summary
        case ev.ApprovalAnswered():
            return event.message
        case _:
            return ""


def _files(call: ToolCall) -> tuple[str, ...]:
    paths = (str(access.target) for access in call.accesses if access.target.scheme in ("vault", "fs"))
    return tuple(dict.fromkeys(paths))


@cache
def _names(cls: Any) -> tuple[str, ...]:
    """The fields of a dataclass; none for any other class."""
    return tuple(field.name for field in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else ()


def _plain(value: Any) -> Any:
    kind: Any = type(value)
    if kind in _SCALARS:
        return value
    if names := _names(kind):
        return {name: _plain(getattr(value, name)) for name in names if name not in _NOT_KEPT}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(entry) for entry in value]
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    return str(value)


@cache
def _hints(cls: Any) -> dict[str, Any]:
    # `reading` is typed by the shell room, which core only names for the type checker.
    return get_type_hints(cls, localns={"CommandReading": Any})


def _build(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and isinstance(value, Mapping):
        hints = _hints(kind)
        return kind(**{name: _build(hints[name], entry) for name, entry in value.items() if name in hints})
    if get_origin(kind) is tuple and isinstance(value, list | tuple):
        (item, *_) = get_args(kind)
        return tuple(_build(item, entry) for entry in value)
    return value
