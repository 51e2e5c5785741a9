"""`shell.commands` in the configuration: a wrong entry is told with its place, before any command is judged by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.shell import default_table, read_command
from holdfast.store.config_file import ConfigError, load_text


def configured(entries: dict[str, Any]) -> Any:
    text = json.dumps({"agents": {"runtime": {"shell": {"commands": entries}}}}, indent=2)
    return load_text(Path("config.jsonc"), text).settings.runtime.shell.commands


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"rox": True}, "unknown key 'rox'"),
        ({"ro": "yes"}, "ro must be true or false"),
        ({"risk": "bad"}, "risk must be safe, caution or dangerous"),
        ({"pos": ["nope"]}, "is not a list of roles"),
        ({"opts": {"-o": "nope"}}, "opts must map options to roles"),
        ({"fx": ["explodes"]}, "'explodes' is no effect"),
        ({"fx": "network"}, "fx must be a list"),
        ({"extends": "no-such-program"}, "is not a program that is known"),
        ({"when": [["arg~(", {"risk": "caution"}]]}, "is not right"),
        ({"when": [["-f", {"rox": True}]]}, "unknown key 'rox'"),
        ({"when": ["-f"]}, "[condition, changes]"),
        ({"sub": {"x": {"rox": True}}}, "unknown key 'rox'"),
        ({"default": {"rox": True}}, "unknown key 'rox'"),
        ({"handler": "find"}, "reserved"),
        ([], "must be a table of settings"),
    ],
)
def test_PE5_a_wrong_entry_is_refused_with_its_place(entry: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configured({"good": {"ro": True}, "mytool": entry})
    problem = caught.value.problems[0]
    assert said in problem.message.text()
    assert problem.key.endswith("shell.commands.mytool")
    assert problem.line is not None


def test_PE5_entries_may_build_on_one_another() -> None:
    table = default_table().extended(configured({"gi": {"extends": "git"}, "g2": {"extends": "gi"}}))
    assert read_command("g2 push --force", cwd="/w", table=table).risk == "dangerous"
    assert read_command("gi status", cwd="/w", table=table).read_only
