"""What Claude Code and Codex have in common: hooks that get one JSON object and answer with `hookSpecificOutput`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from holdfast.core.events import (
    AssistantReplied,
    Compacted,
    Compacting,
    Event,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    StartSource,
    ToolCall,
    ToolCalled,
    ToolCalling,
    ToolResult,
    Trigger,
)
from holdfast.hosts.host import Address, Header, Payload, Reply, TurnMark
from holdfast.hosts.own_tools import neutral

_SOURCES: Mapping[str, StartSource] = {
    "startup": "startup",
    "resume": "resume",
    "clear": "clear",
    "compact": "compact",
    "fork": "fork",
}


def is_report(payload: Payload) -> bool:
    """Whether it tells what has happened, and waits for no decision."""
    return payload.get("hook_event_name") not in ("SessionStart", "UserPromptSubmit", "PreToolUse")


def turn_of(payload: Payload) -> TurnMark:
    match payload.get("hook_event_name"):
        case "UserPromptSubmit":
            return "begins"
        case "Stop":
            return "ends"
        case _:
            return ""


def address_of(payload: Payload) -> Address | None:
    session = payload.get("session_id")
    if not isinstance(session, str) or not session:
        return None
    is_start = payload.get("hook_event_name") == "SessionStart"
    return Address(
        session=session,
        cwd=text_of(payload, "cwd"),
        subagent=subagent_of(payload),
        source=source_of(payload) if is_start else None,
        transcript=text_of(payload, "transcript_path"),
        model=text_of(payload, "model"),
    )


def subagent_of(payload: Payload) -> str:
    """`name#id`; an agent without a name is known by its id only."""
    agent = text_of(payload, "agent_id")
    if not agent:
        return ""
    name = text_of(payload, "agent_type").replace("#", "_")
    return f"{name}#{agent}" if name else f"agent#{agent}"


def common_events(payload: Payload, header: Header, host: str) -> Sequence[Event]:
    """Everything but the calls of tools, whose inputs and outputs each host words in its own way."""
    match payload.get("hook_event_name"):
        case "UserPromptSubmit":
            return (PromptSubmitted(**header.fields(), text=text_of(payload, "prompt")),)
        case "SessionStart":
            started = SessionStarted(
                **header.fields(),
                source=source_of(payload),
                host=host,
                cwd=text_of(payload, "cwd"),
                model=text_of(payload, "model"),
            )
            return (started,)
        case "PreCompact":
            return (Compacting(**header.fields(), trigger=trigger_of(payload)),)
        case "PostCompact":
            summary = text_of(payload, "compact_summary")
            return (Compacted(**header.fields(), trigger=trigger_of(payload), summary=summary),)
        case "Stop" | "SubagentStop":
            text = text_of(payload, "last_assistant_message")
            return (AssistantReplied(**header.fields(), text=text),) if text else ()
        case "SessionEnd":
            return (SessionEnded(**header.fields(), reason=text_of(payload, "reason")),)
        case _:
            return ()


def calling(payload: Payload, header: Header, tools: Mapping[str, str]) -> ToolCalling:
    return ToolCalling(**header.fields(), call=call_of(payload, tools))


def called(payload: Payload, header: Header, tools: Mapping[str, str], result: ToolResult) -> ToolCalled:
    return ToolCalled(**header.fields(), call=call_of(payload, tools), result=result)


def call_of(payload: Payload, tools: Mapping[str, str], cwd: str = "") -> ToolCall:
    own = text_of(payload, "tool_name")
    given = payload.get("tool_input")
    return ToolCall(
        id=text_of(payload, "tool_use_id"),
        tool=tools.get(own) or neutral(own),
        host_tool=own,
        input=given if isinstance(given, Mapping) else {"input": given},
        cwd=cwd or text_of(payload, "cwd"),
    )


def source_of(payload: Payload) -> StartSource:
    return _SOURCES.get(text_of(payload, "source"), "startup")


def trigger_of(payload: Payload) -> Trigger:
    return "manual" if payload.get("trigger") == "manual" else "auto"


def text_of(payload: Payload, key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def decision(kind: Literal["allow", "deny"], reason: str = "") -> dict[str, Any]:
    """The specific part of a PreToolUse answer."""
    answer: dict[str, Any] = {"hookEventName": "PreToolUse", "permissionDecision": kind}
    if reason:
        answer["permissionDecisionReason"] = reason
    return answer


def reply(answer: Mapping[str, Any]) -> Reply:
    return Reply(0, json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") if answer else b"{}")
