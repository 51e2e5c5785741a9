"""The texts that hold at this moment: the memory bank and, while a recovery is due, the anchors (MB1, MB8).

For hosts that put injected text into a single request only: there it has to be said again each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.chain.bootstrap import OPEN_TAG, Packet
from holdfast.core.memory import ANCHORS_OPEN, MEMORY_OPEN, MemoryFacts, anchor_block, existing, injection
from holdfast.hosts.host import Standing

RECOVERY = "recovery_gate"
"""Whose state says which anchors are still unread."""


SENTINELS: Mapping[str, Standing] = {MEMORY_OPEN: "memory", ANCHORS_OPEN: "anchors", OPEN_TAG: "bootstrap"}
"""How an injected text is known as one of these."""


def standing_texts(
    wanted: Sequence[Standing], facts: MemoryFacts | None, states: Mapping[str, Any], packet: Packet | None = None
) -> list[str]:
    """What is wanted and still holds."""
    texts: list[str] = []
    recovery = states.get(RECOVERY) or {}
    if "anchors" in wanted and recovery.get("unread"):
        paths = existing(recovery.get("all", ()), facts)
        if paths:
            texts.append(anchor_block(paths, facts, int(recovery.get("compactions", 0))))
    if "bootstrap" in wanted and packet is not None:
        texts.append(packet.text)
    if "memory" in wanted and (memory := injection(facts)):
        texts.append(memory)
    return texts
