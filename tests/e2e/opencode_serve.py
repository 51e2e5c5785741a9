"""One warm OpenCode server for many prompts: a `run` takes 6 s, a prompt to a server well under one.

with OpenCodeServe(OpenCode(tmp_path, server.url)) as opencode:
    session = opencode.new_session()
    opencode.prompt(session, "please write a.txt")
"""

from __future__ import annotations

import json
import socket
import time
from types import TracebackType
from typing import Any, Self

import httpx

from e2e.cli_hosts import OpenCode, RunningCli

START_SECONDS = 120.0
ANSWER_SECONDS = 120.0
LIFE_SECONDS = 280.0


class OpenCodeServe:
    """`opencode serve` on loopback, started with the block and killed with it."""

    def __init__(self, host: OpenCode) -> None:
        self._host = host
        self._cli: RunningCli | None = None

    def __enter__(self) -> Self:
        port = _free_port()
        program = self._host.program("node_modules/.bin/opencode")
        argv = [program, "serve", "--hostname", "127.0.0.1", "--port", str(port), "--print-logs"]
        self._cli = RunningCli(self._host, argv, self._host.environment(), None, LIFE_SECONDS)
        url = f"http://127.0.0.1:{port}"
        self._client = httpx.Client(base_url=url, trust_env=False, timeout=ANSWER_SECONDS)
        try:
            self._wait_until_up()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kills the server and all that it started."""
        self._client.close()
        if self._cli is not None:
            self._cli.kill()
            self._cli.wait()
            self._cli = None

    def new_session(self) -> str:
        """The id of a fresh session in the workspace."""
        return str(self.post("/session", {})["id"])

    def prompt(self, session: str, text: str) -> dict[str, Any]:
        """Asks, and waits until the agent stops; gives its last message."""
        return self.post(f"/session/{session}/message", {"parts": [{"type": "text", "text": text}]})

    def prompt_async(self, session: str, text: str) -> None:
        """Asks, and comes back at once."""
        self.post(f"/session/{session}/prompt_async", {"parts": [{"type": "text", "text": text}]})

    def summarize(self, session: str) -> None:
        """Forces a compaction."""
        self.post(f"/session/{session}/summarize", {"providerID": "fake", "modelID": "m1"})

    def messages(self, session: str) -> list[dict[str, Any]]:
        """All messages of a session, with their parts."""
        found = self.get(f"/session/{session}/message")
        assert isinstance(found, list)
        return found

    def next_permission(self, *answered: str, seconds: float = 60.0) -> dict[str, Any]:
        """Waits for a question to a person, other than those already answered."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for found in self.get("/permission"):
                if found["id"] not in answered:
                    return dict(found)
            time.sleep(0.05)
        raise TimeoutError(f"opencode asked nothing (but {answered}) within {seconds:g} s")

    def reply(self, permission: str, answer: str, message: str = "") -> None:
        """Answers one: `once`, `always` or `reject`."""
        self.post(f"/permission/{permission}/reply", {"reply": answer, **({"message": message} if message else {})})

    def get(self, path: str) -> Any:
        """A GET, as JSON."""
        return _checked(self._client.get(path))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """A POST, as JSON."""
        return _checked(self._client.post(path, json=body))

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                # A short patience, because a request right after listen can hang for good.
                self._client.get("/session", timeout=2).raise_for_status()
            except httpx.HTTPError:
                assert self._cli is not None
                if self._cli.process.poll() is not None:
                    raise RuntimeError(f"opencode serve ended: {self._cli.wait().explain()}") from None
                time.sleep(0.1)
            else:
                return
        raise TimeoutError(f"opencode serve did not answer within {START_SECONDS:g} s")


def _checked(response: httpx.Response) -> Any:
    if response.is_error:
        raise RuntimeError(
            f"{response.request.method} {response.request.url} gave {response.status_code}: {response.text}"
        )
    return json.loads(response.text) if response.text else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
