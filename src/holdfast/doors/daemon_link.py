"""One link to the daemon: what comes in, line by line or by size, and what goes out.

Between two requests a link may be silent for as long as it likes; within one it may not.
"""

from __future__ import annotations

import socket
import struct

MAX_BODY = 64 * 1024 * 1024
MAX_HEAD = 1 << 20
READ_SECONDS = 30
_PART = 1 << 16


class CutOff(Exception):
    """The peer stopped in the middle, or sent more than is taken."""


CLOSING_ERRORS = (OSError, ValueError, CutOff)
"""After any of these a link is of no more use."""


class Link:
    """Reads are blocking; the kernel itself gives up after `READ_SECONDS` of silence."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._data = b""
        limit = struct.pack("ll", READ_SECONDS, 0)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)

    def next_line(self) -> bytes:
        """The first line of the next request, once there is one; empty when the peer is done."""
        while not self._data:
            try:
                self._data = self._link.recv(_PART)
            except BlockingIOError:
                continue  # silent between two requests
            if not self._data:
                return b""
        return self._until(b"\n")

    def headers(self) -> dict[bytes, bytes]:
        """What follows the first line of an HTTP request, up to the empty line."""
        if self._peek(2) == b"\r\n":
            self._data = self._data[2:]
            return {}
        parts = (header.partition(b":") for header in self._until(b"\r\n\r\n").split(b"\r\n", 100)[:100])
        return {name.strip().lower(): value.strip() for name, colon, value in parts if colon}

    def exactly(self, size: int) -> bytes:
        if not 0 <= size <= MAX_BODY:
            raise CutOff(f"a body of {size} bytes is refused")
        if len(self._data) < size:
            parts, have = [self._data], len(self._data)
            while have < size:
                parts.append(self._more())
                have += len(parts[-1])
            self._data = b"".join(parts)
        body, self._data = self._data[:size], self._data[size:]
        return body

    def send(self, data: bytes) -> None:
        self._link.sendall(data)

    def _until(self, mark: bytes) -> bytes:
        while (end := self._data.find(mark)) < 0:
            if len(self._data) > MAX_HEAD:
                raise CutOff("a line without an end")
            self._data += self._more()
        found, self._data = self._data[:end], self._data[end + len(mark) :]
        return found

    def _peek(self, size: int) -> bytes:
        while len(self._data) < size:
            self._data += self._more()
        return self._data[:size]

    def _more(self) -> bytes:
        part = self._link.recv(_PART)
        if not part:
            raise CutOff("the peer went away in the middle of a request")
        return part
