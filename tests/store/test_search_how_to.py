"""Every example in the how-to about search runs, as it stands there."""

import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from holdfast.doors.cli import cli
from holdfast.store.config_file import Inline, load_text
from holdfast.store.home import Home
from holdfast.store.sqlite import SqliteStore
from store.search_steps import add, where

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "search.md"
ERROR = 'psycopg2.OperationalError: connection to server at "10.0.0.7" failed: Connection refused'


def blocks(language):
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def recorded(folder):
    home = Home(folder / "home")
    home.create()
    store = SqliteStore(home.database, audit_dir=home.audit)
    texts = ["start the server", "x = getSessionManager()", ERROR, "edited src/store/search.py:12", "会话链断了"]
    add(store, *texts, place=where("s1", "t1"), tool="bash", files=("vault:/src/app.py",))
    add(store, "we should change the port to 5433", place=where("s2", "t2"), kind="prompt_submitted")
    return store, home


def test_SC6_every_command_of_the_page_runs_and_finds_something(tmp_path, monkeypatch):
    store, home = recorded(tmp_path)
    store.close()
    vault = tmp_path / "vault"
    vault.mkdir()
    monkeypatch.chdir(vault)
    monkeypatch.setenv("HOLDFAST_HOME", str(home.root))
    commands = re.findall(r"^\$ (.*)$", "\n".join(blocks("console")), re.MULTILINE)
    commands += re.findall(r"^\| `(holdfast search [^`]*)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(commands) >= 10
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "holdfast"
        if "--since" in arguments:
            place = arguments.index("--since")
            arguments[place + 1] = "2026-01-01"  # the page says 7d; the events of this test have a fixed date
        result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        assert result.exit_code == 0, command
        assert "nothing found" not in result.stdout, command
        assert '"hits": []' not in result.stdout, command
    shown = CliRunner().invoke(cli, ["search", "connection", "refused"]).stdout
    assert shown.splitlines()[1].strip() == blocks("console")[0].splitlines()[2].strip()


def test_SC6_the_python_of_the_page_runs(tmp_path, capsys):
    store, home = recorded(tmp_path)
    names = {"store": store, "home": home}
    for block in blocks("python"):
        exec(block, names)
    assert len(names["found"].hits) == 1
    assert "s1 3 " in capsys.readouterr().out
    store.close()


def test_SC6_the_configuration_of_the_page_turns_search_by_meaning_on():
    (block,) = blocks("jsonc")
    semantic = load_text(PAGE, block, Inline(environ={})).settings.runtime.search.semantic
    assert semantic.enabled
    assert semantic.base_url.startswith("http://127.0.0.1:")
