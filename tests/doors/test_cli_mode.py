"""`holdfast mode` over a real store (MO1)."""

import json

import pytest
from click.testing import CliRunner

from holdfast.control import Control
from holdfast.doors.cli import cli
from holdfast.store.home import Home
from holdfast.store.interface import Session
from holdfast.testing.builders import session_id


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home")
    (tmp_path / "vault").mkdir()
    control = Control.open(home)
    control.store.open_session(Session(session_id(), host="codex", vault=str(tmp_path / "vault"), started_at=5.0))
    control.close()
    return home


def holdfast(home, *arguments, stdin=""):
    vault = home.root.parent / "vault"
    return CliRunner().invoke(cli, ["--home", str(home.root), "--vault", str(vault), *arguments], input=stdin)


def mode_of(home):
    return json.loads(holdfast(home, "mode", "--json").stdout)[0]["mode"]


def test_MO1_switching_to_full_access_asks_once_and_is_audited(home):
    assert mode_of(home) == "agent"
    refused = holdfast(home, "mode", "full_access", stdin="n\n")
    assert refused.exit_code == 1
    assert mode_of(home) == "agent"
    done = holdfast(home, "mode", "full_access", stdin="y\n")
    assert done.exit_code == 0, done.output
    assert "Full access is on" in done.output
    assert mode_of(home) == "full_access"
    entries = json.loads(holdfast(home, "audit", "show", "--json").stdout)
    assert [entry["to"] for entry in entries if entry.get("what") == "mode_changed"] == ["full_access"]
    assert holdfast(home, "mode", "agent").exit_code == 0
    assert mode_of(home) == "agent"


def test_a_session_that_is_not_there_is_a_clear_error(home):
    wrong = holdfast(home, "mode", "agent", "--session", "zzz")
    assert wrong.exit_code == 2
    assert "holdfast mode" in wrong.output
