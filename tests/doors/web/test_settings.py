"""Settings, the system prompt, models and agents on the page; the user's file keeps its comments."""

import json

import pytest

from doors.web.scenes import SCRIPT
from holdfast.control import Control
from holdfast.core.setting_keys import parse_key
from holdfast.doors.web.server import Server
from holdfast.prompting import DEFAULT_PROMPT
from holdfast.store.config_file import Inline

CONFIG = """{
  // what I changed
  "agents": {"runtime": {
    "truncation": {"maxLines": 500}, // short
    "mcp": {"files": {"command": "x", "env": {"TOKEN": "hidden-value"}}},
    "models": {"local/llama": {"baseUrl": "http://127.0.0.1:8000/v1", "customContext": 32000}},
    "systemPrompt": {"mode": "default", "text": "be brief", "params": {"temperature": 0.5}}
  }}
}
"""


@pytest.fixture
def config(home):
    home.create()
    home.config.write_text(CONFIG)
    return home.config


def settings(client):
    return {setting["key"]: setting for setting in client.get("/api/settings").json()["settings"]}


def test_HK1_every_setting_has_value_origin_doc_kind_and_limits(client, config):
    found = settings(client)
    lines = found["truncation.maxLines"]
    assert (lines["value"], lines["default"], lines["isDefault"]) == (500, 2000, False)
    assert lines["origin"] == {"source": str(config), "line": 4}
    assert lines["kind"] == {"type": "integer", "nullable": False, "options": [], "min": 1, "max": None}
    assert "Lines of a tool's output" in lines["doc"]
    assert found["compaction.threshold"]["kind"]["max"] == 1.0
    assert found["mode.default"]["kind"]["options"] == ["agent", "full_access"]
    assert found["budget.maxTokens"]["kind"]["nullable"] is True
    assert found["permission.templates"]["kind"]["type"] == "list"
    assert found["language"]["section"] == ""
    assert found["language"]["isDefault"] is True
    assert all(setting["doc"] for setting in found.values())
    for key in found:
        parse_key(key)


def test_HK1_what_may_hold_a_secret_is_never_shown_nor_changed_here(client, config):
    answer = client.get("/api/settings")
    assert "hidden-value" not in answer.text
    env = settings(client)["mcp.files.env"]
    assert (list(env["value"]), env["editable"]) == (["TOKEN"], False)
    assert client.put("/api/settings", {"key": "mcp.files.env.TOKEN", "value": "x"}).status_code == 403


def test_HK1_set_and_unset_keep_comments_and_everything_else(client, config):
    done = client.put("/api/settings", {"key": "truncation.maxLines", "value": 100}).json()
    assert (done["changed"], done["setting"]["value"], done["line"]) == (True, 100, 4)
    assert config.read_text() == CONFIG.replace("500", "100")
    assert client.put("/api/settings", {"key": "truncation.maxLines", "value": 100}).json()["changed"] is False
    undone = client.put("/api/settings", {"key": "truncation.maxLines", "unset": True}).json()
    assert (undone["setting"]["isDefault"], undone["setting"]["value"]) == (True, 2000)
    assert "// what I changed" in config.read_text()
    assert client.put("/api/settings", {"key": "notify.webhook", "value": SCRIPT}).json()["setting"]["value"] == SCRIPT


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"key": "truncation.maxLines", "value": 0}, 422, "invalid_configuration"),
        ({"key": "truncation.maxLines", "value": "many"}, 422, "invalid_configuration"),
        ({"key": "mode.default", "value": "root"}, 422, "invalid_configuration"),
        ({"key": "truncation.maxLine", "value": 1}, 404, "unknown_setting"),
        ({"key": "]][", "value": 1}, 404, "unknown_setting"),
        ({"key": "permission.rules", "value": []}, 422, "changed_elsewhere"),
        ({"key": "breeds[0].id", "value": "x"}, 422, "changed_elsewhere"),
        ({"key": "truncation.maxLines"}, 422, "bad_request"),
        ({"key": "truncation.maxLines", "value": 1, "unset": True}, 422, "bad_request"),
        ({"value": 1}, 422, "bad_request"),
    ],
)
def test_HK1_what_does_not_fit_is_refused_by_name_and_nothing_is_written(client, config, body, status, code):
    answer = client.put("/api/settings", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    if code == "invalid_configuration":
        (problem,) = answer.json()["problems"]
        assert problem["key"].endswith(body["key"])
    assert config.read_text() == CONFIG


def test_HK1_what_the_command_line_gives_cannot_be_changed_here(home, vault, config):
    from doors.web.conftest import ADDRESS, Browser

    inline = Inline(environ={}, assignments=("truncation.maxLines=7",))
    server = Server(Control.open(home, inline=inline), address=ADDRESS, vault=vault, inline=inline)
    try:
        client = Browser(server).enter()
        assert settings(client)["truncation.maxLines"]["editable"] is False
        answer = client.put("/api/settings", {"key": "truncation.maxLines", "value": 9})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "overridden")
        assert config.read_text() == CONFIG
    finally:
        server.close()


def test_HK1_a_broken_edit_is_told_and_the_last_good_one_stays(client, config):
    assert settings(client)["truncation.maxLines"]["value"] == 500
    config.write_text("{ nonsense")
    page = client.get("/api/settings").json()
    assert page["problems"][0]["file"] == str(config)
    assert next(s for s in page["settings"] if s["key"] == "truncation.maxLines")["value"] == 500


# the system prompt


def test_HK5_the_default_hides_everything(client, config):
    told = client.get("/api/system-prompt")
    assert (told.json()["mode"], told.json()["custom"]) == ("default", None)
    assert "be brief" not in told.text
    assert DEFAULT_PROMPT[:40] not in told.text
    assert told.json()["limits"]["temperature"] == {"type": "number", "min": 0, "max": 2}


def test_HK5_custom_begins_with_what_was_written_and_restoring_touches_nothing_else(client, config):
    shown = client.put("/api/system-prompt", {"mode": "custom"}).json()
    assert shown["custom"] == {"text": "be brief", "params": {"temperature": 0.5, "topP": None, "maxTokens": None}}
    assert config.read_text() == CONFIG.replace('"mode": "default"', '"mode": "custom"')
    assert client.put("/api/system-prompt", {"mode": "default"}).json()["custom"] is None
    assert config.read_text() == CONFIG


def test_HK5_without_a_text_of_ones_own_custom_begins_with_the_default(client, home):
    shown = client.put("/api/system-prompt", {"mode": "custom"}).json()
    assert shown["custom"]["text"] == DEFAULT_PROMPT


def test_HK5_parameters_are_given_back_to_the_model_one_by_one(client, config):
    client.put("/api/system-prompt", {"mode": "custom", "params": {"topP": 0.9, "maxTokens": 100}})
    shown = client.put("/api/system-prompt", {"mode": "custom", "params": {"temperature": None}}).json()
    assert shown["custom"]["params"] == {"temperature": None, "topP": 0.9, "maxTokens": 100}
    text = client.put("/api/system-prompt", {"mode": "custom", "text": SCRIPT}).json()
    assert text["custom"] == {"text": SCRIPT, "params": {"temperature": None, "topP": 0.9, "maxTokens": 100}}


@pytest.mark.parametrize(
    "body",
    [
        {"mode": "custom", "params": {"temperature": 3}},
        {"mode": "custom", "text": "ok", "params": {"maxTokens": 0}},
        {"mode": "custom", "params": {"magic": 1}},
        {"mode": "default", "text": "x"},
        {"mode": "custom", "text": "x" * 200_001},
        {"mode": "other"},
        {},
    ],
)
def test_HK5_what_is_wrong_is_refused_before_anything_is_written(client, config, body):
    assert client.put("/api/system-prompt", body).status_code == 422
    assert config.read_text() == CONFIG


# models and agents


def test_CO1_models_say_where_their_window_and_their_key_come_from_and_never_the_key(client, config, home, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-seen")
    client.put("/api/settings", {"key": "model", "value": "gpt-4.1"})
    answer = client.get("/api/models")
    assert "sk-not-to-be-seen" not in answer.text
    told = answer.json()
    rows = {model["name"]: model for model in told["models"]}
    assert told["current"] == "gpt-4.1"
    assert (rows["gpt-4.1"]["windowSource"], rows["gpt-4.1"]["keySource"]) == ("table", "environment")
    local = rows["local/llama"]
    assert (local["window"], local["windowSource"], local["local"], local["needsKey"]) == (
        32_000,
        "custom",
        True,
        False,
    )
    assert (rows["offline"]["offline"], rows["offline"]["managed"]) == (True, True)
    assert any(known["pattern"] == "gpt-4.1*" for known in told["table"])
    monkeypatch.delenv("OPENAI_API_KEY")
    again = {model["name"]: model for model in client.get("/api/models").json()["models"]}
    assert again["gpt-4.1"]["keySource"] is None
    home.credentials.write_text("OPENAI_API_KEY=sk-from-a-file\n")
    home.credentials.chmod(0o600)
    last = client.get("/api/models")
    assert {m["name"]: m["keySource"] for m in last.json()["models"]}["gpt-4.1"] == "credentials"
    assert "sk-from-a-file" not in last.text


def test_HK2_agents_are_listed_with_what_is_wrong(client, config, home):
    (home.agents / "reviewer.md").write_text('---\n{description: "looks twice"}\n---\nYou review. ' + SCRIPT)
    (home.agents / "broken.md").write_text("---\n{nonsense: 1}\n---\n")
    client.put("/api/settings", {"key": "agent.id", "value": "reviewer"})
    told = client.get("/api/agents").json()
    (agent,) = told["agents"]
    assert (agent["id"], agent["chosen"], agent["description"]) == ("reviewer", True, "looks twice")
    assert agent["prompt"].endswith(SCRIPT)
    assert [problem["file"].rpartition("/")[2] for problem in told["problems"]] == ["broken.md"]
    assert client.get("/api/system-prompt").json()["agent"] == "reviewer"


def test_HK2_an_agent_that_is_not_there_is_a_problem_with_its_line(client, config):
    client.put("/api/settings", {"key": "agent.id", "value": "nobody"})
    (problem,) = client.get("/api/agents").json()["problems"]
    assert problem["file"] == str(config)
    assert problem["line"] is not None
    assert "no agent is called 'nobody'" in problem["message"]["en"]
    assert json.dumps(client.get("/api/system-prompt").json()["agent"]) == "null"
