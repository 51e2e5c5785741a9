"""The SHA-256 of a file while it is still growing.

A thread follows the writer and reads the file's pages where they lie. It steps aside for the writer, so that on a busy
machine the hash comes late rather than the output slowly.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import threading
from collections.abc import Callable
from typing import Any

_WINDOW = 16 << 20
_STEP = 1 << 20
_NICENESS = 10
_WAIT_SECONDS = 600.0


class FileHash:
    """`follow` as the file grows, `finish` when it has ended, `result` when the hash is wanted."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = os.dup(descriptor)
        self._hash: Any = hashlib.sha256()
        self._hashed = 0
        self._end = 0
        self._ended = False
        self._cancelled = False
        self._digest = ""
        self._tell: Callable[[str], None] | None = None
        self._change = threading.Condition()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, end: int) -> None:
        self._end = end
        if end - self._hashed < _WINDOW:
            return
        with self._change:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="holdfast-hash", daemon=True)
                self._thread.start()
            self._change.notify()

    def finish(self, end: int, tell: Callable[[str], None]) -> None:
        """The file has `end` bytes; `tell` is called with the hash. A small file's is known at once."""
        with self._change:
            self._end, self._ended, self._tell = end, True, tell
            self._change.notify()
        if self._thread is None:
            self._complete()

    def cancel(self) -> None:
        with self._change:
            self._cancelled = True
            self._change.notify()
        if self._thread is None:
            self._complete()

    def result(self) -> str:
        self._ready.wait(_WAIT_SECONDS)
        return self._digest

    def _run(self) -> None:
        with contextlib.suppress(OSError, AttributeError):  # Linux alone has priorities of threads
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        while True:
            with self._change:
                self._change.wait_for(
                    lambda: self._ended or self._cancelled or self._end - self._hashed >= _WINDOW, timeout=1.0
                )
                end = self._end
                if self._ended or self._cancelled:
                    break
            if end - self._hashed >= _WINDOW and not self._hash_up_to(self._hashed + _WINDOW):
                break
        self._complete()

    def _complete(self) -> None:
        try:
            if not self._cancelled and self._hash_up_to(self._end):
                self._digest = str(self._hash.hexdigest())
        finally:
            os.close(self._descriptor)
            self._ready.set()
        if self._digest and self._tell is not None:
            self._tell(self._digest)

    def _hash_up_to(self, end: int) -> bool:
        while self._hashed < end and not self._cancelled:
            start = self._hashed - self._hashed % mmap.ALLOCATIONGRANULARITY
            length = min(_WINDOW, end - start)
            try:
                with mmap.mmap(self._descriptor, length, access=mmap.ACCESS_READ, offset=start) as pages:
                    self._hash_window(pages, self._hashed - start)
            except (OSError, ValueError):
                return False
        return self._hashed == end

    def _hash_window(self, pages: mmap.mmap, first: int) -> None:
        with memoryview(pages) as view:
            for at in range(first, len(view), _STEP):
                with view[at : at + _STEP] as step:
                    self._hash.update(step)
                    self._hashed += len(step)
