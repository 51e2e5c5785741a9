"""The daemon's two doors: who may enter, what they hear, and that one slow question holds up nobody."""

import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.doors.daemon import Daemon
from holdfast.doors.daemon_doors import AlreadyRunning, open_doors
from holdfast.hosts.host import Reply


class Served:
    """A daemon in a thread of its own."""

    def __init__(self, home, answer):
        self._ready = threading.Event()
        self._home = home
        self._answer = answer
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        self.port = self.doors.port

    def _run(self):
        self.doors = open_doors(self._home / "run")
        self.daemon = Daemon(self.doors, self._answer, token="secret")
        self._ready.set()
        self.daemon.serve()

    def stop(self):
        self.daemon.stop()
        self._thread.join(10)
        assert not self._thread.is_alive()


@pytest.fixture
def served(tmp_path):
    seen, how, later, release = [], [], [], threading.Event()

    def answer(host, payload, asked):
        seen.append((host, payload))
        how.append(asked)
        if payload == b"slow":
            assert release.wait(60)
        return Reply(0, b'{"from":"' + host.encode() + b'"}', after=lambda: later.append(host))

    server = Served(tmp_path, answer)
    server.seen, server.how, server.later, server.release = seen, how, later, release
    yield server
    release.set()
    server.stop()
    server.doors.local.close()
    server.doors.web.close()


def post(port, path="/hook/claude-code", token="secret", body=b"{}", host="127.0.0.1", **headers):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        given = {"host": f"{host}:{port}", "authorization": f"Bearer {token}", **headers}
        link.request("POST", path, body, given)
        reply = link.getresponse()
        return reply.status, reply.read()
    finally:
        link.close()


def test_a_hook_is_answered_over_http(served):
    assert post(served.port) == (200, b'{"from":"claude-code"}')


@pytest.mark.parametrize(
    "how",
    [
        {"token": "wrong"},
        {"token": ""},
        {"host": "evil.example"},
        {"origin": "http://127.0.0.1"},
        {"origin": "null"},
    ],
)
def test_strangers_do_not_enter(served, how):
    status, body = post(served.port, **how)
    assert status == 403
    assert b"token" in body
    assert served.seen == []


def test_an_oversized_body_is_not_read(served):
    link = socket.create_connection(("127.0.0.1", served.port), timeout=10)
    with link:
        link.sendall(b"POST /hook/x HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n")
        assert link.recv(100) == b""
    assert served.seen == []


def test_a_kept_connection_serves_many_hooks(served):
    link = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    headers = {"authorization": "Bearer secret"}
    for number in range(50):
        link.request("POST", "/hook/opencode", json.dumps({"n": number}), headers)
        assert link.getresponse().read() == b'{"from":"opencode"}'
    link.close()
    assert len(served.seen) == 50


def test_the_socket_speaks_both_protocols(served, tmp_path):
    for request, expected in (
        (b"HOOK codex 2 30 attended=1;thread=a-b\n{}", b'0 16 0\n{"from":"codex"}'),
        (b"POST /hook/gemini HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", b'{"from":"gemini"}'),
    ):
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(10)
            link.connect(str(tmp_path / "run" / "daemon.sock"))
            link.sendall(request)
            link.shutdown(socket.SHUT_WR)
            answer = b""
            while part := link.recv(4096):
                answer += part
            assert answer.endswith(expected)
    assert (served.how[0].deadline, served.how[0].environment) == (30.0, {"attended": "1", "thread": "a-b"})
    assert served.how[1].deadline is None


def test_an_http_hook_tells_its_deadline(served):
    assert post(served.port, path="/hook/claude-code?deadline=310")[0] == 200
    assert served.how[0].deadline == 310


def test_what_is_left_to_do_is_done_after_the_answer(served):
    post(served.port)
    deadline = time.monotonic() + 5
    while not served.later and time.monotonic() < deadline:
        time.sleep(0.01)
    assert served.later == ["claude-code"]


def test_one_slow_question_holds_up_nobody(served):
    """Nor do many: each holds a thread, and others are called."""
    with ThreadPoolExecutor(40) as pool:
        slow = [pool.submit(post, served.port, body=b"slow") for _ in range(40)]
        for _ in range(20):
            assert post(served.port)[0] == 200
        assert not any(question.done() for question in slow)
        served.release.set()
        assert [question.result(60)[0] for question in slow] == [200] * 40


def test_only_one_daemon_per_home(served, tmp_path):
    with pytest.raises(AlreadyRunning):
        open_doors(tmp_path / "run")
    assert post(served.port)[0] == 200


def test_only_the_owner_can_open_its_files(served, tmp_path):
    assert (tmp_path / "run" / "daemon.sock").stat().st_mode & 0o077 == 0
    assert (tmp_path / "run" / "port").stat().st_mode & 0o077 == 0
