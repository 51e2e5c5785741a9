"""The table of programs: well formed as shipped, extended by users, strict about mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from holdfast.shell import TableError, default_table, read_command
from holdfast.shell.commands import is_known_key
from holdfast.shell.handlers import HANDLERS
from holdfast.shell.options import Arguments, holds
from holdfast.shell.table import ALL


def entries() -> list[tuple[str, Mapping[str, Any]]]:
    found: list[tuple[str, Mapping[str, Any]]] = []
    stack = [(names, spec) for family in ALL for names, spec in family.items()]
    while stack:
        names, spec = stack.pop()
        found.append((names, spec))
        stack.extend((f"{names} {sub}", inner) for sub, inner in spec.get("sub", {}).items())
        if "default" in spec:
            stack.append((f"{names} *", spec["default"]))
    return found


def test_every_entry_has_known_keys_and_handlers() -> None:
    for names, spec in entries():
        for key, value in spec.items():
            assert is_known_key(key), (names, key)
            if key == "handler" and value is not None:
                assert value in HANDLERS, names
            if key == "risk":
                assert value in ("safe", "caution", "dangerous"), names


def test_every_condition_can_be_read() -> None:
    for names, spec in entries():
        for condition, changes in spec.get("when", ()):
            assert isinstance(holds(condition, Arguments()), bool), names
            assert all(is_known_key(key) for key in changes), (names, changes)
        if "dry" in spec:
            assert isinstance(holds(spec["dry"], Arguments()), bool), names


def test_no_reading_entry_is_dangerous_by_itself() -> None:
    for names, spec in entries():
        assert not (spec.get("ro") is True and spec.get("risk") in ("caution", "dangerous")), names


def test_the_table_is_broad() -> None:
    assert len(set(default_table().names())) > 2500
    assert "" not in set(default_table().names())


def test_users_add_a_program() -> None:
    table = default_table().extended({"mytool": {"ro": True, "pos": ["val", "read"], "opts": {"-o": "write"}}})
    assert read_command("mytool x f.txt", cwd="/w", table=table).read_only
    reading = read_command("mytool -o out x", cwd="/w", table=table)
    assert not reading.read_only
    assert [e.target for e in reading.effects if e.kind == "writes"] == ["/w/out"]
    assert read_command("mytool x", cwd="/w").unknown


def test_users_add_subcommands_and_conditions() -> None:
    table = default_table().extended(
        {
            "deployer": {
                "sub": {
                    "status|list": {"ro": True},
                    "ship": {
                        "risk": "caution",
                        "fx": ["external_state:deploy"],
                        "when": [["--now", {"risk": "dangerous"}]],
                    },
                }
            }
        }
    )
    assert read_command("deployer list", table=table).read_only
    assert read_command("deployer ship", table=table).risk == "caution"
    assert read_command("deployer ship --now", table=table).risk == "dangerous"


def test_users_build_on_a_known_program() -> None:
    table = default_table().extended({"gi": {"extends": "git"}})
    assert read_command("gi reset --hard", table=table).risk == "dangerous"
    assert read_command("gi status", table=table).read_only


def test_the_shipped_table_is_not_changed() -> None:
    default_table().extended({"ls": {"risk": "dangerous"}})
    assert read_command("ls").risk == "safe"


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ("text", "must be a table"),
        ({"rsk": "safe"}, "unknown key 'rsk'"),
        ({"risk": "low"}, "must be safe, caution or dangerous"),
        ({"pos": ["nonsense"]}, "not a list of roles"),
        ({"opts": {"-o": "nonsense"}}, "must map options to roles"),
        ({"handler": "git"}, "reserved"),
        ({"sub": []}, "must be a table of subcommands"),
        ({"sub": {"a": {"risk": 3}}}, "sub.a"),
        ({"when": ["-f"]}, "pairs"),
    ],
)
def test_a_wrong_entry_is_named(entry: object, part: str) -> None:
    with pytest.raises(TableError, match=r"shell\.commands\.tool") as caught:
        default_table().extended({"tool": entry})
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("condition", "words", "truth"),
    [
        ("-f|--force", ["-f"], True),
        ("-f|--force !--dry-run", ["--force", "--dry-run"], False),
        ("n>1", ["a", "b"], True),
        ("arg0~^rm$", ["rm"], True),
        ("-X~^delete$", ["-X", "DELETE"], True),
        ("opt~^--vacuum", ["--vacuum-size=1"], True),
    ],
)
def test_conditions(condition: str, words: list[str], truth: bool) -> None:
    from holdfast.shell.expand import Field
    from holdfast.shell.options import split_arguments

    arguments = split_arguments([Field(w) for w in words], {"-X": "val"})
    assert holds(condition, arguments) is truth


def test_versions_and_suffixes_are_the_same_program() -> None:
    for command in (
        "python3.11 -c 'import os; os.remove(\"/etc/passwd\")'",
        "mkfs.xfs /dev/sda",
        "git.exe reset --hard",
    ):
        assert read_command(command).risk == "dangerous"
