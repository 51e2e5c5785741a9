"""Claude Code: its hook payloads into events, answers into its hook outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.core.events import Event, ToolCalled, ToolResult
from holdfast.core.host_tools import CLAUDE_CODE as TOOLS
from holdfast.core.host_tools import reading
from holdfast.core.messages import Phrase
from holdfast.core.policy import Capabilities
from holdfast.hosts import hook_dialect as dialect
from holdfast.hosts.hook_dialect import text_of
from holdfast.hosts.host import Address, Answer, Header, Memo, Payload, Reply, Standing, TurnMark

READS = reading(TOOLS)

CAPABILITIES = Capabilities(
    host="claude-code",
    abilities={
        "session_started": frozenset({"inject", "warn_user"}),
        "prompt_submitted": frozenset({"block", "inject", "warn_user"}),
        "tool_calling": frozenset({"block", "ask", "rewrite_input", "inject", "warn_user"}),
        "tool_called": frozenset({"replace_output", "inject", "see_failure", "warn_user"}),
        "assistant_replied": frozenset({"warn_user"}),
        "compacting": frozenset({"veto_compaction", "block", "warn_user"}),
        "compacted": frozenset({"warn_user"}),
        "context_measured": frozenset({"warn_user"}),
    },
    compaction_signal="yes",
    names_subagents=True,
    inject_limit=9_000,
    notes=(
        Phrase(
            "limits.claude_code.failed_output",
            "The output of a failed command cannot be replaced.",
            "失败命令的输出无法替换。",
        ),
        Phrase(
            "limits.claude_code.own_question",
            "A question is shown by the host itself in the terminal; without one the hook waits for the inbox.",
            "在终端中由宿主自己显示询问；没有终端时，钩子等待收件箱的答复。",
        ),
        Phrase(
            "limits.claude_code.invalid_calls",
            "Schema-invalid and unknown calls reach no hook before they fail; they are counted from PostToolBatch.",
            "不合规范或未知的调用在失败之前不会到达任何钩子；它们从 PostToolBatch 计入。",
        ),
        Phrase(
            "limits.claude_code.disable_all_hooks",
            "`disableAllHooks` in a settings file switches every hook off; such writes are denied and the "
            "doctor looks.",
            "设置文件中的 `disableAllHooks` 会关闭所有钩子；此类写入会被拒绝，诊断也会检查。",
        ),
    ),
)

_EXIT_CODE = re.compile(r"Exit code (\d+)")


class ClaudeCode:
    """A pure translator."""

    name = "claude-code"
    capabilities = CAPABILITIES
    says_anew: frozenset[Standing] = frozenset()

    def address(self, payload: Payload) -> Address | None:
        return dialect.address_of(payload)

    def invocation(self, payload: Payload, memo: Memo) -> str:
        return text_of(payload, "prompt_id")

    def changed_settings(self, payload: Payload) -> str | None:
        return text_of(payload, "file_path") or None if payload.get("hook_event_name") == "ConfigChange" else None

    def is_report(self, payload: Payload) -> bool:
        return dialect.is_report(payload)

    def turn(self, payload: Payload) -> TurnMark:
        return dialect.turn_of(payload)

    def parse(self, payload: Payload, header: Header) -> Sequence[Event]:
        match payload.get("hook_event_name"):
            case "PreToolUse":
                return (dialect.calling(payload, header, TOOLS),)
            case "PostToolUse":
                result = result_of(payload.get("tool_response"), payload.get("duration_ms"))
                return (dialect.called(payload, header, TOOLS, result),)
            case "PostToolUseFailure":
                return (dialect.called(payload, header, TOOLS, _failure(text_of(payload, "error"))),)
            case "PostToolBatch":
                return tuple(_unhooked(payload, header))
            case "SubagentStop" if not payload.get("agent_type"):
                return ()  # the summariser of a compaction; PostCompact tells the same
            case _:
                return dialect.common_events(payload, header, self.name)

    def standing(self, payload: Payload, memo: Memo) -> Sequence[Standing]:
        return ()

    def render(self, payload: Payload, answer: Answer) -> Reply:
        name = text_of(payload, "hook_event_name")
        out: dict[str, Any] = {}
        specific: dict[str, Any] = {}
        if answer.kind == "tool_calling":
            specific = _before(answer)
        elif answer.output is not None and name == "PostToolUse":
            specific["updatedToolOutput"] = in_shape(payload.get("tool_response"), answer.output)
        elif not answer.allowed:
            out.update(decision="block", reason=answer.reason)
        if answer.context and name in _CONTEXT_EVENTS:
            specific["additionalContext"] = answer.context
        if specific:
            out["hookSpecificOutput"] = {"hookEventName": name, **specific}
        if answer.notice:
            out["systemMessage"] = answer.notice
        # Any answer, even an empty object, is kept in its transcript and carried through every later request.
        return dialect.reply(out) if out else Reply()

    def refuse(self, payload: Payload, reason: str) -> Reply:
        kind = payload.get("hook_event_name")
        if kind not in (None, "PreToolUse") or payload.get("tool_name") in READS:
            return dialect.reply({})
        return dialect.reply({"hookSpecificOutput": dialect.decision("deny", reason)})


_CONTEXT_EVENTS = frozenset(
    ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch")
)


def _before(answer: Answer) -> dict[str, Any]:
    if answer.ask:
        return {"permissionDecision": "ask", "permissionDecisionReason": answer.reason}
    if not answer.allowed:
        return {"permissionDecision": "deny", "permissionDecisionReason": answer.reason}
    specific: dict[str, Any] = {"permissionDecision": "allow"}
    if answer.input is not None:
        specific["updatedInput"] = dict(answer.input)
    return specific


def _unhooked(payload: Payload, header: Header) -> list[Event]:
    """The calls of a batch that no other hook told us about: they failed before any hook ran (DL3)."""
    calls = payload.get("tool_calls")
    found: list[Event] = []
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, Mapping) or header.was_seen(text_of(call, "tool_use_id")):
            continue
        error = _as_text(call.get("tool_response")) or "failed before any hook"
        made = dialect.call_of(call, TOOLS, cwd=text_of(payload, "cwd"))
        found.append(ToolCalled(**header.fields(), call=made, result=_failure(error), hooked=False))
    return found


def _failure(error: str) -> ToolResult:
    code = _EXIT_CODE.match(error)
    return ToolResult(output=error, failed=True, error=error, exit_code=int(code[1]) if code else None)


def result_of(response: Any, duration: Any = None) -> ToolResult:
    took = float(duration) if isinstance(duration, int | float) else None
    if isinstance(response, Mapping) and "stdout" in response:
        parts = (str(response.get("stdout") or ""), str(response.get("stderr") or ""))
        return ToolResult(output="\n".join(part for part in parts if part), exit_code=0, duration_ms=took)
    if isinstance(response, Mapping) and isinstance(response.get("file"), Mapping):
        return ToolResult(output=str(response["file"].get("content") or ""), duration_ms=took)
    structured = not isinstance(response, str) and not _blocks(response)
    return ToolResult(output=_as_text(response), structured=structured, duration_ms=took)


def in_shape(response: Any, text: str) -> Any:
    """A replaced output counts only in the tool's own shape; anything else is silently ignored by the host."""
    if isinstance(response, Mapping) and "stdout" in response:
        return {**response, "stdout": text, "stderr": ""}
    if isinstance(response, Mapping) and isinstance(response.get("file"), Mapping):
        return {**response, "file": {**response["file"], "content": text}}
    if _blocks(response):
        return [{"type": "text", "text": text}]
    return text


def _blocks(response: Any) -> bool:
    """Content blocks of an MCP tool, all of them text."""
    return (
        isinstance(response, list)
        and bool(response)
        and all(isinstance(block, Mapping) and block.get("type") == "text" for block in response)
    )


def _as_text(response: Any) -> str:
    if isinstance(response, str):
        return response
    if _blocks(response):
        return "\n".join(str(block.get("text") or "") for block in response)
    return "" if response is None else json.dumps(response, ensure_ascii=False, indent=2, default=str)
