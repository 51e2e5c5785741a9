"""What is being written right now in a thread, kept for pages that come in the middle of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from holdfast.core.decode import camel
from holdfast.core.messages import plain
from holdfast.doors.call_preview import preview, shortened
from holdfast.doors.web.cards import what_shape
from holdfast.doors.web.live_shapes import LiveTool, LiveTurnShape, MessageShape, RetryShape
from holdfast.runtime.ui_events import UiEvent, to_json

MOST_PROGRESS = 20_000
MOST_OUTPUT = 20_000
_OVER = {"tool_done", "tool_denied"}


@dataclass(slots=True)
class LiveTurn:
    """Follows one conversation's events; `shape` is what of them is not in the record yet."""

    invocation: str = ""
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tools: dict[str, LiveTool] = field(default_factory=dict)
    compacting: bool = False
    retry: RetryShape | None = None

    @property
    def runs_a_tool(self) -> bool:
        return any(tool["state"] == "running" for tool in self.tools.values())

    def see(self, event: UiEvent, now: float) -> None:
        if event.subagent:
            return
        match event.kind:
            case "turn_started":
                self._clear()
                self.invocation = event.invocation
            case "turn_ended":
                self._clear()
                self.tools.clear()
            case "text_delta":
                self.retry = None
                self.text.append(event.text)
            case "reasoning_delta":
                self.reasoning.append(event.text)
            case "text_reset" | "replied":
                self._clear()
            case "compaction_started":
                self.compacting = True
            case "compaction":
                self.compacting = False
            case "retry_in":
                why = cast("MessageShape", dict(event.message) or plain(event.why).to_dict())
                self.retry = {"seconds": event.seconds, "attempt": event.attempt, "why": why, "at": now}
            case _:
                self._see_tool(event)

    def _see_tool(self, event: Any) -> None:
        call_id = getattr(event, "call_id", "")
        if not call_id:
            return
        if event.kind in _OVER:
            self.tools.pop(call_id, None)
            return
        given = dict(getattr(event, "input", {}) or {})
        tool = self.tools.get(call_id)
        if tool is None or given:
            what = what_shape(preview(event.tool, given))
            known = tool["progress"] if tool else ""
            tool = self.tools[call_id] = {
                "callId": call_id,
                "tool": event.tool,
                "input": shortened(given),
                "what": what,
                "state": "preparing",
                "progress": known,
            }
        if event.kind == "tool_progress":
            tool["progress"] = (tool["progress"] + event.text)[-MOST_PROGRESS:]
        elif event.kind == "tool_waiting":
            tool["state"] = "waiting"
        elif event.kind in ("tool_running", "tool_answered"):
            tool["state"] = "running" if event.kind == "tool_running" else "preparing"

    def _clear(self) -> None:
        self.text.clear()
        self.reasoning.clear()
        self.retry = None

    def shape(self) -> LiveTurnShape:
        return {
            "invocation": self.invocation,
            "text": "".join(self.text),
            "reasoning": "".join(self.reasoning),
            "tools": [{**tool} for tool in self.tools.values()],
            "compacting": self.compacting,
            "retry": self.retry,
        }


def turn_event(event: UiEvent) -> dict[str, Any]:
    """An event of a run as the stream carries it."""
    body = {camel(name): value for name, value in to_json(event).items()}
    approval = getattr(event, "approval", None)
    if approval is not None:
        body["approval"] = approval.id
        if event.kind == "tool_answered":
            body.update(status=approval.status, answer=approval.answer)
    if "input" in body:
        body["input"] = shortened(body["input"])
    if event.kind == "tool_done":
        body["output"] = event.output[:MOST_OUTPUT]
        body.pop("display", None)
    return body
