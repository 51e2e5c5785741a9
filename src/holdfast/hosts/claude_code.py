"""Claude Code: its hook payloads into events, outcomes into its hook answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

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
)
from holdfast.core.outcome import Outcome
from holdfast.core.policy import Capabilities
from holdfast.hosts.host import Address, Header, Payload, Reply

TOOLS: Mapping[str, str] = {
    "Read": "read",
    "NotebookRead": "read",
    "LS": "ls",
    "Glob": "glob",
    "Grep": "grep",
    "Write": "write",
    "Edit": "edit",
    "MultiEdit": "multiedit",
    "NotebookEdit": "notebook_edit",
    "Bash": "bash",
    "Monitor": "bash",
    "BashOutput": "job_output",
    "TaskOutput": "job_output",
    "KillShell": "job_stop",
    "TaskStop": "job_stop",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
    "Task": "task",
    "Agent": "task",
    "TodoWrite": "todo_write",
    "TodoRead": "todo_read",
    "TaskCreate": "tasks_add",
    "TaskUpdate": "tasks_update",
    "TaskGet": "tasks_get",
    "TaskList": "tasks_list",
    "EnterPlanMode": "plan",
    "ExitPlanMode": "plan",
    "AskUserQuestion": "ask_user",
    "ToolSearch": "tool_search",
    "Skill": "skill",
}
"""Claude Code's names to the neutral ones; an unknown tool keeps its name and is asked about."""

READS = frozenset(name for name, neutral in TOOLS.items() if neutral in ("read", "ls", "glob", "grep", "todo_read"))

CAPABILITIES = Capabilities(
    host="claude-code",
    abilities={
        "session_started": frozenset({"inject"}),
        "prompt_submitted": frozenset({"block", "inject"}),
        "tool_calling": frozenset({"block", "rewrite_input", "inject"}),
        "tool_called": frozenset({"replace_output", "inject", "see_failure"}),
        "compacting": frozenset({"veto_compaction", "inject"}),
        "compacted": frozenset({"inject"}),
    },
    compaction_signal="yes",
    names_subagents=True,
    inject_limit=9_000,
)


class ClaudeCode:
    """A pure translator."""

    name = "claude-code"
    capabilities = CAPABILITIES

    def address(self, payload: Payload) -> Address | None:
        session = payload.get("session_id")
        if not isinstance(session, str) or not session:
            return None
        source: StartSource | None = None
        if payload.get("hook_event_name") == "SessionStart":
            source = _source(payload.get("source"))
        return Address(
            session=session,
            cwd=str(payload.get("cwd") or ""),
            subagent=str(payload.get("agent_type") or payload.get("agent_id") or "") if payload.get("agent_id") else "",
            source=source,
            transcript=str(payload.get("transcript_path") or ""),
            model=str(payload.get("model") or ""),
        )

    def invocation(self, payload: Payload) -> str:
        return str(payload.get("prompt_id") or "")

    def parse(self, payload: Payload, header: Header) -> Sequence[Event]:
        kind = payload.get("hook_event_name")
        match kind:
            case "PreToolUse":
                return (ToolCalling(**header.fields(), call=_call(payload)),)
            case "PostToolUse":
                result = _result(payload.get("tool_response"), payload.get("duration_ms"))
                return (ToolCalled(**header.fields(), call=_call(payload), result=result),)
            case "PostToolUseFailure":
                error = str(payload.get("error") or "")
                failure = ToolResult(output=error, failed=True, error=error)
                return (ToolCalled(**header.fields(), call=_call(payload), result=failure),)
            case "UserPromptSubmit":
                return (PromptSubmitted(**header.fields(), text=str(payload.get("prompt") or "")),)
            case "SessionStart":
                return self._session_start(payload, header)
            case "PreCompact":
                return (Compacting(**header.fields(), trigger=_trigger(payload)),)
            case "PostCompact":
                summary = str(payload.get("compact_summary") or "")
                return (Compacted(**header.fields(), trigger=_trigger(payload), summary=summary),)
            case "Stop":
                text = str(payload.get("last_assistant_message") or "")
                return (AssistantReplied(**header.fields(), text=text),) if text else ()
            case "SessionEnd":
                return (SessionEnded(**header.fields(), reason=str(payload.get("reason") or "")),)
            case _:
                return ()

    def _session_start(self, payload: Payload, header: Header) -> Sequence[Event]:
        started = SessionStarted(
            **header.fields(),
            source=_source(payload.get("source")),
            host=self.name,
            cwd=str(payload.get("cwd") or ""),
            model=str(payload.get("model") or ""),
        )
        return (started,)

    def render(self, payload: Payload, event: Event | None, outcome: Outcome | None) -> Reply:
        if event is None or outcome is None:
            return _reply({})
        if isinstance(event, ToolCalling):
            return _reply(_pre_tool_use(outcome))
        if isinstance(event, ToolCalled):
            return _reply(_post_tool_use(payload, outcome))
        name = str(payload.get("hook_event_name"))
        context = "\n\n".join(part.text for part in outcome.inject if part.audience != "user")
        answer: dict[str, Any] = {}
        if outcome.decision != "allow":
            answer.update(decision="block", reason=outcome.reason())
        if context and name in ("SessionStart", "UserPromptSubmit"):
            answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": context}
        if outcome.warnings:
            answer["systemMessage"] = "\n".join(warning.text() for warning in outcome.warnings)
        return _reply(answer)

    def refuse(self, payload: Payload, reason: str) -> Reply:
        kind = payload.get("hook_event_name")
        if kind not in (None, "PreToolUse") or payload.get("tool_name") in READS:
            return _reply({})
        return _reply(_decision("deny", reason))


def _call(payload: Payload) -> ToolCall:
    own = str(payload.get("tool_name") or "")
    tool_input = payload.get("tool_input")
    return ToolCall(
        id=str(payload.get("tool_use_id") or ""),
        tool=TOOLS.get(own, own),
        host_tool=own,
        input=tool_input if isinstance(tool_input, Mapping) else {"input": tool_input},
        cwd=str(payload.get("cwd") or ""),
    )


def _result(response: Any, duration: Any) -> ToolResult:
    took = float(duration) if isinstance(duration, int | float) else None
    if isinstance(response, str):
        return ToolResult(output=response, duration_ms=took)
    if isinstance(response, Mapping) and "stdout" in response:
        parts = (str(response.get("stdout") or ""), str(response.get("stderr") or ""))
        return ToolResult(output="\n".join(part for part in parts if part), duration_ms=took)
    if isinstance(response, Mapping) and isinstance(response.get("file"), Mapping):
        return ToolResult(output=str(response["file"].get("content") or ""), duration_ms=took)
    text = json.dumps(response, ensure_ascii=False, indent=2, default=str)
    return ToolResult(output=text, structured=True, duration_ms=took)


def _decision(decision: str, reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }
    }


def _pre_tool_use(outcome: Outcome) -> dict[str, Any]:
    answer = _decision(outcome.decision, outcome.reason())
    specific = answer["hookSpecificOutput"]
    if outcome.allowed and outcome.input is not None:
        specific["updatedInput"] = dict(outcome.input)
    context = "\n\n".join(part.text for part in outcome.inject if part.audience != "user")
    if context:
        specific["additionalContext"] = context
    if outcome.warnings:
        answer["systemMessage"] = "\n".join(warning.text() for warning in outcome.warnings)
    return answer


def _post_tool_use(payload: Payload, outcome: Outcome) -> dict[str, Any]:
    specific: dict[str, Any] = {"hookEventName": str(payload.get("hook_event_name"))}
    if outcome.output is not None and payload.get("hook_event_name") == "PostToolUse":
        specific["updatedToolOutput"] = _in_shape(payload.get("tool_response"), outcome.output)
    context = "\n\n".join(part.text for part in outcome.inject if part.audience != "user")
    if context:
        specific["additionalContext"] = context
    return {"hookSpecificOutput": specific} if len(specific) > 1 else {}


def _in_shape(response: Any, text: str) -> Any:
    """A replaced output counts only in the tool's own shape; anything else is silently ignored by the host."""
    if isinstance(response, Mapping) and "stdout" in response:
        return {**response, "stdout": text, "stderr": ""}
    if isinstance(response, Mapping) and isinstance(response.get("file"), Mapping):
        return {**response, "file": {**response["file"], "content": text}}
    return text


def _source(value: Any) -> StartSource:
    return value if value in ("startup", "resume", "clear", "compact", "fork") else "startup"


def _trigger(payload: Payload) -> Any:
    return "manual" if payload.get("trigger") == "manual" else "auto"


def _reply(answer: Mapping[str, Any]) -> Reply:
    return Reply(0, json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") if answer else b"{}")
