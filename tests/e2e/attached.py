"""A real host CLI with Holdfast attached to it, and somebody at the inbox.

with AnthropicServer(script) as server:
    it = watched(ClaudeCode(tmp_path, server.url))
    run = it.host.run("please write a.txt")
    assert it.decisions() == [("write", "allow")]
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from e2e.cli_hosts import CliHost, Codex
from holdfast.control import Control
from holdfast.doors import daemon_process
from holdfast.hosts.attach.service import attach, detach
from holdfast.hosts.attach.spec import Spec
from holdfast.hosts.reconcile import Reconciled, reconcile
from holdfast.hosts.registry import open_control
from holdfast.store.home import Home
from holdfast.testing import Script
from holdfast.testing.model_request import ModelRequest

ALLOW_BASH = '{ "domain": "bash", "pattern": "*", "decision": "allow" }'


def config(*rules: str, strategy: str = "", **runtime: str) -> str:
    """A configuration with these rules, a session strategy, and further parts of `agents.runtime`, given as JSON."""
    breed = f'{{ "id": "all", "match": {{ "host": "*" }}, "features": {{ "sessionStrategy": {strategy} }} }}'
    breeds = f'"breeds": [{breed}], ' if strategy else ""
    parts = [f'"permission": {{ "rules": [{", ".join(rules)}] }}', *(f'"{k}": {v}' for k, v in runtime.items())]
    return "{ " + breeds + '"agents": { "runtime": { ' + ", ".join(parts) + " } } }"


class Later:
    """A script that is only known once the server runs: `with Server(later := Later()): later.play(Script(...))`."""

    def __init__(self) -> None:
        self._script: Script | None = None
        self.choose: Callable[[ModelRequest], Script] | None = None
        """Picks the script of each request, where several agents talk to one model."""

    def play(self, script: Script) -> None:
        self._script = script

    def __call__(self, request: ModelRequest) -> Script:
        if self.choose is not None:
            return self.choose(request)
        assert self._script is not None, "play() comes before the host's first request"
        return self._script


class Holdfast:
    """A home with its daemon; one serves many tests, for sessions keep apart what belongs to each."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder)
        self.home.create()
        self.control: Control | None = None

    def configure(self, text: str) -> None:
        self.home.config.write_text(text)
        # The daemon looks whether the file has changed; two changes must not carry the same time stamp.
        time.sleep(0.01)

    def start(self) -> None:
        assert daemon_process.ensure_running(self.home, 30), (self.home.logs / "daemon.log").read_text()

    def open(self) -> Control:
        if self.control is None:
            self.control = open_control(self.home)
        return self.control

    def close(self) -> None:
        if self.control is not None:
            self.control.close()
        assert daemon_process.stop(self.home)


class Watched:
    """One host, attached."""

    def __init__(self, host: CliHost, holdfast: Holdfast, *, deadline: int = 40, server: bool = False) -> None:
        self.host = host
        self.holdfast = holdfast
        self.known = {session.id.session for session in holdfast.open().store.sessions(limit=1000)}
        self.spec = Spec(
            home=holdfast.home,
            scope="user",
            vault=host.workspace,
            user_home=host.home,
            deadline=deadline,
            port=daemon_process.port_of(holdfast.home),
            token=daemon_process.token_of(holdfast.home),
            environ={"PATH": "/usr/bin:/bin", **({"CODEX_HOME": str(host.home / ".codex")} if _is_codex(host) else {})},
            names_home=True,
            with_server=server,  # it takes a second to start, so only where it is called
        )
        attach(host.name, self.spec, at=1.0, force=True)
        if isinstance(host, Codex):
            host.trust_hooks = False  # the hashes that attach wrote have to do

    def detach(self) -> None:
        detach(self.host.name, self.spec)

    @property
    def control(self) -> Control:
        return self.holdfast.open()

    def sessions(self) -> list[str]:
        """Those that this host has opened, oldest first."""
        found = [session.id.session for session in self.control.store.sessions(limit=1000)]
        return [name for name in reversed(found) if name not in self.known]

    def events(self, *kinds: str) -> list[Any]:
        records = [record for name in self.sessions() for record in self.control.store.events(name)]
        return [record for record in records if not kinds or record.kind in kinds]

    def audit(self) -> list[dict[str, Any]]:
        return [dict(entry) for name in self.sessions() for entry in self.control.store.audit(session=name)]

    def decisions(self) -> list[tuple[str, str]]:
        return [(entry["tool"], entry["decision"]) for entry in self.audit() if "tool" in entry]

    def reconciled(self) -> Reconciled:
        """The only session of this host, compared with what the host itself has written down."""
        (name,) = self.sessions()
        session = self.control.store.session(name)
        assert session is not None
        return reconcile(self.control.store, session, data_home=self.host.home / ".local" / "share")

    def wait_for(self, condition: Any, seconds: float = 60.0) -> bool:
        """What is done after a hook was answered takes a moment."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    @contextlib.contextmanager
    def somebody_answers(self, answer: str, message: str = "", times: int = 1) -> Iterator[list[Any]]:
        """A person at the inbox, who takes this host's questions as they come."""
        answered: list[Any] = []
        stop = threading.Event()

        def watch() -> None:
            while not stop.is_set() and len(answered) < times:
                for approval in self.control.approvals.pending():
                    if approval.where.session not in self.known:
                        self.control.approvals.answer(approval.id, answer, by="tester", message=message)  # type: ignore[arg-type]
                        answered.append(approval)
                stop.wait(0.02)

        person = threading.Thread(target=watch, daemon=True)
        person.start()
        try:
            yield answered
        finally:
            stop.set()
            person.join(10)


def _is_codex(host: CliHost) -> bool:
    return host.name == "codex"
