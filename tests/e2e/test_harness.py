"""The harness itself: deadlines, clean environments, honest skips, and the installer of the CLIs."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import time

import pytest

from e2e.cli_hosts import ClaudeCode, CliHost, Codex, Gemini, OpenCode
from e2e.installed_clis import ROOT, pinned_packages, requires_cli


class Shell(CliHost):
    """A host that is a shell: the prompt is its script."""

    name = "shell"

    def prepare(self):
        """A shell needs no settings."""

    def argv(self, prompt, arguments):
        return ["/bin/sh", "-c", prompt, "sh", *arguments]

    def transcript(self, stdout):
        return None


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path, "http://127.0.0.1:1")


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_run_gives_exit_code_output_and_events(shell):
    run = shell.run("echo plain; echo '{\"type\": \"a\"}'; echo '[1]'; echo oops >&2; cat; exit 3", stdin="typed\n")
    assert (run.exit_code, run.stderr, run.timed_out) == (3, "oops\n", False)
    assert run.stdout.endswith("typed\n")
    assert run.events == run.events_of("a") == [{"type": "a"}]
    assert "exit 3" in run.explain()


@pytest.mark.parametrize("host_class", [Shell, ClaudeCode, OpenCode, Codex, Gemini])
def test_nothing_of_the_machine_is_in_the_environment(tmp_path, host_class, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid")
    environment = host_class(tmp_path, "http://127.0.0.1:1").environment()
    assert environment["HOME"] == str(tmp_path / "home")
    assert environment["PATH"] == "/usr/bin:/bin"
    assert "secret" not in environment.values()
    assert not [name for name in environment if "PROXY" in name.upper()]


def test_the_environment_is_what_the_process_gets(shell):
    shell.extra_environment["EXTRA"] = "1"
    names = {line.split("=")[0] for line in shell.run("env").stdout.splitlines()} - {"PWD", "_", "SHLVL", "OLDPWD"}
    assert names == {"PATH", "LANG", "TERM", "HOME", "EXTRA"}


def test_at_the_deadline_the_whole_group_is_killed(shell):
    began = time.monotonic()
    run = shell.run("sleep 60 & echo $!; sleep 60", deadline=1.0)
    assert run.timed_out
    assert time.monotonic() - began < 10
    deadline = time.monotonic() + 5
    while alive(int(run.stdout)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(int(run.stdout))


def test_what_a_cli_leaves_behind_is_neither_waited_for_nor_left(shell):
    began = time.monotonic()
    run = shell.run("sleep 60 & echo $!", deadline=30)
    assert time.monotonic() - began < 10
    assert not run.timed_out
    deadline = time.monotonic() + 5
    while alive(int(run.stdout)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(int(run.stdout))


def test_output_larger_than_a_pipe_does_not_stop_the_cli(shell):
    run = shell.run(
        "i=0; while [ $i -lt 3000 ]; do echo 'a line of some forty characters, more or less'; i=$((i+1)); done"
    )
    assert run.exit_code == 0
    assert run.stdout.count("\n") == 3000


def test_a_missing_cli_is_an_installable_skip(tmp_path):
    mark = requires_cli("codex", clis=tmp_path).mark
    assert mark.args == (True,)
    assert mark.kwargs["reason"].startswith("installable: @openai/codex@0.166.0 is not in .tools/clis; run: ")


STUB_NPM = """#!/bin/sh
echo "$*" >>"$CALLS"
[ -z "$NPM_FAILS" ] || { echo "npm says no" >&2; exit 1; }
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules"
"""


@pytest.fixture
def installer(tmp_path, monkeypatch):
    """A copy of the installer with an npm that only writes down how it was called."""
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    stubs = tmp_path / ".tools" / "bin"
    stubs.mkdir(parents=True)
    for name, text in (("npm", STUB_NPM), ("node", "#!/bin/sh\nexit 0\n")):
        (stubs / name).write_text(text)
        (stubs / name).chmod(stat.S_IRWXU)
    calls = tmp_path / "calls"
    calls.touch()
    monkeypatch.setenv("CALLS", str(calls))

    def run(*arguments):
        command = [str(tmp_path / "tools" / "install_clis.sh"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        lines = calls.read_text().splitlines()
        calls.write_text("")
        return done, lines

    return run


def test_the_installer_installs_exact_versions_once(installer, tmp_path):
    done, calls = installer("codex", "gemini")
    assert done.returncode == 0, done.stderr
    assert [call.split()[-1] for call in calls] == [pinned_packages()["codex"], pinned_packages()["gemini"]]
    assert all("--no-package-lock" in call for call in calls)
    assert installer("codex", "gemini")[1] == []
    assert [call.split()[-1] for call in installer()[1]] == [pinned_packages()[n] for n in ("claude-code", "opencode")]
    assert (tmp_path / ".tools/clis/codex/installed").read_text().strip() == pinned_packages()["codex"]


def test_the_installer_takes_a_raised_version(installer, tmp_path):
    installer("codex")
    versions = tmp_path / "tools" / "cli_versions.txt"
    versions.write_text(versions.read_text().replace("0.166.0", "0.167.0"))
    done, calls = installer("--check", "codex")
    assert (done.returncode, calls) == (1, [])
    assert "missing in .tools/clis: codex" in done.stderr
    assert [call.split()[-1] for call in installer("codex")[1]] == ["@openai/codex@0.167.0"]


def test_the_installer_says_what_failed_and_leaves_no_half_of_it(installer, tmp_path, monkeypatch):
    monkeypatch.setenv("NPM_FAILS", "1")
    done, _ = installer("gemini")
    assert done.returncode == 1
    assert "npm says no" in done.stderr
    assert "could not install @google/gemini-cli@" in done.stderr
    assert not (tmp_path / ".tools/clis/gemini").exists()


def test_the_installer_knows_its_names(installer):
    done, calls = installer("emacs")
    assert (done.returncode, calls) == (2, [])
    assert "no CLI is called 'emacs'" in done.stderr
    assert "claude-code opencode codex gemini" in done.stderr
