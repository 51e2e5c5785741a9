"""What every scripted model server does, whatever protocol it speaks: record, follow the script, answer.

A protocol's server says how to read a request and how to spell a reply; see the four `*_server.py`.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeAlias

from holdfast.testing.http_base import Answer, HttpCall, LoopbackListener, PlainAnswer, StreamAnswer
from holdfast.testing.model_request import ModelRequest
from holdfast.testing.script import ContextOverflow, Failure, Reply, Script, ScriptError, Step, Turn, as_reply

ScriptChooser: TypeAlias = Callable[[ModelRequest], Script]
SideReply: TypeAlias = Step | Mapping[str, Step] | None


class ScriptedServer(ABC):
    """A model server that follows a script. Use it as a context manager.

    `script` may be a function that picks the script for a request, for hosts that talk in several
    conversations at once (sub-agents, many clients). `side_reply` answers a host's side requests
    (titles, probes, summaries): one step for all, or one for each kind; kinds left out get a default.
    `recognise_side` replaces the protocol's own function for telling them from the conversation.
    """

    def __init__(
        self,
        script: Script | ScriptChooser,
        *,
        side_reply: SideReply = None,
        recognise_side: Callable[[ModelRequest], str | None] | None = None,
    ) -> None:
        self._script = script
        self._recognise_side = recognise_side or self.side_kind
        self._side_reply = side_reply
        self._lock = threading.Lock()
        self._all: list[ModelRequest] = []
        self._errors: list[ScriptError] = []
        self._unrouted: list[str] = []
        self._listener: LoopbackListener | None = None

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
        return self._listener.url

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
        self._listener = LoopbackListener(self._answer)

    def close(self) -> None:
        """Stops listening and drops open connections, slow streams included."""
        listener, self._listener = self._listener, None
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

    def _answer(self, call: HttpCall) -> Answer:
        """Records a call and finds its answer, spelled out to the last event."""
        plain = self.plain_answer(call)
        if plain is not None:
            return plain
        with self._lock:
            read = self.read(call, len(self._all) + 1)
            if read is None:
                self._unrouted.append(f"{call.method} {call.path}")
                return PlainAnswer({"error": {"message": f"no route {call.method} {call.path}"}}, 404)
            request = replace(read, side=self._recognise_side(read))
            self._all.append(request)
        try:
            return self._spelled(self._reply(request), request)
        except ScriptError as error:
            return self._recorded(error)
        except Exception as error:
            wrapped = ScriptError(f"the script step for request {request.number} raised {error!r}")
            wrapped.__cause__ = error
            return self._recorded(wrapped)

    def _reply(self, request: ModelRequest) -> Reply:
        if request.side is None:
            script = self._script if isinstance(self._script, Script) else self._script(request)
            return script.answer(request)
        chosen = self._side_reply
        if isinstance(chosen, Mapping):
            chosen = chosen.get(request.side)
        return as_reply(self.default_side_reply(request) if chosen is None else chosen, request)

    def _spelled(self, reply: Reply, request: ModelRequest) -> Answer:
        told = self.overflow(reply, request) if isinstance(reply, ContextOverflow) else reply
        if isinstance(told, Failure):
            return self._failure(told)
        if isinstance(told, tuple):
            return StreamAnswer(told)
        if request.stream:
            events = tuple(self.events(told, request))
            return StreamAnswer(events, told.first_byte_delay, told.piece_delay, told.cut_after)
        cut = told.cut_after is not None
        return PlainAnswer(self.whole(told, request), first_byte_delay=told.first_byte_delay, cut=cut)

    def _failure(self, failure: Failure) -> PlainAnswer:
        headers = {} if failure.retry_after is None else {"Retry-After": f"{failure.retry_after:g}"}
        body = self.error_body(failure) if failure.body is None else failure.body
        return PlainAnswer(body, failure.status, headers)

    def _recorded(self, error: ScriptError) -> PlainAnswer:
        with self._lock:
            self._errors.append(error)
        # 400, because hosts repeat a request after a 5xx, and the test would wait for that.
        return self._failure(Failure(400, str(error)))
