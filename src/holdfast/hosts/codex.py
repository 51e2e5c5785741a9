"""Codex: its hook payloads into events, answers into its hook outputs.

Codex runs the tool whenever a hook's answer is not exactly what it expects: a bare `allow`, an `ask`, an unknown field
and an exit code of 1 all fail open. So an allowed call is answered by nothing at all, and only known fields are sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.core.events import Event, ToolResult
from holdfast.core.host_tools import CODEX as TOOLS
from holdfast.core.host_tools import reading
from holdfast.core.messages import Phrase
from holdfast.core.policy import Capabilities
from holdfast.hosts import hook_dialect as dialect
from holdfast.hosts.hook_dialect import text_of
from holdfast.hosts.host import Address, Answer, Header, Memo, Payload, Reply, Standing, TurnMark

READS = reading(TOOLS)

CAPABILITIES = Capabilities(
    host="codex",
    abilities={
        "session_started": frozenset({"inject", "warn_user"}),
        "prompt_submitted": frozenset({"block", "inject", "warn_user"}),
        "tool_calling": frozenset({"block", "rewrite_input", "inject", "warn_user"}),
        "tool_called": frozenset({"replace_output", "inject", "warn_user"}),
        "assistant_replied": frozenset({"warn_user"}),
        "compacting": frozenset({"veto_compaction", "block", "warn_user"}),
        "compacted": frozenset({"warn_user"}),
    },
    compaction_signal="yes",
    names_subagents=True,
    inject_limit=9_000,
    notes=(
        Phrase(
            "limits.codex.trust",
            "An untrusted hook is skipped without a word; `holdfast attach` writes the trust and the doctor checks it.",
            "未受信任的钩子会被无声跳过；`holdfast attach` 会写入信任，诊断会检查。",
        ),
        Phrase(
            "limits.codex.write_stdin",
            "`write_stdin` reaches no hook: typing into a running terminal is closed by `unified_exec_tty = false`.",
            "`write_stdin` 不经过任何钩子：向运行中的终端输入已由 `unified_exec_tty = false` 关闭。",
        ),
        Phrase(
            "limits.codex.unknown_tools",
            "Unknown tools and the model provider's own web search reach no hook.",
            "未知工具和模型服务商自带的网络搜索不经过任何钩子。",
        ),
        Phrase(
            "limits.codex.shell_patch",
            "A patch that is applied through the shell gets no hook after it has run.",
            "通过 shell 应用的补丁在运行之后没有钩子。",
        ),
        Phrase(
            "limits.codex.cut_outputs",
            "Outputs are cut to about 10,000 tokens before any hook sees them, and no exit code is told.",
            "输出在任何钩子看到之前就被截到约 10,000 个令牌，且不告知退出码。",
        ),
    ),
)


class Codex:
    """A pure translator."""

    name = "codex"
    capabilities = CAPABILITIES
    says_anew: frozenset[Standing] = frozenset()

    def address(self, payload: Payload) -> Address | None:
        return dialect.address_of(payload)

    def invocation(self, payload: Payload, memo: Memo) -> str:
        return text_of(payload, "turn_id")

    def changed_settings(self, payload: Payload) -> str | None:
        return None

    def is_report(self, payload: Payload) -> bool:
        return dialect.is_report(payload)

    def turn(self, payload: Payload) -> TurnMark:
        return dialect.turn_of(payload)

    def parse(self, payload: Payload, header: Header) -> Sequence[Event]:
        match payload.get("hook_event_name"):
            case "PreToolUse":
                return (dialect.calling(payload, header, TOOLS),)
            case "PostToolUse":
                return (dialect.called(payload, header, TOOLS, _result(payload.get("tool_response"))),)
            case _:
                return dialect.common_events(payload, header, self.name)

    def standing(self, payload: Payload, memo: Memo) -> Sequence[Standing]:
        return ()

    def render(self, payload: Payload, answer: Answer) -> Reply:
        name = text_of(payload, "hook_event_name")
        out: dict[str, Any] = {}
        specific: dict[str, Any] = {}
        if answer.kind == "tool_calling":
            if not answer.allowed:
                specific = {"permissionDecision": "deny", "permissionDecisionReason": answer.reason}
            elif answer.input is not None:
                specific = {"permissionDecision": "allow", "updatedInput": dict(answer.input)}
        elif answer.kind == "compacting":
            if not answer.allowed:
                out.update({"continue": False, "stopReason": answer.reason})
        elif answer.output is not None:
            out.update(decision="block", reason=answer.output)
        elif not answer.allowed:
            out.update(decision="block", reason=answer.reason)
        if answer.context and name in _CONTEXT_EVENTS:
            specific["additionalContext"] = answer.context
        if specific:
            out["hookSpecificOutput"] = {"hookEventName": name, **specific}
        if answer.notice:
            out["systemMessage"] = answer.notice
        return dialect.reply(out)

    def refuse(self, payload: Payload, reason: str) -> Reply:
        kind = payload.get("hook_event_name")
        if kind not in (None, "PreToolUse", "PermissionRequest") or payload.get("tool_name") in READS:
            return dialect.reply({})
        return Reply(2, err=reason.encode("utf-8", "replace"))


_CONTEXT_EVENTS = frozenset(("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"))


def _result(response: Any) -> ToolResult:
    if isinstance(response, str):
        return ToolResult(output=response)
    if isinstance(response, Mapping) and isinstance(response.get("content"), list):
        parts = [str(part.get("text") or "") for part in response["content"] if isinstance(part, Mapping)]
        failed = response.get("isError") is True or response.get("is_error") is True
        text = "\n".join(parts)
        return ToolResult(output=text, failed=failed, error=text if failed else "")
    return ToolResult(output=json.dumps(response, ensure_ascii=False, indent=2, default=str), structured=True)
