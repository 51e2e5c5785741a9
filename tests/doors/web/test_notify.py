"""UI1: being told that something waits: where the user asked for it, soon, and without the secrets of the call."""

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from doors.web.questions import ask, until
from holdfast.doors.web.notify import Notifier

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


def configure(server, **notify) -> None:
    server.home.config.write_text(json.dumps({"agents": {"runtime": {"notify": notify}}}))


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
    assert list(server.notifier.failures) == ["webhook: HTTPStatusError"]
    assert SECRET not in capfd.readouterr().err


def test_UI1_the_desktop_is_told_by_its_own_program(server, vault):
    configure(server, desktop=True)
    ran: list[tuple[list[str], dict]] = []
    for platform, program in (("linux", "notify-send"), ("darwin", "osascript")):
        notifier = Notifier(
            server.control, "http://x", run=lambda command, **given: ran.append((command, given)), platform=platform
        )
        approval = ask(server.control, vault, call_id=platform, command=f"make {platform} {SECRET}")
        notifier.waits(approval)
        until(lambda program=program: [command for command, _ in ran if command[0] == program])
        notifier.close()
    assert all(given["timeout"] for _, given in ran)
    assert SECRET not in str(ran)


def test_UI1_what_waited_long_before_the_server_came_is_not_told_again(server, vault):
    ran: list[object] = []
    approval = ask(server.control, vault, command="make all")
    notifier = Notifier(server.control, "http://x", run=lambda *given, **more: ran.append(given))
    configure(server, desktop=True)
    notifier.waits(replace(approval, created_at=approval.created_at - 3600))
    assert notifier.accepted == 0
