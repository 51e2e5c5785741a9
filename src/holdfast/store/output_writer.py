"""One output on its way to disk: written as it comes, hashed beside it, moved when its disk fails."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CHUNK = 1 << 18
_HASH_BESIDE = 8 << 20
_HASH_SECONDS = 600.0
_COUNT_BY_PROGRAM = 32 << 20
_COUNT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class KeptOutput:
    """Where an output lies whole."""

    path: Path
    size: int
    sha256: str


class OutputWriter:
    """`write` or `splice`, then `finish`. A full disk is not the caller's trouble: it ends in a file or None."""

    def __init__(
        self,
        path: Path,
        descriptor: int,
        *,
        done: Callable[[OutputWriter, str], KeptOutput | None],
        failed: Callable[[OutputWriter], None],
        elsewhere: Callable[[], OutputWriter | None],
    ) -> None:
        self.path = path
        self.descriptor = descriptor
        self.size = 0
        self.broken = False
        """True when the output can be kept nowhere; then the two below tell of what was lost."""
        self.lost_newlines = 0
        self.lost_end = b""
        self._done = done
        self._failed = failed
        self._elsewhere = elsewhere
        self._hasher: _Hasher | None = None

    def write(self, data: bytes | memoryview) -> int:
        """How many of the bytes are in the file: all, unless it has just become `broken`."""
        view = memoryview(data)
        while view and not self.broken:
            try:
                written = os.pwrite(self.descriptor, view, self.size)
            except OSError:
                self._move()
            else:
                view = view[written:]
                self._grown(written)
        return len(data) - len(view)

    def splice(self, pipe: int, most: int) -> int | None:
        """Move bytes from a pipe to the file inside the kernel; 0 at its end, None where that is not possible."""
        try:
            moved = os.splice(pipe, self.descriptor, most, offset_dst=self.size)
        except OSError:
            return None
        self._grown(moved)
        return moved

    def read(self, start: int, length: int) -> bytes:
        return os.pread(self.descriptor, length, start)

    def finish(self) -> KeptOutput | None:
        try:
            if self.broken:
                return None
            digest = self._digest()
            if digest is None:
                self.abandon()
                return None
            return self._done(self, digest)
        finally:
            self._close()

    def abandon(self) -> None:
        """Leave nothing behind."""
        if not self.broken:
            self.broken = True
            self._failed(self)

    def _grown(self, length: int) -> None:
        self.size += length
        if self._hasher is not None:
            self._hasher.follow(self.size)
        elif self.size > _HASH_BESIDE:
            self._hasher = _Hasher(self.descriptor)
            self._hasher.follow(self.size)

    def _digest(self) -> str | None:
        hasher = self._hasher or _Hasher(self.descriptor, beside=False)
        self._hasher = None
        return hasher.finish(self.size)

    def _move(self) -> None:
        """This disk took no more: go on elsewhere with what is there, or give the output up."""
        other = self._elsewhere()
        if other is not None:
            start = 0
            while start < self.size and not other.broken:
                piece = os.pread(self.descriptor, min(_CHUNK, self.size - start), start)
                if not piece:
                    break
                other.write(piece)
                start += len(piece)
            if start < self.size:
                other.abandon()
                other._close()
        self._stop_hashing()
        if other is None or other.broken:
            self.lost_newlines = count_newlines(self)
            self.lost_end = self.read(max(0, self.size - _CHUNK), _CHUNK)
            self.broken = True
        self._failed(self)
        os.close(self.descriptor)
        self.descriptor = -1
        if other is None or self.broken:
            return
        self.path, self.descriptor = other.path, other.descriptor
        self._elsewhere = lambda: None
        self._hasher, other._hasher = other._hasher, None

    def _stop_hashing(self) -> None:
        if self._hasher is not None:
            self._hasher.finish(0)
            self._hasher = None

    def _close(self) -> None:
        self._stop_hashing()
        if self.descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self.descriptor)
            self.descriptor = -1


class _Hasher:
    """Hashes a growing file from a thread of its own: on two processors it costs no time."""

    def __init__(self, descriptor: int, *, beside: bool = True) -> None:
        self._descriptor = descriptor
        self._hash: Any = hashlib.sha256()
        self._buffer = bytearray(_CHUNK)
        self._hashed = 0
        self._end = 0
        self._finished = False
        self._failure = False
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        if beside:
            self._thread = threading.Thread(target=self._run, name="holdfast-hash", daemon=True)
            self._thread.start()

    def follow(self, end: int) -> None:
        self._end = end
        if end - self._hashed >= _CHUNK:
            with self._change:
                self._change.notify()

    def finish(self, end: int) -> str | None:
        """The hash of the first `end` bytes; None when they could not be read."""
        if self._thread is None:
            self._hash_up_to(end)
        else:
            with self._change:
                self._end = end
                self._finished = True
                self._change.notify()
            self._thread.join(timeout=_HASH_SECONDS)
        return None if self._failure or self._hashed != end else str(self._hash.hexdigest())

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._finished or self._end - self._hashed >= _CHUNK, timeout=1.0)
                finished, end = self._finished, self._end
            self._hash_up_to(end)
            if finished or self._failure:
                return

    def _hash_up_to(self, end: int) -> None:
        view = memoryview(self._buffer)
        while self._hashed < end:
            try:
                length = os.preadv(self._descriptor, [view[: min(_CHUNK, end - self._hashed)]], self._hashed)
            except OSError:
                length = 0
            if not length:
                self._failure = True
                return
            self._hash.update(view[:length])
            self._hashed += length


def count_newlines(writer: OutputWriter) -> int:
    """How many line feeds a file holds. `wc` counts ten times faster than Python can, where there is one."""
    program = shutil.which("wc") if writer.size >= _COUNT_BY_PROGRAM else None
    if program is not None:
        with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
            os.lseek(writer.descriptor, 0, os.SEEK_SET)
            counted = subprocess.run(
                [program, "-l"],
                stdin=writer.descriptor,
                capture_output=True,
                timeout=_COUNT_SECONDS,
                check=True,
            )
            return int(counted.stdout)
    newlines = 0
    buffer = bytearray(_CHUNK)
    start = 0
    while start < writer.size:
        length = os.preadv(writer.descriptor, [buffer], start)
        if not length:
            break
        newlines += buffer.count(b"\n", 0, length)
        start += length
    return newlines
