"""Which version of a file the model has seen: an edit of anything else is refused.

Kept in the session's memory only. After a restart every file counts as unseen, which costs one more `read`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from holdfast.runtime.tool import ToolContext, ToolFailure
from holdfast.runtime.tools.places import Place

_SEEN = "versions.seen"
LARGEST_HASHED = 64 << 20


def version_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def note_seen(context: ToolContext, place: Place, version: str) -> None:
    _seen(context)[str(place.path)] = version


def forget(context: ToolContext, path: Path) -> None:
    _seen(context).pop(str(path), None)


def require_seen(context: ToolContext, place: Place, data: bytes, *, unseen_ok: bool = False) -> None:
    """Refuse to change what the model has not seen as it is now."""
    known = _seen(context).get(str(place.path))
    if known is None:
        if unseen_ok:
            return
        raise ToolFailure(
            f"{place.shown} has not been read in this session, so it is not changed. `read` it first, then repeat."
        )
    if known != version_of(data):
        raise ToolFailure(
            f"{place.shown} has changed since you read it (the user, a command or another agent wrote to it). "
            "`read` it again, then make your change to what is there now."
        )


def _seen(context: ToolContext) -> dict[str, str]:
    seen: dict[str, str] = context.memory.setdefault(_SEEN, {})
    return seen
