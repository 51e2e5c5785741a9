"""Whether a host's own compaction is let through, or the session is sealed instead (SC9).

A strategy that hands over never lets its session be compacted; a hybrid one lets it so many times. Where the host can
be stopped it is, once: a person who goes on in the same conversation all the same must not be stopped for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.core.events import Compacting
from holdfast.core.messages import Phrase
from holdfast.core.settings import Settings
from holdfast.core.strategy import Who, effective
from holdfast.core.verdict import SealReason

STRATEGY = "session_strategy"
INSTEAD = Phrase(
    "handing_over.instead",
    "[Holdfast] The context is full. This session is sealed instead of being compacted; start a new one ({how}) and it "
    "goes on with a hand-over of this one.",
    "[Holdfast] 上下文已满。本会话将被封存而不是压缩；请开始新会话（{how}），它会带着本会话的交接内容继续。",
)
ENDS_THE_TURN = frozenset({"codex"})
"""Hosts that end the turn when their compaction is refused, and say nothing of it."""
VETOED = "vetoed"
"""Memo: the turn in which a compaction was refused."""
HOW_TO_START: Mapping[str, str] = {"claude-code": "/clear", "codex": "/new", "opencode": "/new", "gemini": "/clear"}


def seals_instead(settings: Settings, host: str, event: Compacting, states: Mapping[str, Any]) -> SealReason | None:
    """The reason to seal when the strategy does not let this compaction happen; None when it does."""
    if event.trigger != "auto" or event.where.subagent:
        return None
    known = states.get(STRATEGY) or {}
    who = Who(host, event.where.agent, str(known.get("model", "")))
    rule = effective(settings, who, known.get("window"), known.get("reserve"))
    if not rule.chain or rule.strategy == "compress":
        return None
    if rule.strategy == "handoff":
        return "threshold"
    return "compressions" if int(known.get("compressions", 0)) >= rule.max_compressions else None
