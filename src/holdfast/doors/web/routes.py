"""What a route is, what its handler gets and gives, and how a request finds it.

A handler is a plain function: it runs in a thread, so it may read the store and files, and must come to an end. One
that streams or waits is `async` and may never block. Either returns something to be sent as JSON, or a response.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, get_args, get_origin
from urllib.parse import unquote

from starlette.datastructures import QueryParams
from starlette.requests import Request

from holdfast.core.messages import Message, Phrase
from holdfast.doors.web.shapes import Schema, problem_with, schema_of

if TYPE_CHECKING:
    from holdfast.doors.web.devices import Device
    from holdfast.doors.web.server import Server

Method = Literal["GET", "POST", "PUT", "DELETE"]
_TRUE, _FALSE = ("1", "true", "yes"), ("0", "false", "no")


class ApiError(Exception):
    """An answer that is an error. `code` says which, for programs; `said` says it to people, in every language."""

    def __init__(
        self, status: int, code: str, said: Message, *, body: Mapping[str, Any] | None = None, **params: object
    ) -> None:
        super().__init__(said.text())
        self.status = status
        self.code = code
        self.said = said
        self.params = {name: str(value) for name, value in params.items()}
        self.body = dict(body or {})

    def to_dict(self) -> dict[str, Any]:
        told = self.said.to_dict()
        params = {**cast("Mapping[str, Any]", told["params"]), **self.params}
        return {"error": {"code": self.code, "params": params, "en": told["en"], "zh": told["zh"]}, **self.body}


LOCKED_OUT = Phrase(
    "page.locked_out",
    "this browser is not known here; open the link from the terminal",
    "此浏览器尚未获准；请用终端中的链接打开",
)
WRONG_METHOD = Phrase("page.wrong_method", "{method} is not answered here", "此处不接受 {method}")
_NO_PATH = Phrase("page.no_path", "there is nothing at this address", "此地址没有内容")
_NOTHING = Phrase("page.not_found", "there is no {what} {name}", "没有{what} {name}")
_MISFIT = Phrase("page.misfit", "the body does not fit: {problem}", "请求内容不符：{problem}")
_NO_PARAMETER = Phrase("page.no_parameter", "there is no parameter {name}", "没有参数 {name}")
_NO_VALUE = Phrase("page.no_value", "{name} cannot be {value}", "{name} 不能为 {value}")
_THINGS: Mapping[str, Phrase] = {
    "approval": Phrase("page.approval", "approval", "审批"),
    "audit entry": Phrase("page.audit_entry", "audit entry", "审计条目"),
    "call": Phrase("page.call", "call", "调用"),
    "check": Phrase("page.check", "check", "检查"),
    "device": Phrase("page.device", "device", "设备"),
    "event": Phrase("page.event", "event", "事件"),
    "family": Phrase("page.family", "family", "家族"),
    "job": Phrase("page.job", "job", "任务"),
    "project": Phrase("page.project", "project", "项目"),
    "proposal": Phrase("page.proposal", "proposal", "提议"),
    "queued message": Phrase("page.queued_message", "queued message", "排队的消息"),
    "rule": Phrase("page.rule", "rule", "规则"),
    "session": Phrase("page.session", "session", "会话"),
    "template": Phrase("page.template", "template", "模板"),
    "thread": Phrase("page.thread", "thread", "对话"),
}
Thing = Literal[
    "approval", "audit entry", "call", "check", "device", "event", "family", "job", "project", "proposal",
    "queued message", "rule", "session", "template", "thread",
]  # fmt: skip


def not_found(what: Thing, name: str) -> ApiError:
    return ApiError(404, "not_found", _NOTHING(what=_THINGS[what](), name=repr(name)), what=what, name=name)


def bad_request(said: Message, place: str) -> ApiError:
    """A request that no page of ours would send; `place` names the part that is wrong."""
    return ApiError(422, "bad_request", said, problem=place)


@dataclass(frozen=True, slots=True)
class Call:
    """One request, checked: who asks, for what, and on which server."""

    server: Server
    request: Request
    path: Mapping[str, str]
    query: Mapping[str, Any]
    """Every name the route declares, parsed; None (or an empty list) when it was not given."""
    body: Mapping[str, Any]
    _device: Device | None = None

    @property
    def device(self) -> Device:
        if self._device is None:
            raise ApiError(401, "locked_out", LOCKED_OUT())
        return self._device

    def text(self, name: str, default: str = "") -> str:
        value = self.query.get(name)
        return default if value is None else str(value)

    def number(self, name: str, default: int, most: int, least: int = 0) -> int:
        value = self.query.get(name)
        return default if value is None else max(least, min(int(value), most))


class Handler(Protocol):
    def __call__(self, call: Call, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Route:
    """One line of a module's `ROUTES`."""

    method: Method
    path: str
    """With `{name}` for a whole segment; what stands there may hold anything, slashes too."""
    handler: Handler
    summary: str
    query: Mapping[str, Any] = field(default_factory=dict)
    """Names to types: str, int, float, bool or list[str]."""
    body: Any = None
    """A TypedDict, or None when nothing is read from the body."""
    returns: Any = dict[str, Any]
    """The shape of the answer; None for one that is not JSON."""
    public: bool = False
    """Answers without a token; Host and Origin are checked all the same."""
    takes: Literal["json", "bytes"] = "json"
    content: str = "application/json"
    """What it answers with."""

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.handler)

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self.path.strip("/").split("/"))

    def body_schema(self) -> Schema | None:
        return None if self.body is None else schema_of(self.body)


class Table:
    """All routes, found by their raw path, so that an encoded slash stays inside its segment."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = tuple(routes)
        self._bodies = {id(route): route.body_schema() for route in routes}
        self._by_length: dict[int, list[Route]] = {}
        seen: set[tuple[str, str]] = set()
        for route in routes:
            shape = (route.method, "/".join("{}" if part.startswith("{") else part for part in route.segments))
            if shape in seen:
                raise ValueError(f"two routes answer {route.method} {route.path}")
            seen.add(shape)
            self._by_length.setdefault(len(route.segments), []).append(route)

    def find(self, method: str, raw_path: bytes) -> tuple[Route, dict[str, str]]:
        """Raises `ApiError` 404 or 405."""
        parts = raw_path.decode("ascii", "replace").strip("/").split("/")
        fitting: list[tuple[Route, dict[str, str]]] = []
        for route in self._by_length.get(len(parts), ()):
            values = _match(route.segments, parts)
            if values is not None:
                fitting.append((route, values))
        # A literal segment wins over a named one: `/api/files/complete` over `/api/files/{name}`.
        fitting.sort(key=lambda found: len(found[1]))
        for route, values in fitting:
            if route.method == method:
                return route, values
        if fitting:
            raise ApiError(405, "wrong_method", WRONG_METHOD(method=method))
        raise ApiError(404, "no_such_path", _NO_PATH())

    def check_body(self, route: Route, body: Any) -> Mapping[str, Any]:
        schema = self._bodies[id(route)]
        if schema is None:
            return {}
        problem = problem_with(body, schema)
        if problem is not None:
            raise bad_request(_MISFIT(problem=problem), problem.text())
        return cast("Mapping[str, Any]", body)


def _match(wanted: Sequence[str], given: Sequence[str]) -> dict[str, str] | None:
    values: dict[str, str] = {}
    for name, part in zip(wanted, given, strict=True):
        if name.startswith("{"):
            value = unquote(part)
            if not value or "\x00" in value:
                return None
            values[name[1:-1]] = value
        elif name != part:
            return None
    return values


def read_query(declared: Mapping[str, Any], given: QueryParams) -> dict[str, Any]:
    """What a route declares, parsed; an unknown name is refused, so that a misspelt filter is not a wider search."""
    unknown = next((name for name in given if name not in declared), None)
    if unknown is not None:
        raise bad_request(_NO_PARAMETER(name=repr(unknown)), unknown)
    parsed: dict[str, Any] = {}
    for name, kind in declared.items():
        values = given.getlist(name)
        if get_origin(kind) is list:
            (inner,) = get_args(kind)
            parsed[name] = [_parse(name, inner, value) for value in values]
        else:
            parsed[name] = _parse(name, kind, values[-1]) if values else None
    return parsed


def _parse(name: str, kind: Any, text: str) -> Any:
    try:
        if kind is bool:
            if text.lower() not in (*_TRUE, *_FALSE):
                raise ValueError(text)
            return text.lower() in _TRUE
        if get_origin(kind) is Literal:
            if text not in get_args(kind):
                raise ValueError(text)
            return text
        value = kind(text)
        if isinstance(value, float) and not abs(value) < 1e15:
            raise ValueError(text)
    except ValueError:
        problem = _NO_VALUE(name=name, value=repr(text[:80]))
        raise bad_request(problem, problem.text()) from None
    return value
