"""OpenCode: what its plugin hands over into events, answers into what the plugin does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.core.events import (
    AssistantReplied,
    Compacted,
    Compacting,
    ContextMeasured,
    Event,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    ToolCall,
    ToolCalled,
    ToolCalling,
    ToolResult,
)
from holdfast.core.host_tools import OPENCODE as TOOLS
from holdfast.core.host_tools import reading
from holdfast.core.messages import Phrase
from holdfast.core.policy import Capabilities
from holdfast.hosts.hook_dialect import text_of
from holdfast.hosts.host import Address, Answer, Header, Memo, Payload, Reply, Standing, TurnMark
from holdfast.hosts.own_tools import neutral

READS = reading(TOOLS)

CAPABILITIES = Capabilities(
    host="opencode",
    abilities={
        "session_started": frozenset({"warn_user"}),
        "prompt_submitted": frozenset({"warn_user"}),
        "tool_calling": frozenset({"block", "rewrite_input", "warn_user"}),
        "tool_called": frozenset({"replace_output", "see_failure", "inject", "warn_user"}),
        "assistant_replied": frozenset({"warn_user"}),
        "context_measured": frozenset({"warn_user"}),
        "compacting": frozenset({"warn_user"}),
        "compacted": frozenset({"inject", "warn_user"}),
        "model_asked": frozenset({"inject"}),
    },
    compaction_signal="yes",
    names_subagents=True,
    notes=(
        Phrase(
            "limits.opencode.plugin",
            "A plugin that fails to load is silently absent, and `--pure` loads none: the doctor "
            "looks for its greeting.",
            "加载失败的插件会无声缺席，`--pure` 则不加载任何插件：诊断会查找它的问候。",
        ),
        Phrase(
            "limits.opencode.typed_commands",
            "Commands that the user types behind `!` reach no hook.",
            "用户在 `!` 之后输入的命令不经过任何钩子。",
        ),
        Phrase(
            "limits.opencode.prompt",
            "A prompt cannot be refused.",
            "用户消息无法拒绝。",
        ),
        Phrase(
            "limits.opencode.compaction",
            "Compaction cannot be refused.",
            "压缩无法拒绝。",
        ),
    ),
)


class OpenCode:
    """A pure translator."""

    name = "opencode"
    capabilities = CAPABILITIES
    says_anew: frozenset[Standing] = frozenset({"memory", "anchors", "bootstrap"})

    def address(self, payload: Payload) -> Address | None:
        session = text_of(payload, "sessionID")
        if not session:
            return None
        return Address(
            session=session,
            cwd=text_of(payload, "cwd"),
            subagent=text_of(payload, "subagent"),
            source="startup" if payload.get("hook") == "session.created" else None,
            model=text_of(payload, "model"),
        )

    def invocation(self, payload: Payload, memo: Memo) -> str:
        return text_of(payload, "messageID")

    def changed_settings(self, payload: Payload) -> str | None:
        return None

    def is_report(self, payload: Payload) -> bool:
        return payload.get("hook") not in ("session.created", "chat.message", "chat.system", "tool.execute.before")

    def turn(self, payload: Payload) -> TurnMark:
        if payload.get("subagent"):
            return ""
        match payload.get("hook"):
            case "chat.message" if payload.get("typed") is not False:
                return "begins"
            case "session.idle":
                return "ends"
            case _:
                return ""

    def parse(self, payload: Payload, header: Header) -> Sequence[Event]:
        match payload.get("hook"):
            case "tool.execute.before":
                return (ToolCalling(**header.fields(), call=_call(payload)),)
            case "tool.execute.after":
                return (ToolCalled(**header.fields(), call=_call(payload), result=_result(payload)),)
            case "tool.failed":
                error = text_of(payload, "error")
                failure = ToolResult(output=error, failed=True, error=error)
                call = _call(payload)
                return (ToolCalled(**header.fields(), call=call, result=failure, hooked=header.was_seen(call.id)),)
            case "chat.message":
                typed = payload.get("typed") is not False
                return (PromptSubmitted(**header.fields(), text=text_of(payload, "text"), typed=typed),)
            case "assistant.text":
                text = text_of(payload, "text")
                return (AssistantReplied(**header.fields(), text=text),) if text.strip() else ()
            case "session.created":
                cwd = text_of(payload, "cwd")
                return (SessionStarted(**header.fields(), source="startup", host=self.name, cwd=cwd),)
            case "compacting":
                return (Compacting(**header.fields()),)
            case "compacted":
                return (Compacted(**header.fields(), summary=text_of(payload, "summary")),)
            case "context.measured":
                return _measured(payload, header)
            case "session.deleted":
                return (SessionEnded(**header.fields(), reason="deleted"),)
            case _:
                return ()

    def standing(self, payload: Payload, memo: Memo) -> Sequence[Standing]:
        match payload.get("hook"):
            case "chat.system" | "tool.execute.after":
                return ("memory", "anchors", "bootstrap")
            case "compacted":
                return ("anchors",)
            case _:
                return ()

    def render(self, payload: Payload, answer: Answer) -> Reply:
        out: dict[str, Any] = {}
        if answer.kind == "tool_calling":
            out = {"allow": True} if answer.allowed else {"deny": answer.reason}
            if answer.allowed and answer.input is not None:
                out["args"] = dict(answer.input)
        elif answer.output is not None:
            out["output"] = answer.output
        context = answer.context
        if answer.standing is not None:
            if payload.get("hook") == "tool.execute.after":
                # A request follows every call: what it has to bring along goes with this answer; nobody asks again.
                out["system"] = answer.standing
            else:
                context = answer.standing
        if context:
            out["context"] = context
        if answer.notice:
            out["notice"] = answer.notice
        return _reply(out)

    def refuse(self, payload: Payload, reason: str) -> Reply:
        if payload.get("hook", "tool.execute.before") != "tool.execute.before" or payload.get("tool") in READS:
            return _reply({"allow": True})
        return _reply({"deny": reason})


def _call(payload: Payload) -> ToolCall:
    own = text_of(payload, "tool")
    arguments = payload.get("args")
    return ToolCall(
        id=text_of(payload, "callID"),
        tool=TOOLS.get(own) or _mcp_name(own, payload.get("servers")),
        host_tool=own,
        input=arguments if isinstance(arguments, Mapping) else {"input": arguments},
        cwd=text_of(payload, "cwd"),
    )


def _mcp_name(own: str, servers: Any) -> str:
    """`server_tool` is an MCP tool only where such a server is configured; otherwise it stays unknown."""
    names = [name for name in servers if isinstance(name, str)] if isinstance(servers, list) else []
    for server in sorted(names, key=len, reverse=True):
        prefix = "".join(char if char.isalnum() or char in "_-" else "_" for char in server) + "_"
        if own.startswith(prefix) and len(own) > len(prefix):
            return neutral(f"mcp__{server}__{own[len(prefix) :]}")
    return own


def _result(payload: Payload) -> ToolResult:
    output = payload.get("output")
    metadata = payload.get("metadata")
    code = metadata.get("exit") if isinstance(metadata, Mapping) else None
    if isinstance(output, list):
        parts = [str(part.get("text") or "") for part in output if isinstance(part, Mapping)]
        return ToolResult(output="\n".join(parts))
    text = output if isinstance(output, str) else ""
    failed = isinstance(code, int) and code != 0
    return ToolResult(
        output=text,
        exit_code=code if isinstance(code, int) else None,
        failed=failed,
        error=text[-2000:] if failed else "",
    )


def _measured(payload: Payload, header: Header) -> Sequence[Event]:
    used = payload.get("used")
    if not isinstance(used, int) or used <= 0:
        return ()
    window, output = payload.get("window"), payload.get("output_limit")
    return (
        ContextMeasured(
            **header.fields(),
            used=used,
            window=window if isinstance(window, int) and window > 0 else None,
            reserve=min(output, 32_000) if isinstance(output, int) and output > 0 else None,
            host="opencode",
            model=text_of(payload, "model"),
        ),
    )


def _reply(answer: Mapping[str, Any]) -> Reply:
    return Reply(0, json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))
