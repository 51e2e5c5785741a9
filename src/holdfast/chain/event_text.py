"""The words of a recorded event that a search should find, from the record alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holdfast.records import RECALL_TOOLS


def text_of(kind: str, data: Mapping[str, Any]) -> str:
    """The same words as `records.searchable` finds in the event itself."""
    if kind in ("tool_calling", "tool_called") and str((data.get("call") or {}).get("tool")).endswith(RECALL_TOOLS):
        return ""
    if kind in ("prompt_submitted", "assistant_replied"):
        return str(data.get("text", ""))
    if kind == "tool_calling":
        call = data.get("call") or {}
        return f"{call.get('tool', '')} {json.dumps(call.get('input') or {}, ensure_ascii=False, default=str)}"
    if kind == "tool_called":
        result = data.get("result") or {}
        return str(result.get("output") or result.get("error") or "")
    return str(data.get({"compacted": "summary", "approval_answered": "message"}.get(kind, ""), ""))
