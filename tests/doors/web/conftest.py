"""The page's server in this process. `client` is a browser that has entered; each answer is held against its schema."""

import asyncio
from functools import cache
from pathlib import Path

import httpx
import pytest
from jsonschema import Draft202012Validator

from doors.web.scenes import life  # noqa: F401 (a fixture)
from holdfast.control import Control
from holdfast.doors.web.app import build_app, load_routes, start_modules
from holdfast.doors.web.routes import Table
from holdfast.doors.web.security import Address
from holdfast.doors.web.server import Server
from holdfast.doors.web.shapes import schema_of
from holdfast.store.home import Home

ADDRESS = Address(port=8787)
BASE = "http://127.0.0.1:8787"


@cache
def _table() -> Table:
    return Table(load_routes())


class Browser:
    """Requests of one browser; `enter` makes it known. Synchronous, each on an event loop of its own."""

    def __init__(self, server: Server, *, check: bool = True) -> None:
        self.server = server
        self.app = build_app(server)
        self.cookies = httpx.Cookies()
        self.headers = {"x-holdfast": "none"}
        self.check = check

    def enter(self, code: str = "") -> "Browser":
        answer = self.post("/api/enter", {"code": code or self.server.codes.link()})
        assert answer.status_code == 200, answer.text
        self.headers["x-holdfast"] = answer.json()["key"]
        return self

    def request(self, method: str, path: str, **given) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app, client=given.pop("client", ("127.0.0.1", 50_000)))
            async with httpx.AsyncClient(
                transport=transport, base_url=BASE, cookies=self.cookies, timeout=60
            ) as asking:
                headers = {**self.headers, **given.pop("headers", {})}
                headers = {name: value for name, value in headers.items() if value is not None}
                answer = await asking.request(method, path, headers=headers, **given)
                self.cookies = asking.cookies
                return answer

        answer = asyncio.run(ask())
        if self.check and path.startswith("/api/"):
            self._hold_against_schema(method, path, answer)
        return answer

    def get(self, path: str, **query) -> httpx.Response:
        return self.request("GET", path, params={name: value for name, value in query.items() if value is not None})

    def post(self, path: str, body=None, **given) -> httpx.Response:
        return self.request("POST", path, json={} if body is None else body, **given)

    def put(self, path: str, body=None, **given) -> httpx.Response:
        return self.request("PUT", path, json={} if body is None else body, **given)

    def delete(self, path: str, body=None, **given) -> httpx.Response:
        return self.request("DELETE", path, json={} if body is None else body, **given)

    def _hold_against_schema(self, method: str, path: str, answer: httpx.Response) -> None:
        if answer.status_code >= 400:
            assert set(answer.json()["error"]) == {"code", "params", "en", "zh"}, answer.text
            return
        route, _ = _table().find(method, path.encode().partition(b"?")[0])
        if route.returns is not None:
            problems = list(Draft202012Validator(schema_of(route.returns)).iter_errors(answer.json()))
            where = f"{method} {route.path} does not answer as its schema says"
            assert not problems, f"{where}: {problems[0].json_path}: {problems[0].message}"


@pytest.fixture
def home(tmp_path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def vault(tmp_path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def server(home, vault):
    server = Server(Control.open(home), address=ADDRESS, vault=vault)
    start_modules(server)
    yield server
    server.close()


@pytest.fixture
def stranger(server) -> Browser:
    """A browser that has not entered."""
    return Browser(server)


@pytest.fixture
def client(server) -> Browser:
    return Browser(server).enter()
