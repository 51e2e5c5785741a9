"""A command's reading as the page shows it: why it is not certain, in every language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.shell.unknowns import why_unknown


def reading_data(reading: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What a record or a fresh reading holds, with the reason as a message."""
    if reading is None:
        return None
    why = str(reading.get("unknown_why") or "")
    return {**reading, "unknown_said": why_unknown(why).to_dict()} if why else dict(reading)
