"""JSON as the store writes it: raw UTF-8, quick, and never refusing a value that a host has sent."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

_SURROGATE = re.compile("[\ud800-\udfff]")
_OPTIONS = orjson.OPT_NON_STR_KEYS


def to_json(value: Any) -> str:
    return to_json_bytes(value).decode()


def to_json_bytes(value: Any) -> bytes:
    """`value` as JSON. What JSON cannot hold (half a surrogate pair, an object) is replaced, not refused."""
    try:
        return orjson.dumps(value, default=_plain, option=_OPTIONS)
    except TypeError:
        # Half surrogate pairs and whole numbers beyond 64 bits: rare, so slow is good enough.
        text = json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"))
        return clean_text(text).encode()


def from_json(text: str | bytes) -> Any:
    return orjson.loads(text)


def clean_text(text: str) -> str:
    """Text that UTF-8 can hold: a lone half of a surrogate pair becomes the replacement character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _plain(value: object) -> Any:
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    if hasattr(value, "items"):
        return dict(value.items())
    return str(value)
