"""Gemini CLI: its hook payloads into events, answers into its hook outputs.

It gives calls no ids and turns no ids, and tells of no compaction. The first two are made here and remembered; the last
is concluded from a snapshot that newly stands at the head of what the model is sent. `ask` is never answered: without a
terminal it hangs for good.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.core.events import (
    AssistantReplied,
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
from holdfast.core.host_tools import GEMINI as TOOLS
from holdfast.core.host_tools import reading
from holdfast.core.messages import Phrase
from holdfast.core.policy import Capabilities
from holdfast.hosts.hook_dialect import reply, source_of, text_of
from holdfast.hosts.host import Address, Answer, Header, Memo, Payload, Reply, Standing, TurnMark
from holdfast.hosts.own_tools import neutral

READS = reading(TOOLS)

CAPABILITIES = Capabilities(
    host="gemini",
    abilities={
        "session_started": frozenset({"inject", "warn_user"}),
        "prompt_submitted": frozenset({"block", "inject", "warn_user"}),
        "tool_calling": frozenset({"block", "rewrite_input", "warn_user"}),
        "tool_called": frozenset({"replace_output", "inject", "see_failure", "warn_user"}),
        "assistant_replied": frozenset({"warn_user"}),
        "compacted": frozenset({"inject"}),
        "model_asked": frozenset({"inject"}),
    },
    compaction_signal="inferred",
    names_subagents=False,
    inject_limit=20_000,
    notes=(
        Phrase(
            "limits.gemini.compression",
            "Compression cannot be refused, and is concluded from what the model is sent.",
            "压缩无法拒绝，只能从发送给模型的内容推断。",
        ),
        Phrase(
            "limits.gemini.subagents",
            "Sub-agents' calls are judged like the main agent's, for they are not told apart.",
            "子智能体的调用与主智能体同样判断，因为无法区分。",
        ),
        Phrase(
            "limits.gemini.unknown_tools",
            "Unknown tools reach no hook.",
            "未知工具不经过任何钩子。",
        ),
        Phrase(
            "limits.gemini.replaced_output",
            "A replaced output reaches the model as an error.",
            "被替换的输出会作为错误送达模型。",
        ),
    ),
)

_HOOK_CONTEXT = re.compile(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.S)
_SNAPSHOT = re.compile(r"(?:\A|</session_context>)\s*(<state_snapshot>.*?</state_snapshot>)", re.S)
_EXIT_CODE = re.compile(r"^Exit Code: (\d+)", re.M)


class Gemini:
    """A pure translator, apart from what it must remember in a memo."""

    name = "gemini"
    capabilities = CAPABILITIES
    says_anew: frozenset[Standing] = frozenset()

    def address(self, payload: Payload) -> Address | None:
        session = text_of(payload, "session_id")
        if not session or payload.get("hook_event_name") == "PreCompress":
            return None
        return Address(
            session=session,
            cwd=text_of(payload, "cwd"),
            source=source_of(payload) if payload.get("hook_event_name") == "SessionStart" else None,
            transcript=text_of(payload, "transcript_path"),
            model=_model(payload),
        )

    def invocation(self, payload: Payload, memo: Memo) -> str:
        """From BeforeAgent to AfterAgent; the moment it began is its name."""
        if payload.get("hook_event_name") == "BeforeAgent":
            memo.put("turn", f"turn-{text_of(payload, 'timestamp')}")
        return str(memo.get("turn") or "")

    def changed_settings(self, payload: Payload) -> str | None:
        return None

    def is_report(self, payload: Payload) -> bool:
        return payload.get("hook_event_name") not in ("SessionStart", "BeforeAgent", "BeforeModel", "BeforeTool")

    def turn(self, payload: Payload) -> TurnMark:
        match payload.get("hook_event_name"):
            case "BeforeAgent":
                return "begins"
            case "AfterAgent":
                return "ends"
            case _:
                return ""

    def parse(self, payload: Payload, header: Header) -> Sequence[Event]:
        match payload.get("hook_event_name"):
            case "BeforeTool":
                tool, arguments = text_of(payload, "tool_name"), _arguments(payload)
                call = _call(payload, header.calls.calling(tool, arguments))
                return (ToolCalling(**header.fields(), call=call),)
            case "AfterTool":
                tool, arguments = text_of(payload, "tool_name"), _arguments(payload)
                call = _call(payload, header.calls.called(tool, arguments))
                return (ToolCalled(**header.fields(), call=call, result=_result(payload.get("tool_response"))),)
            case "BeforeAgent":
                return (PromptSubmitted(**header.fields(), text=_HOOK_CONTEXT.sub("", text_of(payload, "prompt"))),)
            case "AfterAgent":
                text = text_of(payload, "prompt_response").strip()
                return (AssistantReplied(**header.fields(), text=text),) if text else ()
            case "BeforeModel":
                return _compression(payload, header)
            case "SessionStart":
                cwd = text_of(payload, "cwd")
                source = source_of(payload)
                return (SessionStarted(**header.fields(), source=source, host=self.name, cwd=cwd),)
            case "SessionEnd":
                return (SessionEnded(**header.fields(), reason=text_of(payload, "reason")),)
            case _:
                return ()

    def standing(self, payload: Payload, memo: Memo) -> Sequence[Standing]:
        compressed = payload.get("hook_event_name") == "BeforeModel" and memo.get("snapshot") is not None
        return ("memory", "anchors") if compressed and is_main_agent(payload) else ()

    def render(self, payload: Payload, answer: Answer) -> Reply:
        name = text_of(payload, "hook_event_name")
        out: dict[str, Any] = {}
        specific: dict[str, Any] = {}
        if not answer.allowed:
            out.update(decision="deny", reason=answer.reason)
        elif answer.output is not None and name == "AfterTool":
            out.update(decision="deny", reason=answer.output)
        elif answer.input is not None and name == "BeforeTool":
            specific["tool_input"] = dict(answer.input)
        request = answer.context if answer.standing is None else answer.standing
        if request and name == "BeforeModel":
            messages = [*_messages(payload), {"role": "user", "content": request}]
            specific["llm_request"] = {"messages": messages}
        elif answer.context and name in _CONTEXT_EVENTS:
            specific["additionalContext"] = answer.context
        if specific:
            out["hookSpecificOutput"] = {"hookEventName": name, **specific}
        if answer.notice:
            out["systemMessage"] = answer.notice
        return reply(out)

    def refuse(self, payload: Payload, reason: str) -> Reply:
        kind = payload.get("hook_event_name")
        if kind not in (None, "BeforeTool") or payload.get("tool_name") in READS:
            return reply({})
        return reply({"decision": "deny", "reason": reason})


_CONTEXT_EVENTS = frozenset(("SessionStart", "BeforeAgent", "AfterTool"))


def _arguments(payload: Payload) -> Payload:
    given = payload.get("tool_input")
    return given if isinstance(given, Mapping) else {"input": given}


def _call(payload: Payload, call_id: str) -> ToolCall:
    own = text_of(payload, "tool_name")
    mcp = payload.get("mcp_context")
    server = f"mcp__{mcp.get('server_name')}__{mcp.get('tool_name')}" if isinstance(mcp, Mapping) else ""
    tool = neutral(server) if server else TOOLS.get(own, own)
    return ToolCall(id=call_id, tool=tool, host_tool=own, input=_arguments(payload), cwd=text_of(payload, "cwd"))


def _result(response: Any) -> ToolResult:
    if not isinstance(response, Mapping):
        return ToolResult(output="" if response is None else str(response))
    text = _content(response.get("llmContent"))
    error = response.get("error")
    if error:
        message = error.get("message") if isinstance(error, Mapping) else error
        return ToolResult(output=text, failed=True, error=str(message or text))
    code = _EXIT_CODE.search(text)
    number = int(code[1]) if code else None
    return ToolResult(output=text, exit_code=number, failed=bool(number), error=text[-2000:] if number else "")


def _content(content: Any) -> str:
    if isinstance(content, str):
        return _unwrapped(content)
    if isinstance(content, list):
        parts = [str(part.get("text") or "") if isinstance(part, Mapping) else str(part) for part in content]
        return _unwrapped("\n".join(part for part in parts if part))
    if isinstance(content, Mapping) and isinstance(content.get("text"), str):
        return _unwrapped(str(content["text"]))
    return "" if content is None else json.dumps(content, ensure_ascii=False, indent=2, default=str)


def _unwrapped(text: str) -> str:
    """Without the wrapping, and without the process number that makes equal outputs look different."""
    inner = re.fullmatch(r"<untrusted_context>\n(.*)\n</untrusted_context>", text, re.S)
    return re.sub(r"\nProcess Group PGID: \d+\Z", "", inner[1] if inner else text)


def _messages(payload: Payload) -> list[Any]:
    request = payload.get("llm_request")
    messages = request.get("messages") if isinstance(request, Mapping) else None
    return list(messages) if isinstance(messages, list) else []


def _model(payload: Payload) -> str:
    request = payload.get("llm_request")
    return text_of(request, "model") if isinstance(request, Mapping) else ""


def is_main_agent(payload: Payload) -> bool:
    """A sub-agent's request shares the session, but not the opening words of its conversation."""
    messages = _messages(payload)
    return bool(messages) and str(messages[0].get("content", "")).startswith("<session_context>")


def _compression(payload: Payload, header: Header) -> Sequence[Event]:
    """A snapshot that was not there before, at the head of the main conversation."""
    if not is_main_agent(payload):
        return ()
    found = _SNAPSHOT.search(str(_messages(payload)[0].get("content", "")))
    if found is None:
        return ()
    mark = hashlib.sha256(found[1].encode("utf-8", "surrogatepass")).hexdigest()[:16]
    if header.memo.get("snapshot") == mark:
        return ()
    header.memo.put("snapshot", mark)
    return (Compacted(**header.fields(), summary=html.unescape(found[1]), inferred=True),)
