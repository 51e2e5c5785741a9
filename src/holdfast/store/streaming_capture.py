"""A command's output as it comes: small ones stay in memory, large ones stream to disk (TR7).

Whatever its size, what is held in memory is the beginning and the end. A pipe is moved to the file inside the kernel;
lines are counted and the hash is made beside it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.store.output_writer import KeptOutput, OutputWriter

_CHUNK = 1 << 18
_PIPE_ROOM = 1 << 20
_SET_PIPE_SIZE = getattr(fcntl, "F_SETPIPE_SZ", None)
_LONGEST_WAIT_MS = 500


@dataclass(frozen=True, slots=True)
class CapturedOutput:
    """What is known of an output once it has ended."""

    head: str
    """The whole text when `whole`, otherwise its beginning."""
    tail: str
    """Its end; empty when `whole`."""
    whole: bool
    lines: int
    """A last line without a line feed counts too."""
    size: int
    kept: KeptOutput | None
    """Where it lies; None when it is whole, or could not be kept."""


class StreamingCapture:
    """`feed` what comes, or `drain` a pipe; then `finish`.

    `open_output` is called once, when the output outgrows `max_bytes` or `max_lines`.
    """

    def __init__(
        self,
        open_output: Callable[[], OutputWriter | None],
        *,
        max_bytes: int = 51_200,
        max_lines: int = 2000,
    ) -> None:
        self._open_output = open_output
        self._max_bytes = max_bytes
        self._max_lines = max_lines
        self._start = bytearray()
        """Everything, until it is too much; then the beginning."""
        self._newlines = 0
        """Counted in memory only; those of a file are counted at the end."""
        self._writer: OutputWriter | None = None
        self._end = bytearray()
        """The latest bytes, when there is no file to read them from."""
        self._outgrown = False
        self.size = 0

    def feed(self, data: bytes | memoryview) -> None:
        if not data:
            return
        self.size += len(data)
        if self._outgrown:
            self._pass_on(data)
            return
        self._start += data
        self._newlines += bytes(data).count(b"\n")
        if len(self._start) > self._max_bytes or self._newlines > self._max_lines:
            self._outgrown = True
            self._writer = self._open_output()
            whole, self._start = self._start, self._start[: self._max_bytes]
            self._newlines = 0
            self._pass_on(memoryview(bytes(whole)))

    def drain(self, pipe: int, *, seconds: float) -> bool:
        """Take everything from a pipe; False when `seconds` ran out before its end (call again to go on)."""
        if _SET_PIPE_SIZE is not None:
            with contextlib.suppress(OSError):  # a larger pipe is only quicker
                fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_ROOM)
        end = time.monotonic() + seconds
        ready = select.poll()
        ready.register(pipe, select.POLLIN)
        while True:
            wait = min(_LONGEST_WAIT_MS, (end - time.monotonic()) * 1000)
            if wait <= 0:
                return False
            if not ready.poll(wait):
                continue
            if not self._take(pipe):
                return True

    def _take(self, pipe: int) -> int:
        writer = self._writer
        if writer is not None and not writer.broken and hasattr(os, "splice"):
            length = writer.splice(pipe, _PIPE_ROOM)
            if length is not None:
                self.size += length
                return length
        data = os.read(pipe, _CHUNK)
        self.feed(data)
        return len(data)

    def _pass_on(self, data: bytes | memoryview) -> None:
        writer = self._writer
        if writer is not None:
            data = data[writer.write(data) :]
            if not writer.broken:
                return
            self._newlines = writer.lost_newlines
            self._end = bytearray(writer.lost_end)
            self._writer = None
        self._newlines += bytes(data).count(b"\n")
        self._end += data
        del self._end[: -self._max_bytes]

    def finish(self) -> CapturedOutput:
        if not self._outgrown:
            text = bytes(self._start).decode("utf-8", "replace")
            return CapturedOutput(text, "", True, self._lines(self._newlines, self._start), self.size, None)
        writer = self._writer
        if writer is not None:
            self._newlines = writer.newlines()
            self._end = bytearray(writer.read(max(0, writer.size - self._max_bytes), self._max_bytes))
        kept = writer.finish() if writer is not None else None
        lines = self._lines(self._newlines, self._end)
        return CapturedOutput(_head_text(self._start), _tail_text(self._end), False, lines, self.size, kept)

    def abandon(self) -> None:
        """The command is not wanted any more: leave nothing behind."""
        if self._writer is not None:
            self._writer.abandon()

    @staticmethod
    def _lines(newlines: int, end: bytearray) -> int:
        return newlines + (1 if end and end[-1] != 0x0A else 0)


def _head_text(data: bytearray) -> str:
    """Without half a character at its end."""
    end = len(data)
    for back in range(1, min(4, end) + 1):
        byte = data[end - back]
        if byte & 0xC0 == 0x80:
            continue
        width = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        if width > back:
            end -= back
        break
    return bytes(data[:end]).decode("utf-8", "replace")


def _tail_text(data: bytearray) -> str:
    """Without half a character at its beginning."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return bytes(data[start:]).decode("utf-8", "replace")
