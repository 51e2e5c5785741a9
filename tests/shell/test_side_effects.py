"""What is claimed to only read: never a command that does more, whatever option, variable or language does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.shell import read_command
from holdfast.shell.handlers.code_words import blank, unknown_words
from holdfast.shell.options import acts
from holdfast.shell.table import ALL, SIDE_EFFECTS

HERE = Path(__file__).parent


def commands(name: str) -> list[str]:
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("# ")]


def proven(command: str) -> bool:
    return read_command(command, cwd="/project", home="/home/dev").read_only


def test_PE8_none_of_thousands_of_changing_commands_is_proven_to_read() -> None:
    changers = commands("changers.txt")
    assert len(changers) > 3000
    assert [c for c in changers if proven(c)] == []


def test_PE8_commands_of_every_day_are_proven() -> None:
    readers = commands("readers.txt")
    assert len(readers) > 200
    assert [c for c in readers if not proven(c)] == []


def test_PE8_reading_is_no_alarm() -> None:
    readings = [read_command(c, cwd="/project", home="/home/dev") for c in commands("readers.txt")]
    assert [r.command for r in readings if r.risk == "dangerous"] == []


def test_every_entry_of_the_side_effects_names_a_program_that_is_known() -> None:
    known = {name for family in ALL for names in family for name in names.split("|")}
    assert [label for label in SIDE_EFFECTS if label.split(" ")[0] not in known | {"python"}] == []


@pytest.mark.parametrize(
    "command",
    [
        "GIT_TRACE=/etc/x git status",
        "LESS=-ofoo less f",
        "RUSTC=./x cargo tree",
        "env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=./x git log",
        "export PAGER='touch x'; man ls",
        "export GIT_EXTERNAL_DIFF=./x; git diff",
        "UNHEARD_OF=1 git status",
    ],
)
def test_PE8_a_variable_that_may_matter_leaves_nothing_proven(command: str) -> None:
    assert not proven(command)


@pytest.mark.parametrize(
    "command",
    ["LC_ALL=C sort f", "TZ=UTC date", "PAGER=cat git log", "x=1; echo $x", "FOO=bar ls", "NO_COLOR=1 git diff"],
)
def test_PE8_a_variable_that_only_shows_does_no_harm(command: str) -> None:
    assert proven(command)


@pytest.mark.parametrize("option", ["--log-file", "--password-command", "-toolexec", "--in-place", "--output"])
def test_PE8_an_option_may_say_that_more_is_done(option: str) -> None:
    assert acts(option)


@pytest.mark.parametrize("option", ["--no-log", "--format", "-l", "--show-output", "--max-count", "--exclude-dir"])
def test_PE8_an_option_that_shows_something_is_none(option: str) -> None:
    assert not acts(option)


@pytest.mark.parametrize(
    ("language", "code", "word"),
    [
        ("perl", "print if /it's/; unlink 'x'; print 'a'", "unlink"),
        ("perl", "s/a/b/g; print", ""),
        ("perl", "m{a/b} and rename $_, $y", "rename"),
        ("perl", "print qq(unlink it)", ""),
        ("perl", "$h{unlink}++; print $h{rename}", ""),
        ("perl", 'print "@{[unlink x]}"', "unlink"),
        ("perl", "&$f(1)", ""),
        ("ruby", "puts $_ if /it's/; File.rename 'a', 'b'", "rename"),
        ("ruby", "[1].each { |x| puts x }", ""),
        ("ruby", 'puts "#{File.delete x}"', "x"),
        ("ruby", "y = 1; puts y", ""),
        ("ruby", "%w[a b].each(&:unlink)", "unlink"),
    ],
)
def test_PE8_words_of_inline_code_are_told_from_its_texts(language: str, code: str, word: str) -> None:
    assert next(unknown_words(language, blank(language, code).text), "") == word


@pytest.mark.parametrize(
    "code", ["s/a/unlink('x')/e", "print qx(rm x)", "/(?{ unlink 'x' })/", "print <<E;\nunlink\nE\n"]
)
def test_PE8_code_inside_a_text_is_strange(code: str) -> None:
    assert blank("perl", code).strange


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("test -v 'a[$(rm x)]'", "/project/x"),
        ("[[ 'a[$(rm x)]' -eq 1 ]]", "/project/x"),
        ("v='a[$(rm x)]'; echo $((v))", "/project/x"),
        ("r='a[$(rm x)]'; echo ${!r}", "/project/x"),
        ("v='$(rm x)'; echo ${v@P}", "/project/x"),
        ("printf -v 'a[$(rm x)]' 1", "/project/x"),
        ("PS4='$(rm x)'; set -x; ls", "/project/x"),
    ],
)
def test_PE5_a_command_hidden_in_a_value_is_followed(command: str, target: str) -> None:
    reading = read_command(command, cwd="/project")
    assert target in {e.target for e in reading.effects if e.kind == "deletes"}
    assert not reading.read_only


def test_PE5_what_follows_python_m_belongs_to_the_module() -> None:
    reading = read_command("python3 -m zipfile -e a.zip out", cwd="/project")
    assert not reading.read_only
    assert proven("python3 -m zipfile -l a.zip")
