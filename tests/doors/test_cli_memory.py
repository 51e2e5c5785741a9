"""`holdfast memory` on a real vault."""

import json

import pytest
from click.testing import CliRunner

from holdfast.doors.cli import cli


@pytest.fixture
def holdfast(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()

    def run(*arguments, code=0, stdin=None):
        result = CliRunner().invoke(
            cli, ["--home", str(tmp_path / "home"), "--vault", str(vault), "memory", *arguments], input=stdin
        )
        assert result.exit_code == code, result.output
        return result.output

    run.vault = vault
    return run


@pytest.mark.parametrize(("language", "focus"), [("en", "## Current Focus"), ("zh", "## 当前焦点")])
def test_MB1_init_lays_the_tree_out_and_overwrites_nothing(holdfast, language, focus):
    bank = holdfast.vault / "memory-bank"
    (bank / "details").mkdir(parents=True)
    (bank / "details" / "patterns.md").write_text("mine")
    holdfast("init", "--language", language)
    assert focus in (bank / "MEMORY.md").read_text()
    assert (bank / "details" / "patterns.md").read_text() == "mine"
    for name in ("progress.md", "requirements", "design", "learnings"):
        assert (bank / "details" / name).exists()
    again = json.loads(holdfast("init", "--language", language, "--json"))
    assert again["made"] == []


def test_MB1_init_takes_older_layouts_over_and_leaves_the_originals(holdfast):
    bank = holdfast.vault / "memory-bank"
    (bank / "requirements").mkdir(parents=True)
    (bank / "requirements" / "REQ-1.md").write_text("must")
    (bank / "systemPatterns.md").write_text("our patterns")
    (bank / "activeContext.md").write_text("what we do now")
    done = json.loads(holdfast("init", "--json"))
    assert ["systemPatterns.md", "details/patterns.md"] in done["takenOver"]
    assert (bank / "details" / "patterns.md").read_text() == "our patterns"
    assert (bank / "details" / "requirements" / "REQ-1.md").read_text() == "must"
    assert (bank / "MEMORY.md").read_text() == "what we do now"
    assert (bank / "systemPatterns.md").read_text() == "our patterns"


def test_MB1_show_prints_what_is_injected_capped_and_marked(holdfast):
    holdfast("init", "--language", "en")
    (holdfast.vault / "memory-bank" / "MEMORY.md").write_text("x" * 20_000)
    shown = holdfast("show")
    assert shown.startswith("<memory-bank>")
    assert "MEMORY.md is longer than this" in shown
    assert 12_000 < len(shown) < 12_400


def test_status_says_what_is_there(holdfast):
    holdfast("status", code=1)
    holdfast("init", "--language", "en")
    data = json.loads(holdfast("status", "--json"))
    assert data["memory"]
    assert data["patterns"]
    assert data["guardMode"] == "warn"


def test_MB6_propose_apply_undo_and_history(holdfast):
    holdfast("init", "--language", "en")
    made = json.loads(holdfast("propose", "details/progress.md", "--append", "- done", "--why", "it is", "--json"))
    assert "+- done" in made["diff"]
    assert "+- done" in holdfast("show", made["id"][:10])
    holdfast("apply", made["id"][:10])
    file = holdfast.vault / "memory-bank" / "details" / "progress.md"
    assert file.read_text().endswith("- done\n")
    holdfast("apply", made["id"], code=2)
    holdfast("undo", made["id"][:10])
    assert "- done" not in file.read_text()
    again = json.loads(holdfast("propose", "details/progress.md", "--append", "- more", "--why", "it is", "--json"))
    holdfast("apply", again["id"])
    holdfast("apply", again["id"], "--undo")
    assert "- more" not in file.read_text()
    assert "undone" in holdfast("history")


def test_a_bad_proposal_is_a_clear_error(holdfast):
    assert "Markdown only" in holdfast("propose", "x.sh", "--append", "a", "--why", "b", code=2)
    assert "exactly one of" in holdfast("propose", "x.md", "--why", "b", code=2)
