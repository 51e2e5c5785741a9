"""Session strategies by family on the page: linked marks, families of the user's own file, and what holds for hosts."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CONFIG = """{
  "breeds": [
    // the big one
    {"id": "ragdoll", "features": {"sessionStrategy": {
      "strategy": "hybrid", "thresholds": {"warn": 0.5, "action": 0.6}}}}
  ]
}
"""


@pytest.fixture
def config(home):
    home.create()
    home.config.write_text(CONFIG)
    return home.config


def family(answer, name):
    assert answer.status_code == 200, answer.text
    return next(one for one in answer.json()["families"] if one["id"] == name)


def test_SC9_every_host_has_its_default_its_marks_and_where_it_compacts_by_itself(client, config):
    told = client.get("/api/strategies").json()
    hosts = {one["host"]: one for one in told["hosts"]}
    assert (hosts["codex"]["strategy"], hosts["gemini"]["default"]) == ("handoff", "compress")
    claude = hosts["claude-code"]
    assert (claude["warn"], claude["action"], claude["family"]) == (0.5, 0.6, "ragdoll")
    assert (hosts["gemini"]["signal"], hosts["gemini"]["compactsAt"]) == ("inferred", {"share": 0.5, "less": 0})
    assert told["limits"]["warn"] == {"min": 0.0, "max": 1.0}
    assert told["known"]["ragdoll"] == "claude-code"
    assert told["families"][0]["line"] == 4


@pytest.mark.parametrize(("warn", "action"), [(0.1, 0.2), (0.9, 0.95), (0.55, 0.58), (0.2, 0.9), (0.59, 0.99)])
def test_SC9_both_marks_move_at_once_whatever_lies_between(client, config, warn, action):
    told = family(client.put("/api/strategies/ragdoll", {"warn": warn, "action": action}), "ragdoll")
    assert (told["warn"], told["action"]) == (warn, action)
    assert "// the big one" in config.read_text()


def test_SC9_warn_must_stay_below_action(client, config):
    for body in ({"warn": 0.6}, {"action": 0.5}, {"warn": 0.9, "action": 0.8}, {"warn": 2}, {"maxCompressions": -1}):
        answer = client.put("/api/strategies/ragdoll", body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_configuration"), body
        assert config.read_text() == CONFIG


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.floats(0, 1).map(lambda x: round(x, 2)), st.floats(0, 1).map(lambda x: round(x, 2)))
def test_SC9_any_pair_of_marks_is_written_or_refused_whole(client, config, warn, action):
    before = config.read_text()
    answer = client.put("/api/strategies/ragdoll", {"warn": warn, "action": action})
    if warn < action:
        told = family(answer, "ragdoll")
        assert (told["warn"], told["action"]) == (warn, action)
    else:
        assert answer.status_code == 422
        assert config.read_text() == before


def test_SC9_a_family_is_made_changed_and_taken_away(client, config):
    made = client.put(
        "/api/strategies/reviewers",
        {"match": {"agent": "review*"}, "strategy": "hybrid", "maxCompressions": 3, "warn": 0.7, "action": 0.8},
    )
    told = family(made, "reviewers")
    assert told["match"] == {"host": "", "agent": "review*", "model": ""}
    assert (told["strategy"], told["maxCompressions"], told["sessionChain"]) == ("hybrid", 3, True)
    changed = family(client.put("/api/strategies/reviewers", {"strategy": None, "sessionChain": False}), "reviewers")
    assert (changed["strategy"], changed["sessionChain"], changed["warn"]) == (None, False, 0.7)
    reserve = family(client.put("/api/strategies/reviewers", {"budgetReserve": 5000}), "reviewers")
    assert reserve["budgetReserve"] == 5000
    gone = client.delete("/api/strategies/reviewers").json()
    assert [one["id"] for one in gone["families"]] == ["ragdoll"]
    assert client.delete("/api/strategies/reviewers").status_code == 404
    assert "// the big one" in config.read_text()


def test_SC9_the_first_family_makes_the_list(client, home):
    told = family(client.put("/api/strategies/codex", {"strategy": "compress"}), "codex")
    assert told["strategy"] == "compress"
    hosts = {one["host"]: one["strategy"] for one in client.get("/api/strategies").json()["hosts"]}
    assert hosts["codex"] == "compress"


def test_SC9_what_is_no_strategy_is_refused(client, config):
    for body in ({"strategy": "guess"}, {"warn": "high"}, {"match": {"cat": "x"}}, {"what": 1}):
        assert client.put("/api/strategies/ragdoll", body).status_code == 422
    assert config.read_text() == CONFIG
