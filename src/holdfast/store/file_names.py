"""Ids that other programs chose, as names of files that cannot leave their directory.

Two different ids never share a name, also where the file system folds case.
"""

from __future__ import annotations

import hashlib
import re
import sys

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*\Z")
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_LONGEST = 200
_FOLDS_CASE = sys.platform in ("darwin", "win32")


def file_name(text: str, *, longest: int = _LONGEST, folds_case: bool = _FOLDS_CASE) -> str:
    """`text` itself where it is harmless, otherwise percent-encoded; a long one ends in its hash."""
    if len(text) <= longest and _PLAIN.match(text) and not (folds_case and text != text.lower()):
        return text
    raw = text.encode("utf-8", "surrogatepass")
    parts = []
    for position, byte in enumerate(raw):
        safe = byte in _SAFE and not (position == 0 and byte in b".-")
        if folds_case and 65 <= byte <= 90:
            safe = False
        parts.append(chr(byte) if safe else f"%{byte:02x}")
    name = "".join(parts) or "%"
    if len(name) > longest:
        # `~` is never a plain character here, so a shortened name cannot equal a whole one.
        name = name[: longest - 33] + "~" + hashlib.sha256(raw).hexdigest()[:32]
    return name
