"""`memory_read` and `memory_propose` for hosts that have no named sub-agents of their own (MB10, MB6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.chain.cursors import RecallError
from holdfast.chain.recall_tools import ToolDefinition, checked
from holdfast.control import Control
from holdfast.core.keys import SessionId
from holdfast.core.proposals import Edit, ProposalError
from holdfast.core.summary import cut_to
from holdfast.store.json_text import to_json

MOST_TOKENS = 24_000
"""More than other answers may have: what must be read before work goes on should come whole."""

MEMORY_TOOLS: tuple[ToolDefinition, ...] = (
    ToolDefinition(
        "memory_read",
        "Read the project's memory bank: MEMORY.md, the patterns, and the anchors that must be read after a compaction "
        "or a hand-over. Calling it clears the gates that ask for it.",
        {},
    ),
    ToolDefinition(
        "memory_propose",
        "Propose a change to the memory bank. Nothing is written until the user confirms it (mb:write). Give exactly "
        "one of: content (the whole file), append, or old and new.",
        {
            "file": {"type": "string", "description": "Such as details/progress.md."},
            "why": {"type": "string", "description": "Why it is worth keeping."},
            "content": {"type": "string", "description": "The whole new text."},
            "append": {"type": "string", "description": "Text for its end."},
            "old": {"type": "string", "description": "A passage that stands there exactly once."},
            "new": {"type": "string", "description": "What comes in its place."},
        },
        ("file", "why"),
    ),
)
_BY_NAME = {tool.name: tool for tool in MEMORY_TOOLS}


def memory_answer(
    control: Control, where: SessionId, vault: str, name: str, arguments: Mapping[str, Any], call_id: str = ""
) -> str:
    """Carry out a call; raises `RecallError`, whose message is for the model."""
    given = checked(_BY_NAME[name], arguments)
    if not vault:
        raise RecallError("there is no project here, so there is no memory bank")
    try:
        if name == "memory_read":
            gate: Any = control.store.state(where).data.get("recovery_gate", {})
            anchors = [str(path) for path in (*gate.get("unread", ()), *gate.get("anchors", ()))]
            text = control.memory_bank.read(vault, anchors)
            cut = cut_to(text, MOST_TOKENS)
            return text if cut == text else f"{cut}\n[cut: read the rest with your own tools]"
        made = control.memory_bank.propose(
            where, vault, path=given["file"], edit=Edit.of(given), why=given["why"], call_id=call_id
        )
        diff = control.memory_bank.diff(made)
    except (ProposalError, OSError) as error:
        raise RecallError(str(error)) from None
    said = "Nothing is written yet. Show this to the user; they confirm with mb:write or skip with mb:no."
    return to_json({"proposal": made.id, "path": made.path, "diff": diff, "next": said})
