"""PE10: no agent gets at the page: not its port, its files, its process, nor the command that would start another."""

import os
from pathlib import Path

import pytest

from doors.web.questions import open_session
from holdfast.control import Control
from holdfast.store.page_processes import page_pids, page_ports, register, unregister
from holdfast.testing.builders import EventBuilder

PORT = 18_787
ALLOW_EVERYTHING = """{ "agents": { "runtime": { "permission": { "rules": [
  { "domain": "bash", "pattern": "*", "decision": "allow" },
  { "domain": "edit", "pattern": "*", "decision": "allow" },
  { "domain": "web_fetch", "pattern": "*", "decision": "allow" },
  { "domain": "read", "pattern": "*", "decision": "allow" } ] } } } }"""
COMMANDS = [
    'curl http://127.0.0.1:{port}/api/approvals/x/answer -d \'{{"answer":"once"}}\'',
    "curl -s localhost:{port}/api/enter",
    "wget -qO- http://0x7f.1:{port}/api/events",
    "python3 -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:{port}/api/hello')\"",
    "nc 127.0.0.1 {port}",
    "cat {home}/run/page-open.html",
    "ls {home}/run/page",
    "sqlite3 {home}/data/holdfast.db 'select * from notes'",
    "rm -rf {home}/run/page",
    "kill {pid}",
    "cp ~/.mozilla/firefox/x.default/cookies.sqlite .",
    "strings '{user}/.config/chromium/Default/Local Storage/leveldb/000003.log'",
    "holdfast serve",
    "holdfast serve --json --port 9999",
    "python -m holdfast serve",
]


@pytest.fixture
def control(home):
    home.create()
    home.config.write_text(ALLOW_EVERYTHING)
    register(home, PORT, os.getpid())
    control = Control.open(home)
    yield control
    control.close()
    unregister(home, PORT)


@pytest.mark.parametrize("mode", ["agent", "full_access"])
def test_PE10_commands_that_would_reach_the_page(control, vault, mode):
    where = open_session(control, vault)
    control.store.update_session("s1", control.store.session("s1").version, mode=mode)
    build = EventBuilder(where, cwd=str(vault))
    for text in COMMANDS:
        command = text.format(port=PORT, home=control.home.root, pid=os.getpid(), user=Path.home())
        outcome = control.plane.handle(build.calling("bash", command=command))
        assert outcome.decision == "deny", command
        assert outcome.deciding.hard, command


def test_PE10_fetching_from_the_page_and_reading_its_files(control, vault):
    build = EventBuilder(open_session(control, vault), cwd=str(vault))
    for tool, given in (
        ("web_fetch", {"url": f"http://127.0.0.1:{PORT}/api/hello"}),
        ("read", {"path": str(control.home.run / "page-open.html")}),
        ("read", {"path": str(control.home.run / "page" / str(PORT))}),
        ("read", {"path": str(control.home.database)}),
        ("read", {"path": str(Path.home() / ".mozilla/firefox/x.default/cookies.sqlite")}),
        ("read", {"path": str(Path.home() / ".config/google-chrome/Default/Local Storage/leveldb/000003.log")}),
        ("write", {"path": str(control.home.run / "page" / str(PORT)), "content": "1"}),
    ):
        outcome = control.plane.handle(build.calling(tool, **given))
        assert (outcome.decision, outcome.deciding.hard) == ("deny", True), (tool, given)


def test_PE10_a_server_that_starts_later_is_guarded_at_once(control, vault):
    build = EventBuilder(open_session(control, vault), cwd=str(vault))
    command = "curl http://127.0.0.1:18999/"
    assert control.plane.handle(build.calling("bash", command=command)).decision == "allow"
    register(control.home, 18_999, os.getpid())
    assert control.plane.handle(build.calling("bash", command=command)).decision == "deny"
    unregister(control.home, 18_999)
    assert control.plane.handle(build.calling("bash", command=command)).decision == "allow"


def test_PE10_what_a_killed_server_left_is_taken_away_by_the_next(home):
    home.create()
    register(home, 1, 2**22 + 1)  # beyond any process id
    register(home, 2, os.getpid())
    assert page_ports(home) == (2,)
    assert page_pids(home) == (os.getpid(),)
