"""Completion: each shell gets a script, and the script's question is answered without importing any command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(holdfast, shell):
    ran = holdfast("completion", shell)
    assert ran.code == 0
    assert f"_HOLDFAST_COMPLETE={shell}_complete" in ran.out
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=ran.out, text=True, check=True, timeout=30)


def complete(words):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "_HOLDFAST_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    code = "from holdfast.doors.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_options_and_choices_are_completed():
    assert complete("holdfast con") == ["config"] or "config" in complete("holdfast con")
    assert complete("holdfast config va") == ["validate"]
    assert "--origin" in complete("holdfast config show --")
    assert complete("holdfast completion z") == ["zsh"]
    assert "--home" in complete("holdfast --h")


def test_a_hidden_command_is_not_completed():
    assert "hook" not in complete("holdfast ho")


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("bash") is None, reason="installable: bash")
@pytest.mark.parametrize(
    ("line", "offered"),
    [("holdfast config va", ["validate"]), ("holdfast audit ver", ["verify"]), ("holdfast completion f", ["fish"])],
)
def test_bash_completes_after_the_script_was_evaluated(line, offered):
    code = (
        'eval "$(holdfast completion bash)" && complete -p holdfast >/dev/null || exit 9\n'
        f"COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()\n"
        '"$(complete -p holdfast | sed "s/.*-F \\([^ ]*\\).*/\\1/")" holdfast\n'
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": path, "HOME": os.environ["HOME"]},
    )
    assert (done.returncode, done.stdout.split()) == (0, offered), done.stderr
