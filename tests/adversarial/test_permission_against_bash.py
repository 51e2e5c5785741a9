"""What an allow lets through is all that bash then runs: random commands are judged, and run if allowed (PE5).

Bash runs them in an empty folder with a PATH that holds nothing but a harmless `git`, and tells by its own trace what
it executed.
"""

import os
import re
import subprocess

import pytest
from hypothesis import HealthCheck, assume, event, example, given, settings
from hypothesis import strategies as st

from judging import VAULT, bench

pytestmark = pytest.mark.slow

PIECES = st.sampled_from(
    [
        "git status", "git status -s", " ", " ", "\n", ";", "&&", "||", "|", "&", "$(", ")", "(", "`", "'", '"',
        "\\", "#",
        "rm x", "echo a", "eval ", "$X", "${X:-rm x}", "{ ", "; }", "<(", ">(", "> out", ">> out", "< out", "2>&1",
        "A=1 ",
        "a=1 ", "PATH=. ", "!", "((", "))", "[[ a ]]", "if ", "; then ", "; fi", "for i in a b; do ", "; done",
        "while ",
        "case a in a) ", ";; esac", "<<E\n", "\nE\n", "<<<", "f() { ", "f", "function git { ", "git() { rm x; }; ",
        "alias git=rm; ", "command ", "exec ", "env ", "timeout 1 ", "time ", "status", "git", " -s", "*", "?", "~",
        "$'rm x'", '$"x"', "${!X}", "$((1+1))", "\t", "\r", "=", "x", ".", "./git status", "builtin ",
        "trap 'rm x' EXIT; ",
    ]
)  # fmt: skip
JOINTS = st.sampled_from(
    ["; ", " && ", " || ", " | ", "\n", " & ", " > out; ", " 2>&1 | ", " -s ", " x ", " 'a b' ", " #c\n"]
)
GIT = st.sampled_from(
    ["git status", "git status -s", "timeout 1 git status", "a=1; git status", "(git status)", "! git status"]
)
# mostly what the rule allows, with something strange in one place: else hardly any would be allowed
COMMANDS = st.tuples(
    st.lists(st.tuples(GIT, JOINTS).map("".join), max_size=2).map("".join),
    st.lists(PIECES, max_size=2).map("".join),
    GIT,
    st.lists(PIECES, max_size=3).map("".join),
).map("".join)
CAGED = 'BASH_XTRACEFD=$2; PS4=$(printf "\\001"); caged=$1; set --; set -x; eval "$caged"'
RULE = "allow bash shell:git status *"


@pytest.fixture(scope="module")
def cage(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cage")
    programs = folder / "bin"
    programs.mkdir()
    git = programs / "git"
    git.write_text("#!/bin/sh\nexit 0\n")
    git.chmod(0o755)
    return folder


def executed(cage, command):
    """The simple commands that bash says it ran, in order."""
    room = cage / "room"
    room.mkdir(exist_ok=True)
    for left in room.iterdir():
        left.unlink()
    read, write = os.pipe()
    try:
        subprocess.run(
            ["/bin/bash", "--norc", "--noprofile", "-c", CAGED, "bash", command, str(write)],
            cwd=room,
            env={"PATH": str(cage / "bin"), "HOME": "/home/u"},
            pass_fds=[write],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        os.close(write)
        write = -1
        with os.fdopen(read, "rb") as trace:
            read = -1
            told = trace.read().decode("utf-8", "replace")
    finally:
        for descriptor in (read, write):
            if descriptor >= 0:
                os.close(descriptor)
    lines = [line.strip() for line in told.split("\x01") if line.strip()]
    return lines[1:]  # the first is the eval that runs it


LOOKED_THROUGH = re.compile(r"(?:(?:command(?: --)?|exec|builtin|time|timeout 1)(?: |\Z))+")
NO_PROGRAM = re.compile(
    r"(?:eval )?'?[a-z_]\w*\+?=(?:\S*|\(.*\))'?|\[\[ -n a \]\]|\(\(.*\)\)|(?:for|select|case) .*", re.DOTALL
)


def is_harmless(line):
    """`git status ...`, a variable of the script's own, or a test."""
    line = LOOKED_THROUGH.sub("", line)
    return line in ("", "git status") or line.startswith("git status ") or bool(NO_PROGRAM.fullmatch(line))


@settings(max_examples=1000)
@given(COMMANDS)
@example("git status; git status -s")
@example("git status -s > out")
@example("git status $'rm x'")
@example("git status\\\nrm x")
@example("git status #\nrm x")
@example("git status <<E\n$(rm x)\nE\n")
@example("git status <<'E'\n$(rm x)\nE\n")
@example("a=1 git status")
@example("timeout 1 git status")
@example("git status && A=1 git status")
@example("git status $(sudo rm x)")
@example("git() { sudo rm x; }; git status")
def test_PE5_bash_runs_nothing_that_was_not_allowed(cage, command):
    judged = bench(RULE).judge("bash", command=command)
    event(judged.decision)
    if judged.decision != "allow":
        return
    ran = executed(cage, command)
    assert all(is_harmless(line) for line in ran), (command, ran)


@settings(max_examples=300, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.lists(PIECES, min_size=0, max_size=6).map("".join), st.lists(PIECES, max_size=4).map("".join))
@example("", "")
@example("git status;", "")
def test_PE5_bash_never_runs_what_was_denied(cage, before, after):
    command = f"{before}rm x{after}"
    judged = bench("allow bash *", "deny bash rm *").judge("bash", command=command)
    assume(judged.decision == "allow")
    ran = executed(cage, command)
    assert not any(line == "rm x" or line.startswith("rm ") for line in ran), (command, ran)


def test_the_cage_sees_what_bash_runs(cage):
    assert executed(cage, "git status; echo a") == ["git status", "echo a"]
    assert VAULT  # judged as if in a vault, run in a cage
