"""Where a page ends: a place that only fits what it was given out for, so that a wrong one is noticed."""

from __future__ import annotations

import hashlib
import re

from holdfast.core.messages import Phrase, TellableError

_NOT_OURS = Phrase(
    "cursor.not_ours",
    "cursor {cursor} is not of this session and view; take nextCursor of the page before, or none",
    "游标 {cursor} 不属于此会话和视图；请用上一页的 nextCursor，或不给游标",
)
_CURSOR = re.compile(r"(\d{1,12})-([0-9a-f]{12})\Z")


class RecallError(TellableError):
    """What was asked for cannot be; the message says what can."""


def encode_cursor(no: int, session: str, view: str) -> str:
    return f"{no}-{_check(no, session, view)}"


def decode_cursor(cursor: str | None, session: str, view: str) -> int:
    """The number of the last event that was shown; 0 without a cursor. Raises `RecallError`."""
    if cursor is None:
        return 0
    match = _CURSOR.match(cursor) if isinstance(cursor, str) else None
    if match is None or match[2] != _check(int(match[1]), session, view):
        raise RecallError(_NOT_OURS(cursor=repr(cursor)))
    return int(match[1])


def _check(no: int, session: str, view: str) -> str:
    return hashlib.sha256(f"{no}\n{session}\n{view}".encode()).hexdigest()[:12]
