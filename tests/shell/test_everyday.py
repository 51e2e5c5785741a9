"""More than 700 everyday commands, labelled by hand: what only reads is proven, what changes never is."""

from __future__ import annotations

import json
import posixpath
from pathlib import Path
from typing import Any

import pytest

from holdfast.shell import read_command

CWD = "/project"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "everyday.jsonl").read_text("utf-8").splitlines()
]


def absolute(target: str) -> str:
    return posixpath.normpath(target if target.startswith("/") else f"{CWD}/{target}")


def test_the_set_is_large_enough() -> None:
    assert len(CASES) >= 500
    assert sum(case["read_only"] for case in CASES) >= 300


def test_PE8_most_that_only_reads_is_proven() -> None:
    readers = [case["command"] for case in CASES if case["read_only"]]
    unproven = [c for c in readers if not read_command(c, cwd=CWD, home="/home/dev").read_only]
    assert len(unproven) <= len(readers) * 0.02, unproven


def test_PE8_nothing_that_changes_is_ever_proven() -> None:
    changers = [case["command"] for case in CASES if not case["read_only"]]
    assert [c for c in changers if read_command(c, cwd=CWD, home="/home/dev").read_only] == []


def test_PE5_reading_is_no_alarm() -> None:
    readers = [case["command"] for case in CASES if case["read_only"]]
    assert [c for c in readers if read_command(c, cwd=CWD, home="/home/dev").risk == "dangerous"] == []


@pytest.mark.parametrize("kind", ["writes", "deletes"])
def test_MB4_targets_are_named(kind: str) -> None:
    missing = []
    for case in CASES:
        if kind not in case:
            continue
        reading = read_command(case["command"], cwd=CWD, home="/home/dev")
        seen = {effect.target for effect in reading.effects if effect.kind == kind}
        if not seen or not {absolute(t) for t in case[kind]} <= seen:
            missing.append((case["command"], case[kind], seen))
    assert missing == []
