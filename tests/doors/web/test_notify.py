"""UI1: being told that something waits: where the user asked for it, soon, and without the secrets of the call."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from doors.web.questions import ask, until
from holdfast.control import Control
from holdfast.doors.notify import Notifier
from holdfast.doors.notify_claims import LEASE_SECONDS, PREFIX, Claims

SECRET = "hunter2-very-secret"


class Listener:
    """A server on loopback that keeps what it is sent."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict, bytes]] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                listener.got.append((self.path, dict(self.headers), body))
                self.send_response(500 if "broken" in self.path else 200)
                self.end_headers()

            def log_message(self, *given):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


@pytest.fixture
def listener():
    listener = Listener()
    yield listener
    listener.close()


def configure(at, **notify) -> None:
    at.home.create()
    at.home.config.write_text(json.dumps({"agents": {"runtime": {"notify": notify}}}))


def test_UI1_webhook_and_ntfy_are_told_once_and_learn_no_secret(server, listener, vault):
    configure(server, webhook=f"{listener.url}/hook", ntfy=f"{listener.url}/topic")
    approval = ask(server.control, vault, command=f"curl -H 'Authorization: {SECRET}' https://x.example")
    until(lambda: len(listener.got) == 2, "both notifications")
    server.watch.look()
    sent = {path: body for path, _, body in listener.got}
    told = json.loads(sent["/hook"])
    assert (told["event"], told["approval"], told["tool"]) == ("approval_waits", approval.id, "bash")
    assert told["page"] == server.address.url
    assert "bash" in sent["/topic"].decode()
    for path, headers, body in listener.got:
        assert SECRET.encode() not in body, path
        assert SECRET not in str(headers), path
        assert str(vault).encode() not in body, path
    other = ask(server.control, vault, call_id="c2", command="make all")
    until(lambda: len(listener.got) == 4, "the second question")
    assert [json.loads(body)["approval"] for path, _, body in listener.got if path == "/hook"] == [
        approval.id,
        other.id,
    ]


def test_UI1_without_a_setting_nobody_is_told(server, listener, vault):
    before = server.hub.last
    ask(server.control, vault, command="make all")
    until(lambda: b"event: approval" in server.hub.after(before)[1])
    assert server.notifier.accepted == 0


def test_UI1_a_broken_receiver_holds_nothing_up_and_its_address_is_not_shown(server, listener, vault, capfd):
    configure(server, webhook=f"{listener.url}/broken?token={SECRET}", ntfy=f"{listener.url}/topic")
    ask(server.control, vault, command="make all")
    until(lambda: [path for path, _, _ in listener.got if path == "/topic"], "the one behind the broken one")
    assert server.notifier.failures[0] == "webhook: HTTPStatusError"
    assert SECRET not in capfd.readouterr().err


def test_UI1_the_desktop_is_told_by_its_own_program(control, vault):
    configure(control, desktop=True)
    ran: list[tuple[list[str], dict]] = []
    for platform, program in (("linux", "notify-send"), ("darwin", "osascript")):
        notifier = Notifier(
            control, lambda: "http://x", run=lambda command, **given: ran.append((command, given)), platform=platform
        )
        ask(control, vault, call_id=platform, command=f"make {platform} {SECRET}")
        notifier.round()
        assert [command[0] for command, _ in ran][-1] == program
    assert all(given["timeout"] for _, given in ran)
    assert SECRET not in str(ran)


@pytest.fixture
def control(home):
    control = Control.open(home)
    yield control
    control.close()


class Clocked:
    """A control whose time the test moves."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self.ahead = 0.0

    def __getattr__(self, name: str):
        return getattr(self._control, name)

    def clock(self) -> float:
        return self._control.clock() + self.ahead


def told_by(control, ran: list, *, fails: bool = False, **more) -> Notifier:
    def run(command, **given):
        ran.append(command)
        if fails:
            raise FileNotFoundError(command[0])

    return Notifier(control, lambda: "", run=run, platform="linux", **more)


def test_UI1_what_waited_long_before_is_not_told_again(control, vault):
    configure(control, desktop=True)
    ask(control, vault, command="make all")
    later, ran = Clocked(control), []
    later.ahead = 3600
    told_by(later, ran).round()
    assert ran == []


def test_UI1_of_many_senders_in_many_threads_one_tells(control, vault):
    """Two servers and a daemon: each looks, one sends."""
    configure(control, desktop=True)
    for number in range(5):
        ask(control, vault, call_id=f"c{number}", command=f"make part{number}")
    ran: list = []
    senders = [told_by(control, ran) for _ in range(4)]
    together = [threading.Thread(target=one.round) for one in senders for _ in range(2)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join(60)
    assert len(ran) == 5
    assert sum(one.accepted for one in senders) == 5


def test_UI1_a_sender_that_dies_is_followed_by_another_and_tries_are_bounded(control, vault):
    configure(control, desktop=True)
    approval = ask(control, vault, command="make all")
    now, ran = Clocked(control), []
    assert Claims(control.store).take(approval.id, ("desktop",), now.clock()) is not None  # and then it is killed
    told_by(now, ran).round()
    assert ran == []
    now.ahead = LEASE_SECONDS + 1
    told_by(now, ran, fails=True).round()
    assert len(ran) == 1
    now.ahead += 31
    told_by(now, ran, fails=True).round()
    assert len(ran) == 2
    for _ in range(3):
        now.ahead += 61
        told_by(now, ran).round()
    assert len(ran) == 2, "three tries in all"


def test_UI1_only_the_way_that_failed_is_tried_again(control, listener, vault):
    configure(control, webhook=f"{listener.url}/hook", desktop=True)
    ask(control, vault, command="make all")
    now, ran = Clocked(control), []
    told_by(now, ran, fails=True).round()
    now.ahead = 10
    told_by(now, ran).round()
    assert [path for path, _, _ in listener.got] == ["/hook"]
    assert len(ran) == 2


def test_UI1_a_receiver_that_never_ends_its_answer_has_been_told(control, vault):
    done = threading.Event()

    class Endless(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "1000000")
            self.end_headers()
            done.wait(60)

        def log_message(self, *given):
            pass

    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    configure(control, webhook=f"http://127.0.0.1:{receiver.server_port}/hook")
    ask(control, vault, command="make all")
    notifier = told_by(control, [])
    try:
        notifier.round()
    finally:
        done.set()
        receiver.shutdown()
        receiver.server_close()
    assert (notifier.accepted, list(notifier.failures)) == (1, [])


def test_UI1_what_was_answered_meanwhile_is_not_told(control, vault):
    configure(control, desktop=True)
    approval = ask(control, vault, command="make all")
    control.approvals.answer(approval.id, "deny", by="me")
    ran: list = []
    told_by(control, ran).round()
    assert ran == []


def test_UI1_a_daemon_lets_the_pages_server_speak_first(control, vault):
    configure(control, desktop=True)
    ask(control, vault, command="make all")
    now, ran = Clocked(control), []
    daemon = told_by(now, ran, patience=lambda: 3.0)
    daemon.round()
    assert ran == []
    now.ahead = 4
    daemon.round()
    assert len(ran) == 1


def test_UI1_claims_of_yesterday_are_forgotten(control):
    claims = Claims(control.store)
    claims.take("a", ("desktop",), 1000.0)
    claims.sweep(1000.0 + 3600)
    assert control.store.notes(PREFIX)
    claims.sweep(1000.0 + 48 * 3600)
    assert not control.store.notes(PREFIX)
