"""Why a call that somebody was asked about did not happen, in words for the agent."""

from __future__ import annotations

from holdfast.core.messages import Message, Phrase

USER_DENIED = Phrase("plane.user_denied", "The user denied this.", "用户拒绝了此操作。")
USER_DENIED_AT = Phrase("plane.user_denied_at", "The user denied this, from {door}.", "用户在 {door} 上拒绝了此操作。")
DENIED_BY = Phrase("plane.denied_by", "{by} denied this.", "{by} 拒绝了此操作。")
EXPIRED = Phrase(
    "plane.expired",
    "Nobody answered in time, so this was denied. Ask the user, or choose another way.",
    "无人及时答复，因此已拒绝。请询问用户，或换一种方式。",
)
CANCELLED = Phrase("plane.cancelled", "The question was cancelled, so this was denied.", "询问已取消，因此已拒绝。")
_ONE_USER = "local"
"""The user of a machine that has only one: no name that anybody gave."""


def refused(status: str, by: str) -> Message:
    """`by` names a person and perhaps a door, as in `local (Chromium on Linux)`."""
    if status == "expired":
        return EXPIRED()
    if status == "cancelled":
        return CANCELLED()
    name, _, door = by.partition(" (")
    if name not in ("", _ONE_USER):
        return DENIED_BY(by=by)
    return USER_DENIED_AT(door=door.removesuffix(")")) if door else USER_DENIED()
