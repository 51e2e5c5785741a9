"""`holdfast config` and `holdfast init`: what they show, what they write, and what they refuse."""

import json
import re
import stat
from pathlib import Path

import pytest

from holdfast.core.settings import DEFAULTS
from holdfast.doors.config_template import template
from holdfast.store.config_file import Inline, load_config, load_text

# -- init


def test_init_makes_a_private_home_and_a_commented_configuration(holdfast):
    ran = holdfast("init", "--json")
    assert ran.code == 0
    assert str(holdfast.config) in ran.data()["made"]
    assert stat.S_IMODE(holdfast.home.stat().st_mode) == 0o700
    assert stat.S_IMODE(holdfast.config.stat().st_mode) == 0o600
    assert load_config(holdfast.config, Inline({})).settings == DEFAULTS


def test_init_never_overwrites(holdfast):
    holdfast.home.mkdir()
    holdfast.config.write_text("{} // mine")
    assert holdfast("init").code == 0
    assert holdfast.config.read_text() == "{} // mine"
    assert holdfast("init", "--json").data()["made"] == []


def test_every_line_of_the_template_can_be_taken_out_of_its_comment(tmp_path):
    live = re.sub(r'^( *)// (?=[ /]*(?:"|\}|\]|//|\{ "domain))', r"\1", template(), flags=re.MULTILINE)
    settings = load_text(tmp_path / "config.jsonc", live, Inline({})).settings
    rules = settings.runtime.permission.rules
    assert len(rules) == 2
    bare = load_text(tmp_path / "config.jsonc", re.sub(r'^ *\{ "domain.*\n', "", live, flags=re.MULTILINE), Inline({}))
    assert bare.settings == DEFAULTS
    given = bare.layers[0].data["agents"]["runtime"]
    assert given["truncation"] == {"maxLines": 2000, "maxBytes": 51200, "ttlDays": 7}
    assert len(given) == len(DEFAULTS.runtime.__slots__)


# -- show and get


def test_show_prints_the_whole_configuration_as_json(holdfast):
    data = holdfast("config", "show").data()
    assert data["agents"]["runtime"]["truncation"]["maxLines"] == 2000
    assert holdfast("config", "show", "--json").data() == data


def test_show_changed_prints_only_what_was_given(holdfast):
    ran = holdfast("--set", "truncation.maxLines=5", "config", "show", "--changed")
    assert ran.data() == {"agents": {"runtime": {"truncation": {"maxLines": 5}}}}


def test_HK1_show_origin_says_where_each_value_comes_from(holdfast):
    holdfast.home.mkdir()
    holdfast.config.write_text('{"agents": {"runtime": {\n"truncation": {"maxLines": 7},\n"model": "m"}}}')
    ran = holdfast("--set", "model=n", "config", "show", "--origin", "--json", MEMORY_BANK_GUARD_MODE="off")
    origins = {entry["key"]: (entry["value"], entry["origin"], entry["line"]) for entry in ran.data()}
    assert origins["truncation.maxLines"] == (7, str(holdfast.config), 2)
    assert origins["truncation.maxBytes"] == (51200, "default", None)
    assert origins["model"] == ("n", "--set model=n", None)
    assert origins["memory.guardMode"] == ("off", "environment variable MEMORY_BANK_GUARD_MODE", None)
    text = holdfast("config", "show", "--origin", "--changed").out.splitlines()
    assert f"truncation.maxLines  = 7    ({holdfast.config}:2)" in text


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("truncation.maxLines", "2000"),
        ("agents.runtime.truncation.maxLines", "2000"),
        ("profile", "desktop"),
        ("doomLoop.enabled", "true"),
        ("compaction.protectedTools[0]", "task"),
        ("budget.maxTokens", "null"),
    ],
)
def test_get_prints_text_plainly_and_the_rest_as_json(holdfast, key, text):
    assert holdfast("config", "get", key).out == text + "\n"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("truncation.maxLine", "no setting is called 'agents.runtime.truncation.maxLine'; did you mean 'maxLines'?"),
        ("nonsense..x", "is not a key"),
        ("permission.rules[3]", "is not set"),
        ("truncation.maxLines.x", "agents.runtime.truncation.maxLines has no parts of that name"),
    ],
)
def test_get_of_what_is_not_there_says_so(holdfast, key, said):
    ran = holdfast("config", "get", key)
    assert ran.code == 2
    assert said in ran.err


# -- set and unset


def test_set_changes_one_place_of_the_file(holdfast):
    holdfast("init")
    before = holdfast.config.read_text()
    ran = holdfast("config", "set", "truncation.maxLines", "500")
    assert ran.code == 0
    assert ran.out.startswith(f"{holdfast.config}:")
    assert holdfast("config", "get", "truncation.maxLines").out == "500\n"
    kept = holdfast.config.read_text()
    assert [line for line in before.splitlines() if line not in kept.splitlines()] == []
    assert holdfast("config", "set", "truncation.maxLines", "500", "--json").data()["changed"] is False


def test_set_takes_text_without_quotes_and_json_otherwise(holdfast):
    for key, given, value in (
        ("model", "gpt-4o", "gpt-4o"),
        ("model", '"quoted"', "quoted"),
        ("mode.default", "full_access", "full_access"),
        ("compaction.pinned", '["a", "b"]', ["a", "b"]),
        ('models["gpt-4.1"].customContext', "1000000", 1_000_000),
        ("budget.maxCost", "null", None),
    ):
        assert holdfast("config", "set", key, given).code == 0, key
        assert holdfast("config", "get", key, "--json").data()["value"] == value


@pytest.mark.parametrize(
    ("key", "value", "code", "said"),
    [
        ("truncation.maxLines", "0", 3, "must be at least 1, got 0; nothing was written"),
        ("truncation.maxLines", "many", 2, "'many' is no value for truncation.maxLines"),
        ("mode.default", "root", 3, "expected one of 'agent', 'full_access', got 'root'; nothing was written"),
        ("nope", "1", 2, "no setting is called 'nope'"),
        ("permission.rules", '[{"domain": "bash", "pattern": "regex:(?=a)", "decision": "deny"}]', 3, "lookaround"),
    ],
)
def test_set_refuses_what_does_not_fit_and_writes_nothing(holdfast, key, value, code, said):
    ran = holdfast("config", "set", key, value)
    assert ran.code == code
    assert said in ran.err
    assert not holdfast.config.exists()


def test_unset_brings_the_default_back(holdfast):
    holdfast("config", "set", "truncation.maxLines", "500")
    ran = holdfast("config", "unset", "truncation.maxLines", "--json")
    assert ran.data()["changed"] is True
    assert "500" in Path(ran.data()["backup"]).read_text()
    assert holdfast("config", "get", "truncation.maxLines").out == "2000\n"
    assert holdfast("config", "unset", "truncation.maxLines", "--json").data()["changed"] is False


# -- validate


def test_validate_of_a_right_file(holdfast):
    assert "the defaults hold" in holdfast("config", "validate").out
    holdfast("init")
    ran = holdfast("config", "validate", "--json")
    assert (ran.code, ran.data()["valid"], ran.data()["problems"]) == (0, True, [])


def test_validate_names_every_problem_of_configuration_and_agents(holdfast):
    holdfast("init")
    holdfast.config.write_text('{\n"agents": {"runtime": {"truncation": {"maxLines": 0}, "x": 1}}}')
    (holdfast.home / "agents" / "bad.md").write_text("---\nnam: x\n---\n")
    ran = holdfast("config", "validate", "--json")
    assert ran.code == 3
    found = [(problem["line"], problem["key"]) for problem in ran.data()["problems"]]
    assert found == [(2, "agents.runtime.truncation.maxLines"), (2, "agents.runtime.x"), (2, "nam")]
    assert len(holdfast("config", "validate").out.splitlines()) == 3


def test_HK2_validate_and_the_doctor_name_an_agent_that_is_not_there(holdfast):
    holdfast("init")
    holdfast.config.write_text('{"agents": {"runtime": {\n"agent": {"id": "nobody"}}}}')
    ran = holdfast("config", "validate")
    assert ran.code == 3
    assert ran.out.startswith(f"{holdfast.config}:2: agents.runtime.agent.id: no agent is called 'nobody'")
    told = holdfast("doctor", "config", "--json").data()
    assert [finding["check"] for finding in told["findings"] if finding["level"] == "problem"] == ["agents"]


def test_validate_of_another_file(holdfast, tmp_path):
    other = tmp_path / "other.jsonc"
    other.write_text("{")
    ran = holdfast("config", "validate", str(other))
    assert ran.code == 3
    assert ran.out == f"{other}:1:2: expected a key or `}}`, found the end of the file\n"
    assert holdfast("config", "validate", str(tmp_path / "gone")).code == 2


def test_path(holdfast):
    assert holdfast("config", "path").out == f"{holdfast.config}\n"
    assert json.loads(holdfast("config", "path", "--json").out) == {"path": str(holdfast.config), "exists": False}
