"""`holdfast shell explain`, as a person and as a program use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.doors.cli_shell import shell_group


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str]:
    result = CliRunner().invoke(shell_group, ["explain", *arguments], input=stdin)
    return result.exit_code, result.output


def test_PE5_in_words() -> None:
    code, text = run("sudo rm -rf build", "--cwd", "/w")
    assert code == 0
    assert text.startswith("dangerous: It deletes /w/build")
    assert "rm -rf build  (through sudo)" in text


def test_PE5_as_json() -> None:
    code, text = run("cat a", "--cwd", "/w", "--json")
    assert code == 0
    data = json.loads(text)
    assert data["read_only"] is True
    assert data["effects"] == [
        {"kind": "reads", "target": "/w/a", "by": "cat a", "whole": True, "certain": True, "path": True}
    ]


def test_PE5_lines_are_answered_one_by_one_and_a_bad_one_stops_nothing() -> None:
    lines = [
        b'{"command": "ls", "cwd": "/w"}',
        b"not json",
        b"[1]",
        b'{"command": 3}',
        b'{"command": "ls", "cwd": 3}',
        b"\xff\xfe",
        b"",
        b'{"command": "rm -rf /", "home": "/h"}',
        b'{"command": "echo \\ud800"}',
    ]
    code, text = run("--jsonl", stdin=b"\n".join(lines) + b"\n")
    assert code == 0
    answers = [json.loads(line) for line in text.splitlines()]
    assert [("error" in a) for a in answers] == [False, True, True, True, True, True, False, False]
    assert answers[0]["command"] == "ls"
    assert answers[1]["line"] == 2
    assert answers[6]["risk"] == "dangerous"
    for key in ("command", "risk", "read_only", "unknown", "effects", "reason"):
        assert key in answers[0]


def test_PE5_without_a_command_it_says_what_to_do() -> None:
    code, text = run()
    assert code == 2
    assert "--jsonl" in text


def test_PE5_programs_of_the_configuration_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.jsonc").write_text(
        '{"agents": {"runtime": {"shell": {"commands": {"mytool": {"ro": true, "opts": {"-o": "write"}}}}}}}'
    )
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    code, text = run("mytool x")
    assert (code, text.splitlines()[0]) == (0, "safe: It only reads.")
    code, text = run("--jsonl", stdin=b'{"command": "mytool -o out x", "cwd": "/w"}\n')
    assert code == 0
    assert json.loads(text)["effects"][0]["target"] == "/w/out"


def test_PE5_a_command_beside_lines_is_refused() -> None:
    code, text = run("--jsonl", "ls")
    assert code == 2
    assert "not both" in text
