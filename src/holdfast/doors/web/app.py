"""Puts the page's server together: the guard, the table of routes, and the page's own files.

To add routes, write a module with a tuple `ROUTES` of `Route` (routes.py says what a handler gets and gives), and add
its name as one line to `MODULES`. Its handlers find everything on `call.server` (server.py): `control` is the open
Holdfast, `hub.publish(name, data)` tells every open page. The OpenAPI document takes new routes up by itself, and the
fixture `client` (tests/doors/web/conftest.py) holds each answer against the shape that its route names. A module with
`on_start(server: Server) -> None` is started with the server, for what goes on in the background; what ends it goes to
`server.at_close`.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.core.messages import Phrase
from holdfast.doors.web.bodies import read_body, require_type
from holdfast.doors.web.devices import Device
from holdfast.doors.web.replies import json_response
from holdfast.doors.web.routes import LOCKED_OUT, WRONG_METHOD, ApiError, Call, Route, Table, read_query
from holdfast.doors.web.security import KEY_HEADER, Guard
from holdfast.doors.web.server import Server
from holdfast.store.config_problems import ConfigError
from holdfast.store.home import VaultError
from holdfast.store.interface import StoreError

MODULES: tuple[str, ...] = (
    "entry",
    "stream",
    "chains",
    "transcripts",
    "search",
    "audit",
    "rules",
    "simulations",
    "settings",
    "prompt",
    "models",
    "agents",
    "strategies",
    "doctor",
    "memory",
    "stats",
    "watch",
    "approvals",
    "chat",
    "files",
    "outputs",
    "pairing",
    "openapi",
)
MOST_JSON = 1 << 20

_NO_HEADER = Phrase("page.no_header", "a request needs the header {header}", "请求须带有 {header} 头")
_NOT_JSON = Phrase("page.not_json", "the body is not JSON", "请求内容不是 JSON")
_TOO_SLOW = Phrase("page.too_slow", "it took too long; it may still be under way", "耗时过长；可能仍在进行")
# What the store itself says names files and processes, in English; it goes along as a parameter.
_STORE = Phrase(
    "page.store",
    "the record cannot be read or written right now; try again, or let `holdfast doctor` say why",
    "记录暂时无法读写；请稍后再试，或运行 `holdfast doctor` 查看原因",
)
_INTERNAL = Phrase(
    "page.internal",
    "Holdfast itself failed ({error}); see the terminal",
    "Holdfast 自身出错（{error}）；详情见终端",
)


def load_routes(modules: Sequence[str] = MODULES) -> tuple[Route, ...]:
    return tuple(route for name in modules for route in import_module(f"holdfast.doors.web.{name}").ROUTES)


def start_modules(server: Server, modules: Sequence[str] = MODULES) -> None:
    for name in modules:
        start: Callable[[Server], None] | None = getattr(import_module(f"holdfast.doors.web.{name}"), "on_start", None)
        if start is not None:
            start(server)


def build_app(server: Server) -> ASGIApp:
    """The whole server as one ASGI application."""
    return Guard(Dispatcher(server, Table(load_routes())), server.address)


class Dispatcher:
    """Finds the route, checks who asks and what with, and turns whatever comes of it into an answer."""

    def __init__(self, server: Server, table: Table) -> None:
        self._server = server
        self._table = table

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        request = Request(scope, receive)
        response = await self._respond(request)
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        try:
            if request.url.path.startswith("/api/"):
                return await self._api(request)
            if request.method not in ("GET", "HEAD"):
                raise ApiError(405, "wrong_method", WRONG_METHOD(method=request.method))
            return self._server.static.answer(request)
        except ApiError as error:
            return json_response(error.to_dict(), error.status)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            known = _known_error(error)
            if known.status == 500:
                traceback.print_exception(error, file=sys.stderr)
            return json_response(known.to_dict(), known.status)

    async def _api(self, request: Request) -> Response:
        raw = request.scope.get("raw_path") or request.scope["path"].encode()
        route, path = self._table.find(request.method, raw.partition(b"?")[0])
        if KEY_HEADER not in request.headers and "ticket" not in route.query:
            raise ApiError(403, "missing_header", _NO_HEADER(header=KEY_HEADER))
        device = None if route.public else await self._device(request, route)
        query = read_query(route.query, request.query_params)
        body = await self._body(request, route)
        call = Call(self._server, request, path, query, body, device)
        if route.is_async:
            return _response(await route.handler(call))
        return await self._server.work(lambda: _response(route.handler(call)))

    async def _device(self, request: Request, route: Route) -> Device | None:
        devices = self._server.devices
        if "ticket" in route.query:
            return None  # a plain link of the browser's: the handler takes the ticket, which is good once
        cookie = request.cookies.get(self._server.cookie, "")
        device = devices.known_by(cookie, request.headers.get(KEY_HEADER, ""))
        if device is None:
            raise ApiError(401, "locked_out", LOCKED_OUT())
        if devices.is_due(device):
            await self._server.work(devices.seen, device.id)
        return device

    async def _body(self, request: Request, route: Route) -> Any:
        if request.method == "GET" or route.takes == "bytes":
            if route.takes == "bytes":
                require_type(request, "application/octet-stream")
            return {}
        require_type(request, "application/json")
        raw = await read_body(request, MOST_JSON)
        try:
            given = orjson.loads(raw or b"{}")
        except orjson.JSONDecodeError:
            raise ApiError(400, "not_json", _NOT_JSON()) from None
        return self._table.check_body(route, given)


def _response(answer: Any) -> Response:
    """Encoded where it was made: a long answer is not encoded on the loop that serves everybody."""
    return answer if isinstance(answer, Response) else json_response(answer)


def _known_error(error: Exception) -> ApiError:
    """Errors that say themselves what to do; anything else is ours."""
    match error:
        case TimeoutError():
            return ApiError(504, "too_slow", _TOO_SLOW())
        case ConfigError():
            return ApiError(409, "config", error.message)
        case VaultError():
            return ApiError(422, "vault", error.message)
        case StoreError():
            return ApiError(503, "store", _STORE(), error=error)
        case _:
            return ApiError(500, "internal", _INTERNAL(error=type(error).__name__))


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
