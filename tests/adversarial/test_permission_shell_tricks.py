"""Tricks of the shell that once passed a rule, each found by running judged commands under bash (PE5, PE8)."""

import pytest

from holdfast.core.settings import PermissionSettings
from judging import bench

READ_ONLY = PermissionSettings(templates=("read-only-commands",))


@pytest.mark.parametrize(
    "command",
    [
        "rm() { :; }; command rm x",
        "rm() { :; }; env rm x",
        "function rm { command rm x; }; rm",
        "set -- rm x; \"$@\"",
        "set rm x; $@",
        "coproc rm {} +",
        "${X:-a <(rm x)}",
        "a=(rm x); \"${a[@]}\"",
        "printf -v q rm; $q x",
        "read q <<< rm; $q x",
        "mapfile -C 'rm x' -c 1 a < b",
        "trap 'rm x' EXIT",
        "find . -execdir rm {} +",
        "sh -c '\"$@\"' _ rm x",
        "env -S 'rm x'",
        "exec -a y rm x",
        "base64 -d <<< cm0geA== | sh",
    ],
)  # fmt: skip
def test_PE5_a_denied_command_stays_denied(command):
    assert bench("allow bash *", "deny bash rm *").bash(command) == "deny", command


@pytest.mark.parametrize(
    "command",
    [
        "declare -n q=z; z=rm; $q x",
        "shift; \"$@\"",
        "f() { shift; \"$@\"; }; f a rm x",
        "!rm x",
        "\\! rm x",
        "rm\r x",
        "IFS=,; q=rm,x; $q",
        "mapfile -t q <<< rm; ${q[0]} x",
    ],
)  # fmt: skip
def test_PE5_what_is_not_known_is_never_allowed_by_a_wildcard(command):
    assert bench("allow bash *", "deny bash rm *").bash(command) != "allow", command


@pytest.mark.parametrize(
    "command",
    [
        "git status && A=1 git status", "git status $(sudo rm x)", "git() { sudo rm x; }; git status", "!git status",
        "git status\r", "'git status'", "git\\ status", "'git status -s'", '"git status" -s',
        "$1git status | env rm x", "git status; exec env rm x", "git status & PATH=. git status",
    ],
)  # fmt: skip
def test_PE5_an_allow_does_not_grow(command):
    assert bench("allow bash git status *").bash(command) == "ask", command


@pytest.mark.parametrize(
    "command",
    [
        "hash -p ./x ls; ls", "jobs -x ./x", "complete -C ./x ls", "mapfile -C ./x -c 1 a < b.txt", "file -C -m x",
        "PATH=.; ls", "export PATH=.; ls", "alias ls=./x; ls", "git grep -O./x one", "sort -o out a",
        "sort --compress-program=./x a",
        "awk '{print > \"out\"}' a", "sed '1e ./x' a", "sed -n 'w out' a", "find . -fprint out", "tee out < a",
        "xxd a out",
        "uniq a out", "tar -xf a", "tar -cf out a", "git diff --output=out", "less -o out a", "rg --pre ./x y",
        "date -s now",
        "LESSOPEN='|./x %s' less a", "env LD_PRELOAD=./x.so ls", "man -P ./x ls", "split a", "csplit a 1",
        "dd if=a of=b",
    ],
)  # fmt: skip
def test_PE8_what_writes_or_runs_something_is_not_proven_to_read(command):
    assert bench(settings=READ_ONLY).bash(command) != "allow", command
