"""The record of a thread as entries of a conversation: a call and its result are one entry, with its state."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from holdfast.core.messages import LANGUAGES
from holdfast.doors.call_preview import preview, shortened
from holdfast.doors.web.cards import what_shape
from holdfast.doors.web.live_shapes import ItemShape, MessageShape, ToolState, Truncated
from holdfast.policies.truncation import MARK
from holdfast.runtime.marks import DENIED, FAILED, INTERRUPTED, STOPPED_HERE
from holdfast.store.interface import EventRecord, Store

KINDS = (
    "session_started",
    "prompt_submitted",
    "assistant_replied",
    "tool_calling",
    "tool_called",
    "compacted",
    "mode_changed",
    "session_ended",
    "noticed",
)
MOST_OUTPUT = 100_000
_KEPT = 300
_NOTE_TAIL = 2000
_TOTALS = re.compile(r"(\d+)\D{1,12}?(\d+)")
_PATH = re.compile(r"(?:Full output: |完整输出：)(.+)")


_STOPPED = {STOPPED_HERE().text(language) for language in LANGUAGES}


def superseded_note(session: str) -> str:
    """Where it stands which events of a session were taken back by editing a message."""
    return f"superseded:{session}"


class Items:
    """Makes entries of records. `is_driven` tells whether a session of the own agent is being worked in."""

    def __init__(self, store: Store, is_driven: Callable[[str], bool] = lambda session: True) -> None:
        self._store = store
        self._is_driven = is_driven
        self._callings: OrderedDict[tuple[str, str, str], EventRecord] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, records: Sequence[EventRecord], *, session_is_over: bool) -> list[ItemShape]:
        """Entries of consecutive records of one session, oldest first."""
        if not records:
            return []
        session = records[0].where.session
        results = self._results(records)
        gone = self._superseded(session)
        found: list[ItemShape] = []
        driven = not session_is_over and self._is_driven(session)
        last_invocation = records[-1].invocation
        for record in records:
            if record.kind == "tool_called":
                if self._calling_of(record) is not None:
                    continue  # it stands where the call was made
                item = self._tool(record, record)
            elif record.kind == "tool_calling":
                result = results.get(_call_key(record))
                going = driven and record.invocation == last_invocation
                item = self._tool(record, result, going=going)
            else:
                plain = _plain_item(record)
                if plain is None:
                    continue
                item = plain
            item["superseded"] = any(first <= record.no <= last for first, last in gone)
            found.append(item)
        return found

    def item(self, record: EventRecord) -> ItemShape | None:
        """What one new record changes on the page."""
        if record.kind == "tool_calling":
            self._remember(record)
            return self._tool(record, None, going=True)
        if record.kind == "tool_called":
            return self._tool(self._calling_of(record) or record, record)
        return _plain_item(record)

    # pairing

    def _results(self, records: Sequence[EventRecord]) -> dict[tuple[str, str, str], EventRecord]:
        """The result of each call, also when it came after the last of these records."""
        found = {_call_key(record): record for record in records if record.kind == "tool_called"}
        open_calls = {_call_key(record) for record in records if record.kind == "tool_calling"} - set(found)
        if open_calls:
            later = self._store.events(
                records[0].where.session, after=records[-1].no, kinds=("tool_called",), limit=200
            )
            found.update({_call_key(record): record for record in later if _call_key(record) in open_calls})
        for record in records:
            if record.kind == "tool_calling":
                self._remember(record)
        return found

    def _calling_of(self, called: EventRecord) -> EventRecord | None:
        if called.data.get("hooked") is False:
            return None
        key = _call_key(called)
        with self._lock:
            known = self._callings.get(key)
        if known is not None and known.no < called.no:
            return known
        before = self._store.events(
            called.where.session, before=called.no, kinds=("tool_calling",), limit=200, newest_first=True
        )
        found = next((record for record in before if _call_key(record) == key), None)
        if found is not None:
            self._remember(found)
        return found

    def _remember(self, calling: EventRecord) -> None:
        with self._lock:
            self._callings[_call_key(calling)] = calling
            while len(self._callings) > _KEPT:
                self._callings.popitem(last=False)

    def _superseded(self, session: str) -> list[tuple[int, int]]:
        kept = self._store.noted(superseded_note(session))
        return [(int(first), int(last)) for first, last in kept] if isinstance(kept, list) else []

    # one call

    def _tool(self, record: EventRecord, called: EventRecord | None, *, going: bool = False) -> ItemShape:
        call = record.data["call"]
        given: Mapping[str, Any] = call.get("input") or {}
        result: Mapping[str, Any] = called.data.get("result") or {} if called is not None else {}
        output = str(result.get("output") or result.get("error") or "")
        state, reason, why = self._state(record, called, output, going)
        item = {
            **_base("tool", record, f"t:{record.where.session}:{record.where.subagent}:{call['id']}"),
            "callId": str(call["id"]),
            "tool": str(call.get("host_tool") or call["tool"]),
            "input": shortened(dict(given)),
            "what": what_shape(preview(str(call["tool"]), given)),
            "state": state,
            "approval": str(record.data.get("approval") or ""),
            "output": _without_mark(output)[:MOST_OUTPUT],
            "exitCode": result.get("exit_code"),
            "durationMs": result.get("duration_ms"),
            "reason": reason,
            "why": why,
            "truncated": truncated_of(called) if called is not None else None,
        }
        return cast("ItemShape", item)

    def _state(
        self, calling: EventRecord, called: EventRecord | None, output: str, going: bool
    ) -> tuple[ToolState, str, MessageShape | None]:
        if called is not None:
            if output.startswith(INTERRUPTED):
                return "interrupted", "", None
            if output.startswith(DENIED):
                return "denied", _without_mark(output), None
            return ("failed" if called.data.get("result", {}).get("failed") else "done"), "", None
        decision = calling.data.get("decision")
        if decision == "deny":
            return "denied", "", _why(calling.data.get("findings") or ())
        approval_id = calling.data.get("approval")
        approval = self._store.approval(str(approval_id)) if approval_id else None
        if approval is not None and approval.status == "pending":
            return "waiting", "", None
        if approval is not None and (approval.status != "answered" or approval.answer == "deny"):
            return "denied", approval.message, None
        return ("running" if going else "interrupted"), "", None


def _why(findings: Iterable[Mapping[str, Any]]) -> MessageShape | None:
    """The weightiest reason of a refusal."""
    denied = [finding for finding in findings if finding.get("decision") == "deny"]
    chosen = next((finding for finding in denied if finding.get("hard")), denied[0] if denied else None)
    return cast("MessageShape", chosen["why"]) if chosen is not None else None


def _call_key(record: EventRecord) -> tuple[str, str, str]:
    return record.where.session, record.where.subagent, str(record.data["call"]["id"])


def _base(kind: str, record: EventRecord, key: str = "") -> Any:
    return {
        "kind": kind,
        "key": key or f"e:{record.id}",
        "session": record.where.session,
        "no": record.no,
        "at": record.at,
        "invocation": record.invocation,
        "subagent": record.where.subagent_name,
        "superseded": False,
    }


def _plain_item(record: EventRecord) -> ItemShape | None:
    data = record.data
    match record.kind:
        case "prompt_submitted":
            more: dict[str, Any] = {"id": record.id, "text": str(data["text"]), "typed": bool(data.get("typed", True))}
            return cast("ItemShape", {**_base("user", record), **more})
        case "assistant_replied":
            text, reasoning = str(data.get("text") or ""), str(data.get("reasoning") or "")
            if not text and not reasoning:
                return None
            if text in _STOPPED and not reasoning:
                more = {"problem": False, "code": "stopped", "message": STOPPED_HERE().to_dict(), "next": None}
                return cast("ItemShape", {**_base("notice", record), **more})
            return cast("ItemShape", {**_base("assistant", record), "text": text, "reasoning": reasoning})
        case "compacted":
            return cast("ItemShape", {**_base("compaction", record), **_compaction(data)})
        case "session_started":
            more = {name: str(data.get(name) or "") for name in ("source", "host", "model")}
            mode = "full_access" if data.get("mode") == "full_access" else "agent"
            return cast("ItemShape", {**_base("session", record), **more, "mode": mode})
        case "mode_changed":
            more = {"to": data.get("to", "agent"), "by": str(data.get("by", ""))}
            return cast("ItemShape", {**_base("mode", record), **more})
        case "noticed":
            more = {
                "problem": bool(data.get("problem")),
                "code": str(data.get("code") or ""),
                "message": dict(data["message"]),
                "next": dict(data["next_step"]) if data.get("next_step") else None,
            }
            return cast("ItemShape", {**_base("notice", record), **more})
        case "session_ended":
            return cast("ItemShape", {**_base("ended", record), "reason": str(data.get("reason") or "")})
        case _:
            return None


def _compaction(data: Mapping[str, Any]) -> dict[str, Any]:
    about: Mapping[str, Any] = data.get("record") or {}
    dropped = about.get("droppedTools") or about.get("dropped_tools") or {}
    return {
        "trigger": str(data.get("trigger", "auto")),
        "method": str(about.get("method") or ("summary" if data.get("summary") else "prune")),
        "before": data.get("before"),
        "after": data.get("after"),
        "summary": str(data.get("summary") or "")[:MOST_OUTPUT],
        "droppedTools": {str(name): int(count) for name, count in dict(dropped).items()},
        "inferred": bool(data.get("inferred")),
    }


def truncated_of(called: EventRecord) -> Truncated | None:
    """How much there was in all, and where it lies; None when the output is whole."""
    spilled = called.data.get("spilled")
    if isinstance(spilled, Mapping):
        lines, size = int(spilled.get("lines") or 0), int(spilled.get("bytes") or 0)
        return {"lines": lines, "bytes": size, "path": str(spilled.get("path") or "")}
    output = str((called.data.get("result") or {}).get("output") or "")
    tail = output[-_NOTE_TAIL:]
    mark = tail.rfind(MARK)
    if mark < 0:
        return None
    totals, path = _TOTALS.search(tail, mark), _PATH.search(tail, mark)
    if totals is None:
        return None
    return {"lines": int(totals[1]), "bytes": int(totals[2]), "path": path[1].strip() if path else ""}


def _without_mark(output: str) -> str:
    for mark in (INTERRUPTED, DENIED, FAILED):
        output = output.removeprefix(mark)
    return output
