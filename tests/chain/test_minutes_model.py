"""The model that writes minutes, asked over HTTP on loopback (SC7)."""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from chain.scene import Scene
from holdfast.chain.minutes_model import minutes_model
from holdfast.testing import ChatCompletionsServer, Failure, ResponsesServer, Script, Turn


def scene_for(tmp_path, url, api="chat", seconds=5):
    return Scene(
        tmp_path, digest={"model": "cheap", "timeoutSeconds": seconds}, models={"cheap": {"baseUrl": url, "api": api}}
    )


@pytest.mark.parametrize(("server", "api"), [(ChatCompletionsServer, "chat"), (ResponsesServer, "responses")])
def test_SC7_minutes_come_from_the_configured_model(tmp_path, server, api):
    with server(Script("Goal: fix it (#1).")) as model:
        scene = scene_for(tmp_path, f"{model.url}/v1", api)
        where = scene.arrive("h1").session.id
        scene.say(where, "fix it")
        scene.seal(where)
        digest = scene.chain.digests.of(scene.row(where))
        scene.close()
    assert (digest.minutes, digest.minutes_by) == ("Goal: fix it (#1).", "cheap")
    assert "#1 [user] fix it" in model.requests[0].transcript


def test_SC7_an_endpoint_that_fails_leaves_the_rules(tmp_path):
    with ChatCompletionsServer(Script(Failure(500, "no"))) as model:
        scene = scene_for(tmp_path, f"{model.url}/v1")
        where = scene.arrive("h1").session.id
        scene.say(where, "fix it")
        scene.seal(where)
        digest = scene.chain.digests.of(scene.row(where))
        assert scene.row(where).state == "sealed"
        scene.close()
    assert digest.minutes == ""
    assert "500" in digest.note
    assert digest.last_prompt == "fix it"


class Dripping(BaseHTTPRequestHandler):
    """Answers a little at a time, and comes to its end long after anybody should have waited."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        answer = json.dumps({"choices": [{"message": {"content": "late minutes"}}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(60 + len(answer)))
        self.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(60):
                self.wfile.write(b" ")
                time.sleep(0.2)
            self.wfile.write(answer)

    def log_message(self, *given):
        pass


def test_SC7_a_model_that_does_not_come_to_an_end_is_left(tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Dripping)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    scene = scene_for(tmp_path, f"http://127.0.0.1:{server.server_port}/v1", seconds=1)
    where = scene.arrive("h1").session.id
    scene.say(where, "fix it")
    scene.seal(where)
    digest = scene.chain.digests.of(scene.row(where))
    server.shutdown()
    server.server_close()
    assert (digest.minutes, digest.last_prompt) == ("", "fix it")
    assert "no minutes" in digest.note
    assert (scene.row(where).state, scene.row(where).seal_mark) == ("sealed", "")
    scene.close()


def test_SC7_a_model_that_says_nothing_is_left_at_the_deadline(tmp_path):
    with ChatCompletionsServer(Script(Turn("late minutes", first_byte_delay=10.0))) as model:
        scene = scene_for(tmp_path, f"{model.url}/v1", seconds=1)
        where = scene.arrive("h1").session.id
        scene.seal(where)
        digest = scene.chain.digests.of(scene.row(where))
        scene.close()
    assert digest.minutes == ""
    assert "no minutes" in digest.note


def test_SC7_nobody_listens(tmp_path):
    scene = scene_for(tmp_path, "http://127.0.0.1:9/v1")
    where = scene.arrive("h1").session.id
    scene.seal(where)
    assert "no minutes" in scene.chain.digests.of(scene.row(where)).note
    scene.close()


def test_SC7_without_a_model_there_is_none(tmp_path):
    scene = Scene(tmp_path)
    assert minutes_model(scene.control) is None
    scene.close()
