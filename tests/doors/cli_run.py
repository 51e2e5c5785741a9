"""Runs `holdfast` in this process, on a home of its own."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.doors.cli import cli


@dataclass
class Ran:
    code: int
    out: str
    err: str

    def data(self):
        return json.loads(self.out)


class Holdfast:
    """`holdfast("config", "path")` runs it; `home` and `vault` are temporary."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.vault = folder / "vault"
        self.vault.mkdir()

    @property
    def config(self) -> Path:
        return self.home / "config.jsonc"

    def __call__(self, *arguments: str, **environ: str) -> Ran:
        before = ("--home", str(self.home), "--vault", str(self.vault))
        result = CliRunner().invoke(cli, [*before, *arguments], env=environ, prog_name="holdfast")
        return Ran(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def holdfast(tmp_path):
    return Holdfast(tmp_path)
