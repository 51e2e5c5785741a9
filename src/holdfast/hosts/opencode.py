"""OpenCode: what its plugin hands over into events, outcomes into what the plugin does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.core.events import (
    Compacted,
    Event,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    ToolCall,
    ToolCalled,
    ToolCalling,
    ToolResult,
)
from holdfast.core.outcome import Outcome
from holdfast.core.policy import Capabilities
from holdfast.hosts.host import Address, Header, Payload, Reply

TOOLS: Mapping[str, str] = {
    "read": "read",
    "list": "ls",
    "glob": "glob",
    "grep": "grep",
    "write": "write",
    "edit": "edit",
    "multiedit": "multiedit",
    "apply_patch": "apply_patch",
    "patch": "apply_patch",
    "bash": "bash",
    "webfetch": "web_fetch",
    "websearch": "web_search",
    "task": "task",
    "todowrite": "todo_write",
    "todoread": "todo_read",
    "question": "ask_user",
    "skill": "skill",
    "invalid": "invalid",
}
READS = frozenset({"read", "list", "glob", "grep", "todoread"})

CAPABILITIES = Capabilities(
    host="opencode",
    abilities={
        "prompt_submitted": frozenset({"inject"}),
        "tool_calling": frozenset({"block", "rewrite_input"}),
        "tool_called": frozenset({"replace_output", "see_failure"}),
        "compacting": frozenset({"inject"}),
        "compacted": frozenset({"inject"}),
    },
    compaction_signal="yes",
    names_subagents=True,
)


class OpenCode:
    """A pure translator."""

    name = "opencode"
    capabilities = CAPABILITIES

    def address(self, payload: Payload) -> Address | None:
        session = payload.get("sessionID")
        if not isinstance(session, str) or not session:
            return None
        return Address(
            session=session,
            cwd=str(payload.get("cwd") or ""),
            subagent=str(payload.get("subagent") or ""),
            source="startup" if payload.get("hook") == "session.created" else None,
            model=str(payload.get("model") or ""),
        )

    def invocation(self, payload: Payload) -> str:
        return str(payload.get("messageID") or "")

    def parse(self, payload: Payload, header: Header) -> Sequence[Event]:
        match payload.get("hook"):
            case "tool.execute.before":
                return (ToolCalling(**header.fields(), call=_call(payload)),)
            case "tool.execute.after":
                return (ToolCalled(**header.fields(), call=_call(payload), result=_result(payload)),)
            case "tool.failed":
                error = str(payload.get("error") or "")
                failure = ToolResult(output=error, failed=True, error=error)
                return (ToolCalled(**header.fields(), call=_call(payload), result=failure),)
            case "chat.message":
                return (PromptSubmitted(**header.fields(), text=str(payload.get("text") or "")),)
            case "session.created":
                cwd = str(payload.get("cwd") or "")
                return (SessionStarted(**header.fields(), source="startup", host=self.name, cwd=cwd),)
            case "session.compacted":
                return (Compacted(**header.fields()),)
            case "session.deleted":
                return (SessionEnded(**header.fields(), reason="deleted"),)
            case _:
                return ()

    def render(self, payload: Payload, event: Event | None, outcome: Outcome | None) -> Reply:
        answer: dict[str, Any] = {}
        if isinstance(event, ToolCalling) and outcome is not None:
            if outcome.allowed:
                answer["allow"] = True
                if outcome.input is not None:
                    answer["args"] = dict(outcome.input)
            else:
                answer["deny"] = outcome.reason()
        elif isinstance(event, ToolCalled) and outcome is not None and outcome.output is not None:
            answer["output"] = outcome.output
        return Reply(0, json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))

    def refuse(self, payload: Payload, reason: str) -> Reply:
        if payload.get("hook", "tool.execute.before") != "tool.execute.before" or payload.get("tool") in READS:
            return Reply(0, b'{"allow": true}')
        return Reply(0, json.dumps({"deny": reason}, ensure_ascii=False).encode("utf-8", "replace"))


def _call(payload: Payload) -> ToolCall:
    own = str(payload.get("tool") or "")
    arguments = payload.get("args")
    return ToolCall(
        id=str(payload.get("callID") or ""),
        tool=TOOLS.get(own, own),
        host_tool=own,
        input=arguments if isinstance(arguments, Mapping) else {"input": arguments},
        cwd=str(payload.get("cwd") or ""),
    )


def _result(payload: Payload) -> ToolResult:
    output = payload.get("output")
    metadata = payload.get("metadata")
    code = metadata.get("exit") if isinstance(metadata, Mapping) else None
    if isinstance(output, list):
        parts = [str(part.get("text") or "") for part in output if isinstance(part, Mapping)]
        return ToolResult(output="\n".join(parts))
    return ToolResult(output=str(output or ""), exit_code=code if isinstance(code, int) else None)
