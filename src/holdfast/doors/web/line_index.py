"""Lines of a large file by their number: how many line feeds lie before each block, counted as far as needed.

A hundred megabytes are counted in a tenth of a second and then known; a file of many gigabytes is counted piece by
piece, so that no request waits long.
"""

from __future__ import annotations

import os
import threading
import time
from array import array
from bisect import bisect_left
from dataclasses import dataclass

BLOCK = 1 << 16
MOST_LINE = 10_000
MOST_BYTES = 1 << 20
_WINDOW = 4 << 20
_SNIPPET = 160


@dataclass(frozen=True, slots=True)
class Lines:
    lines: list[str]
    cut: list[int]
    """Numbers of lines that are longer than what is given of them."""


@dataclass(frozen=True, slots=True)
class Match:
    line: int
    column: int
    length: int
    text: str


class LineIndex:
    """Of one file as it was when it was opened; `size` bytes of it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._before = array("Q", [0])
        """Line feeds before each block that was counted, and behind the last."""
        self._ends_open = False
        self._lock = threading.Lock()

    @property
    def complete(self) -> bool:
        return self._is_complete()

    def _is_complete(self) -> bool:
        return (len(self._before) - 1) * BLOCK >= self.size

    @property
    def total(self) -> int:
        """Lines counted so far."""
        return self._before[-1] + (1 if self.complete and self._ends_open else 0)

    def extend(self, descriptor: int, *, seconds: float, line: int | None = None, until: int | None = None) -> None:
        """Count on until the time is up, the end, or the beginning of `line` or the offset `until` is known."""
        end = time.monotonic() + seconds

        def is_enough() -> bool:
            reached = line is not None and self._before[-1] >= line
            return reached or (until is not None and (len(self._before) - 1) * BLOCK > until)

        with self._lock:
            while not self._is_complete() and time.monotonic() < end and not is_enough():
                for _ in range(64):
                    block = os.pread(descriptor, BLOCK, (len(self._before) - 1) * BLOCK)
                    self._before.append(self._before[-1] + block.count(b"\n"))
                    if self._is_complete():
                        last = os.pread(descriptor, 1, self.size - 1) if self.size else b""
                        self._ends_open = last not in (b"", b"\n")
                        break

    def offset(self, descriptor: int, line: int) -> int | None:
        """Where a line begins; None when it is beyond what was counted."""
        if line == 0:
            return 0
        if line > self._before[-1]:
            return None
        block = bisect_left(self._before, line) - 1  # the block that holds the line feed before it
        found = os.pread(descriptor, BLOCK, block * BLOCK)
        at = -1
        for _ in range(line - self._before[block]):
            at = found.find(b"\n", at + 1)
            if at < 0:
                return None  # the file is no longer what was counted
        return block * BLOCK + at + 1

    def line_of(self, descriptor: int, offset: int) -> int:
        """The number of the line that holds a place which was counted."""
        block = offset // BLOCK
        head = os.pread(descriptor, offset - block * BLOCK, block * BLOCK)
        return self._before[block] + head.count(b"\n")

    def read(self, descriptor: int, first: int, count: int) -> Lines:
        """Some lines; fewer than asked for when they are long."""
        found = Lines([], [])
        size = 0
        at = self.offset(descriptor, first)
        while at is not None and at < self.size and len(found.lines) < count and size < MOST_BYTES:
            block = os.pread(descriptor, min(BLOCK * 4, self.size - at), at)
            ended = at + len(block) >= self.size
            parts = block.split(b"\n")
            rest = parts.pop()
            if ended and rest:
                parts.append(rest)
            for part in parts[: count - len(found.lines)]:
                self._add(found, first, part)
                size += min(len(part), 4 * MOST_LINE)
            if len(found.lines) >= count or ended:
                break
            if parts:
                at += len(block) - len(rest)
                continue
            self._add(found, first, rest)  # one line fills all that was read: on to the next one
            size += MOST_LINE
            self.extend(descriptor, seconds=1.0, line=first + len(found.lines))
            at = self.offset(descriptor, first + len(found.lines))
        return found

    def _add(self, found: Lines, first: int, raw: bytes) -> None:
        text = raw[: 4 * MOST_LINE].decode("utf-8", "replace").removesuffix("\r")
        if len(raw) > 4 * MOST_LINE or len(text) > MOST_LINE:
            found.cut.append(first + len(found.lines))
        found.lines.append(text[:MOST_LINE])

    def find(
        self, descriptor: int, wanted: str, first: int, *, most: int, seconds: float
    ) -> tuple[list[Match], int | None]:
        """Lines that hold the words, without regard to case, and the line to go on from; None at the end."""
        end = time.monotonic() + seconds
        needle = wanted.encode().lower()  # folds ASCII only, and many times quicker than an expression would
        at = self.offset(descriptor, first)
        found: list[Match] = []
        while at is not None and at < self.size:
            self.extend(descriptor, seconds=60.0, until=at)
            window = os.pread(descriptor, _WINDOW, at)
            if not window:
                break
            is_last = at + len(window) >= self.size
            whole_lines = window.rfind(b"\n") + 1
            if not is_last and whole_lines:
                window = window[:whole_lines]
            line = self.line_of(descriptor, at)
            _add_matches(found, needle, window, line, most)
            if len(found) >= most:
                return found, found[-1].line + 1
            if is_last:
                break
            # Inside one endless line a match may lie across two windows.
            at += len(window) if whole_lines else max(1, len(window) - len(needle) + 1)
            reached = line + window.count(b"\n")
            if time.monotonic() > end and reached > first:
                return found, reached
        return found, None


def _add_matches(found: list[Match], needle: bytes, window: bytes, line: int, most: int) -> None:
    """One match a line."""
    folded = window.lower()
    at = counted = 0
    while len(found) < most and (start := folded.find(needle, at)) >= 0:
        stop = start + len(needle)
        line += window.count(b"\n", counted, start)
        counted = start
        if not found or found[-1].line != line:
            found.append(_match(window, window.rfind(b"\n", 0, start) + 1, start, stop, line))
        following = window.find(b"\n", stop)
        if following < 0:
            return
        at = following + 1


def _match(window: bytes, begin: int, start: int, stop: int, line: int) -> Match:
    before = window[begin:start].decode("utf-8", "replace")
    hit = window[start:stop].decode("utf-8", "replace")
    after = window[stop : stop + 4 * _SNIPPET].partition(b"\n")[0].decode("utf-8", "replace")
    return Match(line, len(before), len(hit), f"{before[-_SNIPPET:]}{hit}{after[:_SNIPPET]}")
