"""How many line feeds a file holds, counted while it is still growing.

`wc` counts ten times faster than Python can. Where there is one, it is fed from the file's pages beside the writer, so
that at the end only the last bit is left to count.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading

_STEP = 4 << 20
_CHUNK = 1 << 18
_SECONDS = 120.0


def count_newlines(descriptor: int, end: int) -> int:
    """The line feeds among the first `end` bytes, here and now."""
    newlines = start = 0
    buffer = bytearray(_CHUNK)
    view = memoryview(buffer)
    while start < end:
        length = os.preadv(descriptor, [view[: min(_CHUNK, end - start)]], start)
        if not length:
            break
        newlines += buffer.count(b"\n", 0, length)
        start += length
    return newlines


class LineCount:
    """`follow` as the file grows, then `finish`, or `cancel` when the number is not wanted any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._end = 0
        self._fed = 0
        self._ended = False
        self._change = threading.Condition()
        self._program: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        path = shutil.which("wc")
        if path is not None:
            with contextlib.suppress(OSError):
                self._program = subprocess.Popen([path, "-l"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                self._thread = threading.Thread(target=self._feed, name="holdfast-lines", daemon=True)
                self._thread.start()

    def follow(self, end: int) -> None:
        self._end = end
        if end - self._fed >= _STEP:
            with self._change:
                self._change.notify()

    def finish(self, end: int) -> int:
        counted = self._stop(end)
        return counted if counted is not None else count_newlines(self._descriptor, end)

    def cancel(self) -> None:
        program = self._program
        if program is not None:
            program.kill()
        self._stop(self._fed)

    def _stop(self, end: int) -> int | None:
        """What the program counted; None when there is none or it failed."""
        program, self._program = self._program, None
        if program is None or self._thread is None:
            return None
        with self._change:
            self._end, self._ended = end, True
            self._change.notify()
        self._thread.join(timeout=_SECONDS)
        try:
            said, _ = program.communicate(timeout=_SECONDS)
            return int(said) if self._fed == end and program.returncode == 0 else None
        except (OSError, ValueError, subprocess.SubprocessError):
            program.kill()
            program.wait(timeout=_SECONDS)
            return None

    def _feed(self) -> None:
        program = self._program
        if program is None or program.stdin is None:
            return
        with contextlib.suppress(OSError):
            while True:
                with self._change:
                    self._change.wait_for(lambda: self._ended or self._end - self._fed >= _STEP, timeout=1.0)
                    ended, end = self._ended, self._end
                while self._fed < end:
                    sent = os.sendfile(program.stdin.fileno(), self._descriptor, self._fed, end - self._fed)
                    if not sent:
                        return
                    self._fed += sent
                if ended:
                    return
