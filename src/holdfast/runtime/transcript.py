"""A conversation rebuilt from the store: the transcript is the only truth, so nothing else can fall out of step.

Every message, call and result is an event that was durable before it was acknowledged; the history of a session is
those events in order. After a compaction a checkpoint stands for everything before it. What a crash cut off shows as a
call without a result, and is never hidden: `open_calls` says what is known of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.core.history import Item, sized
from holdfast.core.keys import SessionId
from holdfast.core.outcome import Outcome
from holdfast.core.tokens import Estimator, estimate
from holdfast.plane import Plane
from holdfast.runtime.marks import DENIED, INTERRUPTED
from holdfast.store.interface import EventRecord, Store

_KINDS = ("prompt_submitted", "assistant_replied", "tool_calling", "tool_called")
_PAGE = 1000
FORMAT = 1

Standing = Literal["waiting", "approved", "started", "denied"]
"""Of a call without a result: asked about, approved but not begun, begun (it may or may not have run), refused."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that has no result."""

    id: str
    tool: str
    input: Mapping[str, Any]
    domain: str
    batch: str
    invocation: str
    standing: Standing
    read_only: bool
    approval: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A conversation as it stands."""

    items: tuple[Item, ...] = ()
    """Valid for every provider: an open call stands there with a result that says so."""
    open_calls: tuple[OpenCall, ...] = ()
    """Without the refused ones: those are settled."""
    last_no: int = 0
    call_ids: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Group:
    """The calls of one reply and their results; calls come first, however they ran."""

    batch: str
    calls: dict[str, Item] = field(default_factory=dict)
    results: dict[str, Item] = field(default_factory=dict)
    records: dict[str, EventRecord] = field(default_factory=dict)


def started_note(where: SessionId, call_id: str) -> str:
    """The name of the note that an approved call has begun to run."""
    return f"started:{where.session}:{where.subagent}:{call_id}"


def checkpoint_note(where: SessionId, invocation: str) -> str:
    """A sub-agent's history is one run's; the main agent's is the whole session's."""
    return f"history:{where.session}:{where.subagent}:{invocation if where.subagent else ''}"


class Transcript:
    """Reads and, at a compaction, rewrites the history of one agent of a session."""

    def __init__(self, plane: Plane, where: SessionId, invocation: str = "", estimate: Estimator = estimate) -> None:
        self._plane = plane
        self._store: Store = plane.store
        self._where = where
        self._invocation = invocation if where.subagent else ""
        self._estimate = estimate

    def load(self) -> Loaded:
        base, after = self._checkpoint()
        records, last_no = self._records(after)
        entries = _entries(records)
        items = list(base)
        open_calls: list[OpenCall] = []
        ids: set[str] = set()
        for entry in entries:
            if isinstance(entry, Item):
                items.append(entry)
                continue
            ids.update(entry.calls)
            items.extend(entry.calls.values())
            for call_id in entry.calls:
                result = entry.results.get(call_id)
                if result is None:
                    found = self._open(entry.records[call_id])
                    result = _stand_in(found)
                    if found.standing != "denied":
                        open_calls.append(found)
                items.append(result)
        kept = tuple(sized(item, self._estimate) for item in items)
        return Loaded(kept, tuple(open_calls), last_no, frozenset(ids))

    def replace(self, items: Iterable[Item], *, compacted: str) -> None:
        """From here on these items stand for everything that happened until now; `compacted` is the event's id."""
        last = self._store.events(self._where.session, limit=1, newest_first=True)
        body = {
            "format": FORMAT,
            "no": last[0].no if last else 0,
            "compacted": compacted,
            "items": [item_to_json(item) for item in items],
        }
        self._store.note(checkpoint_note(self._where, self._invocation), body)

    def result_of(self, call_id: str) -> str | None:
        """What a call gave, if it has run."""
        for record in reversed(self._records(0)[0]):
            if record.kind == "tool_called" and record.data["call"]["id"] == call_id:
                return _result_text(record)
        return None

    def _checkpoint(self) -> tuple[list[Item], int]:
        body = self._store.noted(checkpoint_note(self._where, self._invocation))
        if not isinstance(body, Mapping) or body.get("format") != FORMAT:
            return [], 0
        return [item_from_json(entry) for entry in body["items"]], int(body["no"])

    def _records(self, after: int) -> tuple[list[EventRecord], int]:
        found: list[EventRecord] = []
        last_no = after
        while True:
            page = self._store.events(
                self._where.session,
                after=last_no,
                limit=_PAGE,
                kinds=_KINDS,
                invocation=self._invocation or None,
            )
            found += (record for record in page if record.where.subagent == self._where.subagent)
            if page:
                last_no = page[-1].no
            if len(page) < _PAGE:
                return found, last_no

    def _open(self, record: EventRecord) -> OpenCall:
        call = record.data["call"]
        outcome, approval = self._outcome(str(call["id"]))
        if outcome is None or outcome.decision == "allow":
            asked = bool(approval)
            begun = not asked or self._store.noted(started_note(self._where, str(call["id"]))) is not None
            standing: Standing = "started" if begun else "approved"
        else:
            standing = "waiting" if outcome.decision == "ask" else "denied"
        return OpenCall(
            id=str(call["id"]),
            tool=str(call["tool"]),
            input=(outcome.input if outcome and outcome.input is not None else call["input"]),
            domain=str(call.get("domain", "unknown")),
            batch=str(call.get("batch", "")),
            invocation=record.invocation,
            standing=standing,
            read_only=call.get("domain") in ("read", "none"),
            approval=approval,
            reason=outcome.reason() if outcome else "",
        )

    def _outcome(self, call_id: str) -> tuple[Outcome | None, str]:
        """What was decided about a call, with the answer if it was asked about."""
        kept = self._store.remembered(self._where, call_id)
        if kept is None:
            return None, ""
        outcome = Outcome.from_dict(kept.outcome)
        approval = self._store.approval(kept.approval) if kept.approval else None
        if outcome.decision == "ask" and approval is not None:
            outcome = self._plane.after_answer(outcome, approval)
        return outcome, kept.approval


def _entries(records: Sequence[EventRecord]) -> list[Item | _Group]:
    entries: list[Item | _Group] = []
    groups: dict[str, _Group] = {}
    for record in records:
        data = record.data
        if record.kind == "prompt_submitted":
            entries.append(Item("user", str(data["text"])))
        elif record.kind == "assistant_replied":
            if data["text"]:
                entries.append(Item("assistant", str(data["text"])))
        else:
            call = data["call"]
            call_id = str(call["id"])
            group = groups.get(call_id)
            if group is None:
                group = _group_of(entries, str(call.get("batch") or call_id))
                groups[call_id] = group
                arguments = json.dumps(dict(call["input"]), ensure_ascii=False, default=str)
                group.calls[call_id] = Item("call", arguments, call_id, str(call["tool"]))
                group.records[call_id] = record
            if record.kind == "tool_called":
                group.results[call_id] = _result_item(record, call_id)
    return entries


def _group_of(entries: list[Item | _Group], batch: str) -> _Group:
    last = entries[-1] if entries else None
    if isinstance(last, _Group) and last.batch == batch:
        return last
    group = _Group(batch)
    entries.append(group)
    return group


def _result_item(record: EventRecord, call_id: str) -> Item:
    result = record.data["result"]
    spilled = record.data.get("spilled") or {}
    return Item(
        "result",
        _result_text(record),
        call_id,
        str(record.data["call"]["tool"]),
        failed=bool(result.get("failed")),
        exit_code=result.get("exit_code"),
        kept_at=str(spilled.get("path") or ""),
    )


def _result_text(record: EventRecord) -> str:
    result = record.data["result"]
    return str(result.get("output") or result.get("error") or "")


def _stand_in(call: OpenCall) -> Item:
    if call.standing == "denied":
        text = f"{DENIED}{call.reason}"
    elif call.standing == "started":
        text = f"{INTERRUPTED}The run was cut off here; whether this call had an effect is not known."
    else:
        text = f"{INTERRUPTED}This call has not run: it waits for an answer."
    return Item("result", text, call.id, call.tool, failed=True)


_KEPT = ("kind", "text", "call_id", "tool", "failed", "images", "pinned", "exit_code", "kept_at")


def item_to_json(item: Item) -> dict[str, Any]:
    """What a checkpoint keeps; a provider's own form is not kept, since it may not outlive its request."""
    blank = Item(item.kind)
    return {
        name: getattr(item, name) for name in _KEPT if name == "kind" or getattr(item, name) != getattr(blank, name)
    }


def item_from_json(data: Mapping[str, Any]) -> Item:
    return Item(**{name: data[name] for name in _KEPT if name in data})
