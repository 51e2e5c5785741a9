"""A real `holdfast serve` in a process of its own, a client of its API, and hosts that live on the same store."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
import uuid
from itertools import count
from pathlib import Path

import httpx

from holdfast.chain.arrivals import Arrival
from holdfast.chain.chain import Chain
from holdfast.control import Control
from holdfast.core.events import (
    AssistantReplied,
    Compacted,
    ContextMeasured,
    PromptSubmitted,
    SessionStarted,
    ToolCall,
    ToolCalled,
    ToolCalling,
    ToolResult,
)
from holdfast.store.home import Home

START_SECONDS = 90
HOST_WAITS = 3600.0


class Served:
    """`link()` is a fresh one-time link; `stop()` and `start()` take the server down and up at the same port."""

    def __init__(
        self, folder: Path, *options: str, home: str = "home", vault: str = "project", **environment: str
    ) -> None:
        self.home, self.vault = folder / home, folder / vault
        self.home.mkdir(parents=True, mode=0o700)
        self.vault.mkdir()
        self.options = options
        self.environment = environment
        self.process: subprocess.Popen[str] | None = None
        self.port = 0
        self.url = ""
        self._client: httpx.Client | None = None

    def start(self) -> Served:
        command = [sys.executable, "-m", "holdfast", "--home", str(self.home), "serve", "--json", *self.options]
        if self.port:
            command += ["--port", str(self.port)]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "OPENAI_"))
        } | self.environment
        with (self.home / "serve.log").open("a") as log:
            self.process = subprocess.Popen(
                command, cwd=self.vault, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                text=True, start_new_session=True,
            )  # fmt: skip
        facts = json.loads(self._first_line())
        self.port, self.url = facts["port"], facts["url"]
        if self._client is None:
            self._client = httpx.Client(base_url=self.url, timeout=60, verify=False)  # a certificate is the test's own
            self._enter(facts["link"])
        return self

    def _first_line(self) -> str:
        assert self.process is not None
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            if not ready.select(START_SECONDS):
                raise AssertionError(f"the server said nothing in {START_SECONDS} s: {self.log()}")
        line = self.process.stdout.readline()
        assert line, f"the server ended at once: {self.log()}"
        return line

    def log(self) -> str:
        return (self.home / "serve.log").read_text(encoding="utf-8")[-4000:]

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process = None

    def close(self) -> None:
        self.stop()
        if self._client is not None:
            self._client.close()

    # the API, as the test itself uses it

    def _enter(self, link: str) -> None:
        assert self._client is not None
        answer = self._ask("POST", "/api/enter", {"code": link.split("#enter=")[1], "name": "test"})
        self._client.headers["x-holdfast"] = answer["key"]
        # Loopback is as good as TLS to a browser: a cookie that a proxy makes "Secure" is sent there too.
        self._client.headers["cookie"] = "; ".join(f"{one.name}={one.value}" for one in self._client.cookies.jar)
        self._client.cookies.clear()

    def _ask(self, method: str, path: str, body=None, **query):
        assert self._client is not None
        given = {} if method == "GET" else {"json": {} if body is None else body}
        answer = self._client.request(
            method, path, params=query, headers={"x-holdfast": self._client.headers.get("x-holdfast", "none")}, **given
        )
        assert answer.status_code < 400, f"{method} {path}: {answer.status_code} {answer.text}\n{self.log()}"
        return answer.json()

    def get(self, path: str, **query):
        return self._ask("GET", path, **query)

    def post(self, path: str, body=None):
        return self._ask("POST", path, body)

    def put(self, path: str, body=None):
        return self._ask("PUT", path, body)

    def code(self) -> str:
        """A one-time code for another browser."""
        return self.post("/api/devices/pair")["code"]

    def forget_browsers(self) -> None:
        """Those that tests let in: a server knows fifty, and the one it forgets first would be the test's own."""
        for device in self.get("/api/devices")["devices"]:
            if not device["current"]:
                self._ask("DELETE", f"/api/devices/{device['id']}")

    def link(self) -> str:
        return f"{self.url}/#enter={self.code()}"

    def thread(self, text: str = "") -> str:
        """A new conversation with the own agent, with a first message."""
        thread = self.post("/api/threads")["thread"]
        if text:
            self.post(f"/api/threads/{thread}/messages", {"text": text})
        return thread

    def until_idle(self, thread: str, seconds: float = 60) -> dict:
        """The state of a thread once its run is over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.get(f"/api/threads/{thread}")
            if not state["busy"]:
                return state
            time.sleep(0.05)
        raise AssertionError(f"the run of {thread} did not end in {seconds} s: {self.log()}")


class Hosts:
    """Sessions of attached hosts, lived through by another process on the same store."""

    def __init__(self, served: Served) -> None:
        self.control = Control.open(Home(served.home), wait_limit=lambda: HOST_WAITS)
        self.chain = Chain(self.control)
        self.vault = served.vault
        self._numbers = count(1)

    def close(self) -> None:
        self.control.close()

    def begin(self, host: str = "claude-code", *, name: str = ""):
        arrival = Arrival(
            host, name or f"{host}-{uuid.uuid4().hex[:8]}", str(self.vault), cwd=str(self.vault), source="startup"
        )
        where = self.chain.open(arrival).session.id
        self.tell(SessionStarted, where, host=host, vault=str(self.vault), cwd=str(self.vault))
        return where

    def tell(self, kind, where, **more):
        event = kind(id=uuid.uuid4().hex, at=time.time(), where=where, invocation="run-1", **more)
        outcome = self.control.plane.handle(event)
        self.chain.heed(event, outcome)
        return outcome

    def say(self, where, text: str):
        return self.tell(PromptSubmitted, where, text=text)

    def reply(self, where, text: str):
        return self.tell(AssistantReplied, where, text=text)

    def ask(self, where, tool: str, /, **given):
        """A call that needs an approval: the approval, as it waits."""
        call = self.call(tool, **given)
        self.tell(ToolCalling, where, call=call)
        found = [one for one in self.control.approvals.pending(session=where.session) if one.call_id == call.id]
        assert found, f"{tool} {given} was not asked about"
        return found[0]

    def call(self, tool: str, /, **given) -> ToolCall:
        return ToolCall(f"call-{uuid.uuid4().hex[:10]}-{next(self._numbers)}", tool, given, cwd=str(self.vault))

    def done(self, where, tool: str, /, output: str = "", *, failed: bool = False, **given) -> str:
        call = self.call(tool, **given)
        self.tell(ToolCalling, where, call=call)
        self.tell(ToolCalled, where, call=call, result=ToolResult(output=output, failed=failed))
        return call.id

    def measure(self, where, used: int, window: int | None = 200_000, **more):
        return self.tell(ContextMeasured, where, used=used, window=window, host="claude-code", **more)

    def compact(self, where, **more):
        return self.tell(Compacted, where, **more)
