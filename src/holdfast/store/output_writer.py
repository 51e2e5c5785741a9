"""One output on its way to disk: written as it comes, moved when its disk fails, hashed beside it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from holdfast.store.file_hash import FileHash
from holdfast.store.line_count import LineCount, count_newlines

_CHUNK = 1 << 18
_HASH_BESIDE = 8 << 20
_COUNT_BESIDE = 32 << 20


class KeptOutput:
    """Where an output lies whole. The hash of a large one may come a moment after the rest: `sha256` waits for it."""

    __slots__ = ("_hash", "path", "size")

    def __init__(self, path: Path, size: int, file_hash: FileHash) -> None:
        self.path = path
        self.size = size
        self._hash = file_hash

    @property
    def sha256(self) -> str:
        """Empty when the file could not be read again."""
        return self._hash.result()


class OutputWriter:
    """`write` or `splice`, then `finish`. A full disk is not the caller's trouble: it ends in a file or None."""

    def __init__(
        self,
        path: Path,
        descriptor: int,
        *,
        done: Callable[[OutputWriter], bool],
        hashed: Callable[[Path, str], None],
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
        self._hashed = hashed
        self._failed = failed
        self._elsewhere = elsewhere
        self._hash: FileHash | None = None
        self._lines: LineCount | None = None

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

    def newlines(self) -> int:
        """Asked once, when everything is written."""
        lines, self._lines = self._lines, None
        return lines.finish(self.size) if lines is not None else count_newlines(self.descriptor, self.size)

    def finish(self) -> KeptOutput | None:
        """Give the file its name. It stays readable through `read` no longer."""
        kept = None
        if not self.broken:
            file_hash = self._hash or FileHash(self.descriptor)
            if self._done(self):
                path = self.path
                self._hash = None
                file_hash.finish(self.size, lambda digest: self._hashed(path, digest))
                kept = KeptOutput(path, self.size, file_hash)
            else:
                file_hash.cancel()
        self._close()
        return kept

    def abandon(self) -> None:
        """Leave nothing behind."""
        if not self.broken:
            self.broken = True
            self._failed(self)
        self._close()

    def _grown(self, length: int) -> None:
        self.size += length
        if self._hash is not None:
            self._hash.follow(self.size)
        elif self.size > _HASH_BESIDE:
            self._hash = FileHash(self.descriptor)
            self._hash.follow(self.size)
        if self._lines is not None:
            self._lines.follow(self.size)
        elif self.size > _COUNT_BESIDE:
            self._lines = LineCount(self.descriptor)
            self._lines.follow(self.size)

    def _move(self) -> None:
        """This disk took no more: go on elsewhere with what is there, or give the output up."""
        other = self._elsewhere()
        start = 0
        while other is not None and not other.broken and start < self.size:
            piece = self.read(start, min(_CHUNK, self.size - start))
            if not piece:
                other.abandon()
            other.write(piece)
            start += len(piece)
        if other is None or other.broken:
            self.lost_newlines = self.newlines()
            self.lost_end = self.read(max(0, self.size - _CHUNK), _CHUNK)
            self.broken = True
        self._failed(self)
        self._close()
        if other is not None and not other.broken:
            self.path, self.descriptor = other.path, other.descriptor
            self._hash, self._lines = other._hash, other._lines
            self._elsewhere = lambda: None

    def _close(self) -> None:
        if self._lines is not None:
            self._lines.cancel()
            self._lines = None
        if self._hash is not None:
            self._hash.cancel()
            self._hash = None
        if self.descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self.descriptor)
            self.descriptor = -1
