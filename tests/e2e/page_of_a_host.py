"""A how-to page about a host, carried out as a reader would: in a shell, in order, with the real CLI.

Each `$ command` of the page's console blocks is run; the lines below it must be found in what it prints, in their
order. `…` in such a line stands for anything.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from e2e.cli_hosts import CliHost

HOW_TO = Path(__file__).resolve().parent.parent.parent / "docs" / "how-to"
SECONDS = 280.0
"""For one command; a host's run on a busy machine is the longest."""


def commands_of(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command of the page with the lines that are to be found in its output."""
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, [line.strip() for line in output.splitlines() if line.strip()]


class Reader:
    """Somebody with an empty home directory, the host's CLI and `holdfast` in PATH."""

    def __init__(self, host: CliHost, program: str, argv: list[str]) -> None:
        self.host = host
        self.home = host.home / ".holdfast"
        bin_folder = host.home / "bin"
        bin_folder.mkdir()
        own = Path(sys.executable).parent / "holdfast"
        for name, line in (("holdfast", [str(own)]), (program, argv)):
            path = bin_folder / name
            path.write_text(f'#!/bin/sh\nexec {shlex.join(line)} "$@"\n')
            path.chmod(0o755)
        environment = host.environment()
        self.environment = {**environment, "PATH": f"{bin_folder}:{environment['PATH']}"}

    def does(self, command: str) -> str:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.host.workspace,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}"
        return done.stdout


def assert_told(command: str, wanted: list[str], printed: str) -> None:
    """The wanted lines, one after the other; others may stand between them."""
    lines = iter(printed.splitlines())
    for line in wanted:
        pattern = ".*".join(map(re.escape, line.split("…")))
        assert any(re.fullmatch(pattern, said.strip()) for said in lines), f"$ {command}\nwanted {line!r} in\n{printed}"
