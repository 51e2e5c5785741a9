"""The HTTP part that all scripted model servers share: loopback only, port 0, threads, standard library.

It reads a call, asks one function for the answer, and sends that: as JSON or as server-sent events, late,
piece by piece or cut short as the answer says. Threads and not asyncio, so that it serves a test
of any kind: one that blocks on a subprocess, one with its own event loop, one with neither.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

JOIN_SECONDS = 5.0
CONNECTION_IDLE_SECONDS = 120.0
TEXT_PIECE_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class HttpCall:
    """One HTTP request as it came in, before any protocol has looked at it."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PlainAnswer:
    """One JSON body; `cut` breaks the connection instead of sending it. Delays are seconds."""

    body: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    first_byte_delay: float = 0.0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class StreamAnswer:
    """Server-sent events; after `cut_after` of them the connection breaks."""

    events: tuple[bytes, ...]
    first_byte_delay: float = 0.0
    piece_delay: float = 0.0
    cut_after: int | None = None


Answer: TypeAlias = PlainAnswer | StreamAnswer


def text_pieces(text: str) -> Iterator[str]:
    """Text as a stream brings it, in small pieces."""
    for start in range(0, len(text), TEXT_PIECE_CHARACTERS):
        yield text[start : start + TEXT_PIECE_CHARACTERS]


def sse(data: Mapping[str, Any] | str, event: str = "") -> bytes:
    """One server-sent event."""
    payload = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {payload}\n\n".encode()


class LoopbackListener(ThreadingHTTPServer):
    """Listens on a free port of 127.0.0.1 as soon as it is made.

    stop() ends every connection, slow streams included, so that no thread or socket outlives the test.
    """

    block_on_close = False
    request_queue_size = 128

    def __init__(self, answer: Callable[[HttpCall], Answer]) -> None:
        self.answer = answer
        self._stopping = threading.Event()
        self._open: dict[socket.socket, threading.Thread] = {}
        self._open_lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Connection)
        self._loop = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._loop.start()

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def pause(self, seconds: float) -> None:
        """Waits; when the listener is stopped meanwhile, the connection ends unanswered."""
        if seconds > 0 and self._stopping.wait(seconds):
            raise ConnectionAbortedError("the scripted server was closed")

    def process_request(self, request: Any, client_address: Any) -> None:
        """As the base does, but known to stop() before it starts."""
        thread = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        with self._open_lock:
            self._open[request] = thread
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """As the base does, and forgotten by stop() when it ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._open_lock:
                self._open.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; the default prints a traceback."""

    def stop(self) -> None:
        """Ends everything; bounded by a deadline for each thread."""
        self._stopping.set()
        self.shutdown()
        self._loop.join(JOIN_SECONDS)
        self.server_close()
        with self._open_lock:
            still_open = dict(self._open)
        for connection in still_open:
            # Wakes its thread, which then closes it; closing it here would leave the thread in its read.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in still_open.values():
            thread.join(JOIN_SECONDS)


class _Connection(BaseHTTPRequestHandler):
    """One client connection: reads a call, asks the server, writes the answer."""

    server: LoopbackListener
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = CONNECTION_IDLE_SECONDS

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_HEAD = do_PUT = do_DELETE = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what was asked stands in `requests`."""

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer: Answer
        try:
            body = self._read_body(headers)
        except ValueError as error:
            answer = PlainAnswer({"error": {"message": f"the request body could not be read: {error}"}}, 400)
        else:
            answer = self.server.answer(HttpCall(self.command, parts.path, query, headers, body))
        if isinstance(answer, StreamAnswer):
            self._send_stream(answer)
        else:
            self._send_json(answer)

    def _read_body(self, headers: Mapping[str, str]) -> Mapping[str, Any]:
        if "chunked" in headers.get("transfer-encoding", ""):
            raw = self._read_chunks()
        else:
            raw = self.rfile.read(int(headers.get("content-length", "0")))
        encoding = headers.get("content-encoding", "identity")
        if encoding == "gzip":
            raw = gzip.decompress(raw)
        elif encoding != "identity":
            raise ValueError(f"content-encoding {encoding!r} is not supported")
        parsed = json.loads(raw) if raw else {}
        if not isinstance(parsed, dict):
            raise ValueError("it is not a JSON object")
        return parsed

    def _read_chunks(self) -> bytes:
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _send_json(self, answer: PlainAnswer) -> None:
        self.server.pause(answer.first_byte_delay)
        if answer.cut:
            self.close_connection = True
            return
        data = json.dumps(answer.body, ensure_ascii=False).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()

    def _send_stream(self, answer: StreamAnswer) -> None:
        self.server.pause(answer.first_byte_delay)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in answer.events[: answer.cut_after]:
            self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
            if answer.piece_delay:
                self.wfile.flush()
                self.server.pause(answer.piece_delay)
        if answer.cut_after is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            # No closing chunk: the client sees a stream that broke, not one that ended.
            self.close_connection = True
        self.wfile.flush()
