"""The command line as a whole: its table, its errors and its exit codes."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from holdfast._version import __version__
from holdfast.doors.cli import COMMANDS, cli
from holdfast.doors.lazy_group import EXIT_OF, LazyCommand, LazyGroup, failure_of

# Programs of their own, which talk instead of answering: a person, a browser or another program is at the other end.
CONVERSATIONS = {"chat", "tour", "serve", "mcp", "hook"}


def leaves(command, path=()):
    """Every command that does something, with its path."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from leaves(command.get_command(context, name), (*path, name))
    else:
        yield " ".join(path), command


def test_version(holdfast):
    assert holdfast("--version").out == f"holdfast, version {__version__}\n"


def test_help_names_every_command_that_is_there_and_no_other(holdfast):
    said = holdfast("--help").out
    for line in COMMANDS:
        offered = f"\n  {line.name} " in said
        assert offered == (line.exists() and not line.hidden), line.name


def test_a_command_whose_module_is_not_there_is_not_offered():
    group = LazyGroup(table=[LazyCommand("gone", "holdfast.no_such_module:x", "Nothing.")])
    assert group.list_commands(click.Context(group)) == []
    result = CliRunner().invoke(group, ["gone"])
    assert result.exit_code == 2
    assert "no command 'gone'" in result.stderr


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: line.name)
def test_every_line_of_the_table_leads_to_a_command_with_help(line):
    if not line.exists():
        assert cli.get_command(click.Context(cli), line.name) is None
        return
    command = line.load()
    assert isinstance(command, click.Command)
    assert command.help
    assert len(line.help) <= 60
    assert line.help.endswith(".")


def test_every_command_can_answer_in_json():
    without = [
        path
        for path, command in leaves(cli)
        if path.split()[0] not in CONVERSATIONS and not any("--json" in option.opts for option in command.params)
    ]
    assert without == []


def test_every_option_and_command_has_help():
    for path, command in leaves(cli):
        assert command.help, path
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, f"{path} {option.name}"


# -- errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["confg"], "holdfast: no command 'confg'; did you mean 'config'? (see holdfast --help)"),
        (["config", "nope"], "holdfast: No such command 'nope' (see holdfast config --help)"),
        (["config", "show", "--nope"], "holdfast: No such option '--nope' (see holdfast config show --help)"),
        (["config", "set", "model"], "holdfast: Missing argument 'VALUE' (see holdfast config set --help)"),
        (["--zzz"], "holdfast: No such option '--zzz' (see holdfast --help)"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(holdfast, arguments, said):
    ran = holdfast(*arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", said + "\n")


def test_no_command_shows_the_help():
    ran = CliRunner().invoke(cli, [], prog_name="holdfast")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("Usage: holdfast")


@pytest.mark.parametrize(("name", "code"), EXIT_OF.items())
def test_each_known_error_exists_and_has_its_exit_code(name, code):
    module, _, kind = name.rpartition(".")
    error = getattr(__import__(module, fromlist=[kind]), kind)
    made = error([]) if kind == "ConfigError" else error("what happened")
    assert failure_of(made).exit_code == code


def test_an_error_of_ours_is_told_as_such_and_without_a_traceback():
    @click.command()
    def broken() -> None:
        raise ZeroDivisionError("oh")

    group = LazyGroup()
    group.get_command = lambda ctx, name: broken
    result = CliRunner().invoke(group, ["broken"])
    assert result.exit_code == 70
    assert result.stderr.startswith("holdfast: internal error, which is a fault of Holdfast and not yours: ZeroDiv")
    assert "Traceback" not in result.stderr
    debug = CliRunner().invoke(group, ["broken"], env={"HOLDFAST_DEBUG": "1"})
    assert isinstance(debug.exception, ZeroDivisionError)


def test_an_interruption_has_its_own_exit_code():
    @click.command()
    def interrupted() -> None:
        raise KeyboardInterrupt

    group = LazyGroup()
    group.get_command = lambda ctx, name: interrupted
    assert CliRunner().invoke(group, ["interrupted"]).exit_code == 130


def test_a_home_that_cannot_be_made_is_one_line_and_exit_code_5(holdfast):
    ran = CliRunner().invoke(cli, ["--home", "/proc/holdfast-home", "init"])
    assert ran.exit_code == 5
    assert ran.stderr.startswith("holdfast: /proc/holdfast-home cannot be made: ")
    assert ran.stderr.count("\n") == 1


def test_HK1_no_command_runs_on_a_broken_configuration(holdfast):
    holdfast.home.mkdir()
    holdfast.config.write_text('{\n  "agents": {"runtime": {"truncation": {"maxLines": "x"}}}\n}')
    before = holdfast.config.read_bytes()
    for arguments in (["config", "show"], ["config", "get", "model"], ["config", "set", "model", "y"], ["init"]):
        ran = holdfast(*arguments)
        assert ran.code == 3, arguments
        assert ran.err.startswith(f"holdfast: {holdfast.config}:2:53: agents.runtime.truncation.maxLines: expected")
    assert holdfast.config.read_bytes() == before


# -- as a real process


def run(*arguments, home, stdin=None, **environ):
    command = [sys.executable, "-c", "from holdfast.doors.cli import main; main()", *arguments]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "HOLDFAST_HOME": str(home / "h"), **environ}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment, cwd=home, input=stdin
    )


@pytest.mark.e2e
def test_the_program_as_a_process(tmp_path):
    made = run("init", home=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert run("config", "path", home=tmp_path).stdout == f"{tmp_path}/h/config.jsonc\n"
    broken = run("config", "show", home=tmp_path, HOLDFAST_CONFIG_INLINE="{")
    assert broken.returncode == 3
    assert broken.stderr.startswith("holdfast: environment variable HOLDFAST_CONFIG_INLINE:1:2: ")


@pytest.mark.e2e
def test_a_reader_that_goes_away_is_no_error(tmp_path):
    command = f"{sys.executable} -c 'from holdfast.doors.cli import main; main()' config show --origin | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True, text=True, timeout=60, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.startswith("mode.default")
    assert done.stderr == ""


@pytest.fixture
def place_for_everybody():
    """A folder that another user can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="holdfast-tests-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.e2e
def test_a_read_only_home_is_a_clear_error_and_loses_nothing(place_for_everybody):
    """As a user who may not write there: for root every folder is writable."""
    home = place_for_everybody / "h"
    assert run("init", home=place_for_everybody).returncode == 0
    before = (home / "config.jsonc").read_bytes()
    for path in (home, *home.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    become = "import os; os.setgid(65534); os.setuid(65534); " if os.geteuid() == 0 else ""
    code = (
        "import holdfast.doors.cli_config, holdfast.store.config_write, pyjson5; from holdfast.doors.cli import main; "
    )
    done = subprocess.run(
        [sys.executable, "-c", code + become + "main()", "config", "set", "model", "x"],
        capture_output=True, text=True, timeout=60, check=False, cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": "/", "HOLDFAST_HOME": str(home)},
    )  # fmt: skip
    for path in (home, *home.rglob("*")):
        path.chmod(0o755)
    assert (done.returncode, done.stderr) == (
        3,
        f"holdfast: {home}/config.jsonc: cannot be written: Permission denied; nothing was changed\n",
    )
    assert (home / "config.jsonc").read_bytes() == before
