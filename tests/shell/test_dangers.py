"""Classes of danger, and their harmless neighbours: each line of the two lists is a case of its own wording."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.shell import CommandReading, read_command

HERE = Path(__file__).parent


def commands(name: str) -> list[str]:
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [line.replace("\\n", "\n") for line in lines if line and not line.startswith("# ")]


def reading(command: str) -> CommandReading:
    return read_command(command, cwd="/data/project", home="/home/dev")


@pytest.mark.parametrize("command", commands("dangers.txt"))
def test_PE10_what_destroys_leaks_stays_or_hides_is_dangerous(command: str) -> None:
    found = reading(command)
    assert found.risk == "dangerous", found.reason
    assert not found.read_only


@pytest.mark.parametrize("command", commands("ordinary.txt"))
def test_PE5_an_ordinary_day_is_no_alarm(command: str) -> None:
    found = reading(command)
    assert found.risk != "dangerous", found.reason


SHOWS_A_SECRET = [
    "aws secretsmanager get-secret-value --secret-id x",
    "aws ssm get-parameter --name /x --with-decryption",
    "gcloud auth print-access-token",
    "az account get-access-token",
    "kubectl get secret db -o yaml",
    "kubectl config view --raw",
    "vault kv get secret/x",
    "op read op://vault/item/password",
    "pass show mail",
    "gh auth token",
    "git cat-file blob HEAD:.env",
    "git show main:config/prod.key",
    "cat /etc/kubernetes/admin.conf",
    "cat ~/.config/containers/auth.json",
    "cat .env.bak",
    "cat .env?",
    "strings /proc/1/mem",
    "for f in $(find / -name .netrc); do cat $f; done",
    "find . -name '*.pem' | xargs cat",
]


@pytest.mark.parametrize("command", SHOWS_A_SECRET)
def test_PE10_showing_a_secret_is_said(command: str) -> None:
    found = reading(command)
    assert found.risk == "caution"
    assert found.reason_code in ("shows_secret", "reads_secret", "program"), found.reason


def test_PE5_two_readings_of_a_choice_are_both_looked_at() -> None:
    found = reading("echo 'touch a' > x.sh; [ -f y ] && echo 'touch b' > x.sh; sh x.sh")
    written = {e.target for e in found.effects if e.kind == "writes"}
    assert {"/data/project/a", "/data/project/b"} <= written
