"""The model that writes minutes, asked over HTTP on loopback (SC7)."""

import pytest

from chain.scene import Scene
from holdfast.chain.minutes_model import minutes_model
from holdfast.testing import ChatCompletionsServer, Failure, ResponsesServer, Script


def scene_for(tmp_path, url, api="chat"):
    return Scene(
        tmp_path, digest={"model": "cheap", "timeoutSeconds": 5}, models={"cheap": {"baseUrl": url, "api": api}}
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
