"""A command with the network of this machine meets Holdfast's own daemon there, and can do nothing with it."""

import pytest

from holdfast.control import Control
from holdfast.core.settings import Settings
from holdfast.doors.daemon_process import ensure_running, port_of, stop, token_of
from holdfast.runtime.sandbox import detect
from holdfast.store.home import Home
from holdfast.store.interface import Session
from holdfast.testing.builders import EventBuilder, session_id
from tool_bench import Bench, with_bash

pytestmark = pytest.mark.e2e
ASK = """
import sys, urllib.request, urllib.error
port, hook, method, *auth = sys.argv[1:]
body = b"{}" if method == "POST" else None
request = urllib.request.Request(f"http://127.0.0.1:{port}{hook}", method=method, data=body)
for word in auth:
    request.add_header("Authorization", f"Bearer {word}")
try:
    print("answered", urllib.request.urlopen(request, timeout=10).status)
except urllib.error.HTTPError as error:
    print("refused", error.code)
"""


@pytest.fixture
def daemon(tmp_path):
    home = Home(tmp_path / "home")
    home.create()
    assert ensure_running(home, 60)
    yield home
    assert stop(home)


def test_PE10_the_daemon_answers_no_command_of_the_agent(tmp_path, daemon):
    """The port can be reached where the network is allowed; the token and the socket cannot."""
    if detect().kind == "none":
        pytest.skip("installable: bubblewrap")
    bench = Bench(tmp_path, with_bash(Settings(), network="on"))
    try:
        token, port = token_of(daemon), port_of(daemon)
        bench.put("ask.py", ASK)
        for method, hook in (("GET", "/"), ("POST", "/codex"), ("POST", "/claude-code"), ("POST", "/mcp")):
            for auth in ("", "wrong"):
                said = bench.text("bash", command=f"python3 ask.py {port} {hook} {method} {auth}")
                assert "refused 4" in said, (method, hook, said)
                assert "answered" not in said
        found = bench.text(
            "bash", command=f"ls -laR {daemon.root}; cat {daemon.run / 'token'}; env; cat /proc/*/environ"
        )
        assert token not in found
        assert ".sock" not in found
    finally:
        bench.close()


def test_PE10_a_command_that_names_the_daemons_port_is_denied_outright(tmp_path, daemon):
    control = Control.open(daemon)
    try:
        vault = tmp_path / "vault"
        vault.mkdir(exist_ok=True)
        control.store.open_session(Session(session_id(), host="holdfast", vault=str(vault), started_at=1.0))
        outcome = control.plane.handle(
            EventBuilder(cwd=str(vault)).calling(
                "bash", call_id="c1", command=f"curl http://127.0.0.1:{port_of(daemon)}/"
            )
        )
        assert outcome.decision == "deny"
        assert outcome.deciding.hard
    finally:
        control.close()
