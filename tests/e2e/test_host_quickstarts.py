"""HO1: the four pages that bring Holdfast into a coding agent, carried out word for word with the real CLIs."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.attached import Later
from e2e.cli_hosts import CliHost
from e2e.installed_clis import find_node, requires_cli
from e2e.kits import KITS, Scripted
from e2e.page_of_a_host import HOW_TO, Reader, assert_told, commands_of
from holdfast.doors import daemon_process
from holdfast.hosts.attach.service import INSTALLERS
from holdfast.store.home import Home

PROGRAMS = {
    "claude-code": "node_modules/@anthropic-ai/claude-code-*/claude",
    "opencode": "node_modules/.bin/opencode",
    "codex": "node_modules/@openai/codex-*/vendor/*/bin/codex",
    "gemini": "node_modules/@google/gemini-cli/bundle/gemini.js",
}
KEPT_BY_THE_HOST = (
    "projects",
    "backups",
    "sessions",
    "tmp",
    ".cache",
    "cache",
    "logs",
    "log",
    "history",
    "shell_snapshots",
)
"""Folders in which a host keeps what has happened: transcripts tell of us, and are not ours."""


class OwnHome(Scripted):
    """A host and its scripted model, with nothing of Holdfast's yet."""

    def __init__(self, name: str, folder: Path) -> None:
        self.kit = KITS[name]
        self.later = Later()
        self.server = self.kit.server_class(self.later)
        self.server.start()
        self.host = self.kit.host_class(folder, self.server.url)

    def reader(self) -> Reader:
        name = self.host.name
        found = self.host.program(PROGRAMS[name])
        argv = [str(find_node()), found] if name == "gemini" else [found]
        return Reader(self.host, INSTALLERS[name].program, argv)


def settings_of(host: CliHost) -> dict[Path, bytes]:
    """What a reader has in the host's own folders, but for what the host keeps of its sessions."""
    found = {}
    for path in sorted(host.home.rglob("*")):
        place = path.relative_to(host.home).parts
        if place[0] in (".holdfast", "bin") or set(place[:-1]) & set(KEPT_BY_THE_HOST) or not path.is_file():
            continue
        if path.suffix in (".json", ".jsonc", ".toml", ".md"):
            found[path] = path.read_bytes()
    return found


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    """Two of them take long to start, and a page starts them often."""
    return [requires_cli(name), *([pytest.mark.full] if name in ("gemini", "opencode") else [])]


@pytest.mark.timeout(1200)  # thirteen commands in a row, each with a deadline of its own
@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in KITS])
def test_HO1_the_page_about_a_host_can_be_followed(tmp_path, name):
    it = OwnHome(name, tmp_path)
    reader = it.reader()
    before = settings_of(it.host)
    write = it.kit.write(it, "notes.md", "secret/keys.txt")
    it.play(write, "All done.")
    ran = 0
    try:
        for command, wanted in commands_of(HOW_TO / f"{name}.md"):
            printed = reader.does(command)
            assert_told(command, wanted, printed)
            if command.endswith("--dry-run"):
                assert settings_of(it.host) == before, "a dry run changes nothing"
            if "secret/keys.txt" in command:
                assert (it.workspace / "notes.md").exists()
                assert not (it.workspace / "secret").exists()
            ran += 1
    finally:
        assert daemon_process.stop(Home(reader.home))
        it.server.close()
    assert ran == 13
    after = settings_of(it.host)
    assert {path: after.get(path) for path in before} == before, "as it was, byte for byte"
    assert [path for path, data in after.items() if b"holdfast" in data] == [], "and nothing of ours is left"


def test_HO6_the_pages_name_the_versions_that_are_tested():
    for name, installer in INSTALLERS.items():
        assert installer.tested in (HOW_TO / f"{name}.md").read_text(encoding="utf-8")
