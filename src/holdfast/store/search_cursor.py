"""Where the next page begins.

A page is never found again by its rank: ranks move while events are added and the index is merged. A cursor therefore
names the hits of the ranked beginning, and from there on a place in the store's own order, which never changes. So
paging gives every hit once, whatever happens to the index meanwhile. Whoever makes one up sees nothing more by it:
each hit is held against scope and filters again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.core.messages import Phrase
from holdfast.store.json_text import to_json_bytes
from holdfast.store.search_query import SearchError

_NO_CURSOR = Phrase(
    "search.no_cursor",
    "{text} is no cursor: give the one of the last page as it was, or none",
    "{text} 不是游标：请原样给出上一页的游标，或不给",
)
_OTHER_SEARCH = Phrase(
    "search.other_search",
    "this cursor belongs to another search: repeat its query and filters, or leave it out",
    "此游标属于另一次搜索：请重复其查询和筛选，或不给游标",
)

Mode = Literal["all", "any"]
_MODES: tuple[Mode, ...] = ("all", "any")
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Cursor:
    mode: Mode
    before: int
    """Newest first from below this number, once nothing is pending; 0 when nothing follows the ranked hits."""
    pending: tuple[int, ...] = ()
    """Ranked hits that were not shown yet, in their order."""
    shown: tuple[int, ...] = ()
    """Ranked hits, pending or not, which must not come again."""


def fingerprint(query: str, identity: Any) -> bytes:
    """Tells one search from another: a cursor is good for the one that gave it."""
    return hashlib.blake2b(to_json_bytes([query, identity]), digest_size=6).digest()


def encode(cursor: Cursor, search: bytes) -> str:
    data = bytearray([_VERSION, _MODES.index(cursor.mode)])
    data += search
    for number in (cursor.before, len(cursor.pending), *cursor.pending, *_gaps(cursor.shown)):
        _put(data, number)
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str, search: bytes) -> Cursor:
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        if data[0] != _VERSION:
            raise ValueError
        mode = _MODES[data[1]]
        numbers = _numbers(data[2 + len(search) :])
        before, count = numbers[0], numbers[1]
        pending, gaps = numbers[2 : 2 + count], numbers[2 + count :]
        if len(pending) != count:
            raise ValueError
    except (binascii.Error, ValueError, IndexError):
        raise SearchError(_NO_CURSOR(text=repr(text))) from None
    if data[2 : 2 + len(search)] != search:
        raise SearchError(_OTHER_SEARCH())
    return Cursor(mode, before, tuple(pending), tuple(_sums(gaps)))


def _gaps(numbers: Iterable[int]) -> Iterable[int]:
    last = 0
    for number in sorted(numbers):
        yield number - last
        last = number


def _sums(gaps: Iterable[int]) -> Iterable[int]:
    total = 0
    for gap in gaps:
        total += gap
        yield total


def _put(data: bytearray, number: int) -> None:
    """Seven bits a byte, the lowest first; the eighth says that more follow."""
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)


def _numbers(data: bytes) -> list[int]:
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value, shift = 0, 0
        elif shift > 63:
            raise ValueError
    if shift:
        raise ValueError
    return numbers
