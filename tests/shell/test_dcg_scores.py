"""The labelled commands of a rival, read from outside the project; skipped where they are not."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from holdfast.shell import read_command

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "dcg"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="corpus: shared/data/dcg is not beside the checkout")
LEFT_OUT = ("future_packs.toml", "regex_worst_case.toml")


def corpus() -> list[tuple[str, bool]]:
    cases = []
    for path in sorted((DATA / "corpus").rglob("*.toml")):
        if path.name in LEFT_OUT:
            continue
        for entries in tomllib.loads(path.read_text("utf-8")).values():
            for case in entries if isinstance(entries, list) else ():
                command = case.get("command", "")
                if command.strip() and not command.strip().startswith('{"'):
                    cases.append((command, (case.get("expected") or case.get("expected_decision")) == "deny"))
    return cases


def fixtures() -> list[tuple[str, bool]]:
    cases = []
    for name, destructive in (("destructive_commands.yaml", True), ("safe_commands.yaml", False)):
        for line in (DATA / "fixtures" / name).read_text("utf-8").splitlines():
            match = re.match(r"\s*- command: (.*)$", line)
            if match is None:
                continue
            value = match[1].strip()
            if value[0] in "\"'":
                value = value[1:-1].replace('\\"', '"') if value[0] == '"' else value[1:-1]
            cases.append((value, destructive))
    return cases


def score(cases: list[tuple[str, bool]]) -> tuple[float, float]:
    bad = [read_command(c, cwd="/project", home="/home/user").risk == "dangerous" for c, label in cases if label]
    good = [read_command(c, cwd="/project", home="/home/user").risk == "dangerous" for c, label in cases if not label]
    return sum(bad) / len(bad), sum(good) / len(good)


def test_PE5_corpus() -> None:
    caught, false_alarms = score(corpus())
    assert caught >= 0.97
    assert false_alarms <= 0.05


def test_PE5_fixtures() -> None:
    caught, false_alarms = score(fixtures())
    assert caught >= 0.95
    assert false_alarms <= 0.05
