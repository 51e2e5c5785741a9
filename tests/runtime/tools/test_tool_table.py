"""All tools together: what models are told fits what the judges look at (PE1), and phones have no shell (HK6)."""

import asyncio
import json

import pytest

from holdfast.control import Control
from holdfast.core.events import ToolCall
from holdfast.core.tools import NEUTRAL_TOOLS
from holdfast.runtime.tool import ToolFailure
from holdfast.runtime.tools import all_tools, tool_specs
from holdfast.store.home import Home

DESKTOP = {tool.name: tool for tool in all_tools("desktop")}
SPECS = {**NEUTRAL_TOOLS, **tool_specs("desktop")}
JUDGED = {"read", "ls", "glob", "grep", "search_in_file", "write", "edit", "multiedit", "apply_patch", "move", "delete",
          "bash", "web_fetch", "web_search"}  # fmt: skip


def test_PE1_every_tool_stands_in_a_table():
    assert {name for name in DESKTOP if name not in SPECS} == set()
    assert set(DESKTOP) >= JUDGED


@pytest.mark.parametrize("name", sorted(JUDGED))
def test_PE1_what_the_schema_names_is_what_the_judges_look_at(name):
    spec = SPECS[name]
    keys = {*spec.reads, *spec.writes, *spec.deletes, *spec.folders, *spec.globs, *spec.patches, *spec.urls,
            *spec.queries, *spec.commands, *spec.cwd_keys}  # fmt: skip
    properties = DESKTOP[name].parameters["properties"]
    assert keys & set(properties), f"{name} names nothing that is judged"
    # A property that names a place must be one of the judged keys.
    for place in ("path", "source", "destination", "patch", "url", "query", "command", "workdir", "include"):
        assert place not in properties or place in keys


@pytest.mark.parametrize("tool", all_tools("desktop"), ids=lambda tool: tool.name)
def test_schemas_and_descriptions_are_fit_for_models(tool):
    json.dumps(tool.parameters)
    assert tool.parameters["type"] == "object"
    assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
    assert tool.parameters["additionalProperties"] is False
    assert 40 < len(tool.description) < 1200
    for name, about in tool.parameters["properties"].items():
        assert "type" in about, name


def test_HK6_the_mobile_profile_has_no_shell():
    names = {tool.name for tool in all_tools("mobile")}
    assert names == set(DESKTOP) - {"bash", "bash_output", "bash_stop"}
    assert not tool_specs("mobile")
    assert all_tools("elsewhere") == ()


@pytest.mark.parametrize("tool", all_tools("desktop"), ids=lambda tool: tool.name)
def test_an_empty_input_is_answered_not_raised(bench, tool):
    if tool.parameters["required"]:
        with pytest.raises(ToolFailure, match=r".{10}"):
            asyncio.run(tool.run(bench.context(), {}))
    else:
        assert asyncio.run(tool.run(bench.context(), {})).text


def test_PE1_the_examiner_finds_the_same_files_as_the_tools(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "real.txt").write_text("x")
    (vault / "link.txt").symlink_to("real.txt")
    control = Control.open(Home(tmp_path / "home"), tools=tool_specs("desktop"))
    try:
        call = control.examine(ToolCall("1", "read", {"path": "link.txt"}, cwd=str(vault)), str(vault))
        assert [access.path for access in call.accesses] == [str(vault / "real.txt")]
        for name in ("bash_output", "bash_stop", "manage_plan"):
            assert control.examine(ToolCall("2", name, {"job": "job-1"}, cwd=str(vault)), str(vault)).domain == "none"
    finally:
        control.close()
