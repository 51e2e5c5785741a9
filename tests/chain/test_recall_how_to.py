"""Every command of the how-to about recall runs, as it stands there."""

import json
import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from chain.importers import transcripts
from chain.importers.test_importers import write
from chain.scene import Scene
from holdfast.doors.cli import cli
from holdfast.doors.cli_mcp import mcp_command

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "recall.md"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_SC5_every_command_of_the_page_runs(tmp_path, monkeypatch):
    scene = Scene(tmp_path)
    where = scene.arrive("session-one").session.id
    scene.say(where, "fix the login")
    scene.tool(where, "read", "code", path=str(scene.vault / "login.py"))
    scene.reply(where, "The queue was too short. Shall I push?")
    scene.close()
    write(scene.vault / "transcripts" / "c1.jsonl", transcripts.claude())
    monkeypatch.chdir(scene.vault)
    said = {}
    commands = re.findall(r"^\$ (.*)$", "\n".join(blocks("console")), re.MULTILINE)
    for command in commands:
        program, *arguments = shlex.split(command.replace("THREAD", where.thread))
        assert program == "holdfast"
        before = ["--home", str(scene.control.home.root), "--vault", str(scene.vault)]
        result = CliRunner().invoke(cli, [*before, *arguments], catch_exceptions=False, prog_name="holdfast")
        assert result.exit_code == 0, (command, result.output)
        said[command] = result.stdout
    assert len(said) == len(commands) >= 12
    assert "The queue was too short" in said["holdfast transcript session-one"]
    assert "login.py" in said["holdfast sessions show session-one"]
    assert "session-one" in said["holdfast search queue"]
    assert (scene.vault / "copy.jsonl").stat().st_size > 500


def test_SC5_the_servers_entry_names_options_that_exist():
    (entry,) = (json.loads(block) for block in blocks("json"))
    server = entry["mcpServers"]["holdfast"]
    assert (server["command"], server["args"][0]) == ("holdfast", "mcp")
    assert mcp_command.make_context("mcp", server["args"][1:], resilient_parsing=False).params["scope"] == "vault"
