"""The memory bank's two tools in the own runtime: reading it, and proposing a change that only the user can confirm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.control import Control
from holdfast.core.proposals import Edit, ProposalError
from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput

PROPOSED = (
    "The user sees this proposal and confirms it with mb:write (or: yes, ok, 好, 写, 确认) or skips it with mb:no in "
    "their next message. Do not write the file yourself."
)


def memory_tools(control: Control) -> tuple[Tool, ...]:
    """`memory_read` and `memory_propose` over one open control."""

    async def read(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
        state = control.store.state(context.where).data.get("recovery_gate", {})
        anchors = [*state.get("all", ()), *state.get("anchors", ())]
        return ToolOutput(control.memory_bank.read(str(context.vault), anchors))

    async def propose(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
        bank = control.memory_bank
        try:
            proposal = bank.propose(
                context.where,
                str(context.vault),
                path=str(given.get("file", "")),
                edit=Edit.of(given),
                why=str(given.get("why", "")),
                call_id=context.call_id,
            )
        except ProposalError as error:
            raise ToolFailure(str(error)) from error
        diff = bank.diff(proposal)
        return ToolOutput(
            f"{PROPOSED}\n\n{diff}",
            display={"diff": diff, "proposal": proposal.id, "path": proposal.path, "why": proposal.why},
        )

    text = {"type": "string"}
    return (
        Tool(
            "memory_read",
            "Read the project's memory bank: MEMORY.md, the patterns and the documents this session works from. "
            "Use it after a compaction, and whenever you are not sure what was decided.",
            {"type": "object", "properties": {}, "additionalProperties": False},
            read,
        ),
        Tool(
            "memory_propose",
            "Propose a change to a Markdown file of the memory bank. Give `file` (such as details/progress.md), `why`, "
            "and exactly one of: `content` (the whole new text), `append`, or `old` with `new`.",
            {
                "type": "object",
                "properties": {"file": text, "why": text, "content": text, "append": text, "old": text, "new": text},
                "required": ["file", "why"],
                "additionalProperties": False,
            },
            propose,
        ),
    )
