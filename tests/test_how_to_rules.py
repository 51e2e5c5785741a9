"""Every command in the how-to about rules says what the page says."""

import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from holdfast.doors.cli import cli

PAGE = Path(__file__).resolve().parent.parent / "docs" / "how-to" / "rules.md"


def examples():
    """Commands of the page with their output, in order."""
    text = PAGE.read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def test_PE3_every_example_of_the_page_runs_as_it_stands_there(tmp_path, monkeypatch):
    home, vault = tmp_path / "home", tmp_path / "vault"
    vault.mkdir()
    (vault / "notes.md").write_text("")
    (vault / "edited.jsonc").write_text("{}")
    monkeypatch.chdir(vault)
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    ran = 0
    for command, output in examples():
        program, *arguments = shlex.split(command)
        assert program == "holdfast"
        result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        assert result.stdout.replace(str(home), "HOME").split() == output.split(), command
        assert result.exit_code == 0, command
        ran += 1
    assert ran > 12
