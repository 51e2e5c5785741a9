"""The HTTP part that all scripted model servers share: loopback only, port 0, threads, standard library.

A protocol's server says how to read a request and how to spell a reply; this module listens,
records, runs the script, streams, delays and cuts. Threads and not asyncio, so that it serves a test
of any kind: one that blocks on a subprocess, one with its own event loop, one with neither.
"""

from __future__ import annotations

import gzip
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias
from urllib.parse import parse_qs, urlsplit

from holdfast.testing.model_request import ModelRequest
from holdfast.testing.script import ContextOverflow, Failure, Reply, Script, ScriptError, Step, Turn, as_reply

JOIN_SECONDS = 5.0
CONNECTION_IDLE_SECONDS = 120.0
TEXT_PIECE_CHARACTERS = 40

ScriptChooser: TypeAlias = Callable[[ModelRequest], Script]
SideReply: TypeAlias = Step | Mapping[str, Step] | None


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
    """A fixed JSON answer to something that is no question to the model (token counts, model lists)."""

    body: Mapping[str, Any]
    status: int = 200


def text_pieces(text: str) -> Iterator[str]:
    """Text as a stream brings it, in small pieces."""
    for start in range(0, len(text), TEXT_PIECE_CHARACTERS):
        yield text[start : start + TEXT_PIECE_CHARACTERS]


def sse(data: Mapping[str, Any] | str, event: str = "") -> bytes:
    """One server-sent event."""
    payload = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {payload}\n\n".encode()


class ScriptedServer(ABC):
    """A model server that follows a script. Use it as a context manager.

    `script` may be a function that picks the script for a request, for hosts that talk in several
    conversations at once (sub-agents, many clients). `side_reply` answers a host's side requests
    (titles, probes, summaries): one step for all, or one for each kind; kinds left out get a default.
    """

    def __init__(self, script: Script | ScriptChooser, *, side_reply: SideReply = None) -> None:
        self._script = script
        self._side_reply = side_reply
        self._lock = threading.Lock()
        self._all: list[ModelRequest] = []
        self._errors: list[ScriptError] = []
        self._unrouted: list[str] = []
        self._listener: _Listener | None = None
        self._closing = threading.Event()

    # What a protocol has to say

    @abstractmethod
    def plain_answer(self, call: HttpCall) -> PlainAnswer | None:
        """The fixed answer to a call that does not ask the model; None when this is none of those."""

    @abstractmethod
    def read(self, call: HttpCall, number: int) -> ModelRequest | None:
        """The call as a question to the model; None when the path is not one of this protocol."""

    @abstractmethod
    def side_kind(self, request: ModelRequest) -> str | None:
        """Which kind of side request this is; None for the conversation itself."""

    @abstractmethod
    def default_side_reply(self, request: ModelRequest) -> Step:
        """What a side request is told when the test does not say."""

    @abstractmethod
    def whole(self, turn: Turn, request: ModelRequest) -> Mapping[str, Any]:
        """The reply as one JSON body."""

    @abstractmethod
    def events(self, turn: Turn, request: ModelRequest) -> Iterator[bytes]:
        """The reply as server-sent events."""

    @abstractmethod
    def error_body(self, failure: Failure) -> Mapping[str, Any]:
        """An error in the protocol's own form."""

    @abstractmethod
    def overflow(self, overflow: ContextOverflow, request: ModelRequest) -> Failure | tuple[bytes, ...]:
        """How this provider says that the conversation is too long: by an error, or by a stream that fails."""

    # What a test uses

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`, without a path."""
        if self._listener is None:
            raise RuntimeError(f"{type(self).__name__} is not started; use it as `with ... as server:`")
        return f"http://127.0.0.1:{self._listener.server_address[1]}"

    @property
    def requests(self) -> list[ModelRequest]:
        """The requests of the conversation, in order: those that used up the script."""
        return [request for request in self.all_requests if request.side is None]

    @property
    def side_requests(self) -> list[ModelRequest]:
        """The requests that the host made for its own ends; `side` says which kind."""
        return [request for request in self.all_requests if request.side is not None]

    @property
    def all_requests(self) -> list[ModelRequest]:
        """Both, in order."""
        with self._lock:
            return list(self._all)

    @property
    def unrouted(self) -> list[str]:
        """`METHOD /path` of each call that this protocol does not know; it was answered with 404."""
        with self._lock:
            return list(self._unrouted)

    @property
    def errors(self) -> list[ScriptError]:
        """What went against the script so far; the first one is raised when the `with` block ends."""
        with self._lock:
            return list(self._errors)

    def start(self) -> None:
        """Listens on a free port of 127.0.0.1."""
        if self._listener is not None:
            raise RuntimeError(f"{type(self).__name__} is already started at {self.url}")
        self._closing.clear()
        self._listener = _Listener(self)

    def close(self) -> None:
        """Stops listening and drops open connections, slow streams included."""
        listener, self._listener = self._listener, None
        self._closing.set()
        if listener is not None:
            listener.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if kind is None and self._errors:
            raise self._errors[0]

    # What the connection threads use

    def take(self, call: HttpCall) -> tuple[ModelRequest, Reply] | PlainAnswer:
        """Records a call and finds its answer."""
        plain = self.plain_answer(call)
        if plain is not None:
            return plain
        with self._lock:
            read = self.read(call, len(self._all) + 1)
            if read is None:
                self._unrouted.append(f"{call.method} {call.path}")
                return PlainAnswer({"error": {"message": f"no route {call.method} {call.path}"}}, 404)
            request = replace(read, side=self.side_kind(read))
            self._all.append(request)
        try:
            return request, self._reply(request)
        except ScriptError as error:
            return request, self._recorded(error)
        except Exception as error:
            return request, self._recorded(_step_error(request, error))

    def pause(self, seconds: float) -> None:
        """Waits, but no longer than the server lives."""
        if seconds > 0:
            self._closing.wait(seconds)

    def _reply(self, request: ModelRequest) -> Reply:
        if request.side is None:
            script = self._script if isinstance(self._script, Script) else self._script(request)
            return script.answer(request)
        chosen = self._side_reply
        if isinstance(chosen, Mapping):
            chosen = chosen.get(request.side)
        return as_reply(self.default_side_reply(request) if chosen is None else chosen, request)

    def _recorded(self, error: ScriptError) -> Failure:
        with self._lock:
            self._errors.append(error)
        # 400, because hosts repeat a request after a 5xx, and the test would wait for that.
        return Failure(400, str(error))


def _step_error(request: ModelRequest, error: Exception) -> ScriptError:
    wrapped = ScriptError(f"the script step for request {request.number} raised {error!r}")
    wrapped.__cause__ = error
    return wrapped


class _Listener(ThreadingHTTPServer):
    """Accepts connections; stop() ends every one of them, so that no thread or socket outlives the test."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, owner: ScriptedServer) -> None:
        self.owner = owner
        self._open: dict[int, tuple[Any, threading.Thread]] = {}
        self._open_lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Connection)
        self._loop = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._loop.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open[id(request)] = (request, threading.current_thread())
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._open_lock:
                self._open.pop(id(request), None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; the default prints a traceback."""

    def stop(self) -> None:
        self.shutdown()
        self._loop.join(JOIN_SECONDS)
        self.server_close()
        with self._open_lock:
            still_open = list(self._open.values())
        for connection, _ in still_open:
            self.shutdown_request(connection)
        for _, thread in still_open:
            thread.join(JOIN_SECONDS)


class _Connection(BaseHTTPRequestHandler):
    """One client connection: reads a call, asks the server, writes the answer."""

    server: _Listener
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
        try:
            body = self._read_body(headers)
        except ValueError as error:
            self._send_json(400, {"error": {"message": f"the request body could not be read: {error}"}})
            return
        owner = self.server.owner
        answer = owner.take(HttpCall(self.command, parts.path, query, headers, body))
        if isinstance(answer, PlainAnswer):
            self._send_json(answer.status, answer.body)
            return
        request, reply = answer
        told = owner.overflow(reply, request) if isinstance(reply, ContextOverflow) else reply
        if isinstance(told, Failure):
            self._send_failure(owner, told)
        elif isinstance(told, tuple):
            self._send_stream(owner, Turn(), told)
        else:
            self._send_turn(owner, told, request)

    def _send_turn(self, owner: ScriptedServer, reply: Turn, request: ModelRequest) -> None:
        owner.pause(reply.first_byte_delay)
        if request.stream:
            self._send_stream(owner, reply, owner.events(reply, request))
        elif reply.cut_after is not None:
            self.close_connection = True
        else:
            self._send_json(200, owner.whole(reply, request))

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

    def _send_json(self, status: int, body: Mapping[str, Any], extra: Mapping[str, str] | None = None) -> None:
        data = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()

    def _send_failure(self, owner: ScriptedServer, failure: Failure) -> None:
        extra = {} if failure.retry_after is None else {"Retry-After": f"{failure.retry_after:g}"}
        body = owner.error_body(failure) if failure.body is None else failure.body
        self._send_json(failure.status, body, extra)

    def _send_stream(self, owner: ScriptedServer, turn: Turn, events: Iterable[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for sent, event in enumerate(events):
            if turn.cut_after is not None and sent >= turn.cut_after:
                # No closing chunk: the client sees a stream that broke, not one that ended.
                self.wfile.flush()
                self.close_connection = True
                return
            if sent:
                owner.pause(turn.piece_delay)
            self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
            if turn.piece_delay:
                self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
