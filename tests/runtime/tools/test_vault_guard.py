"""Files of the vault that programs outside obey: put back when a command changed them without naming them."""

import pytest

from holdfast.runtime.tools.vault_guard import guard_of
from holdfast.shell import read_command


def guard(bench, command):
    return guard_of(bench.vault, read_command(command, cwd=str(bench.vault)))


def test_what_appeared_is_taken_away_and_kept_in_the_trash(bench):
    held = guard(bench, "make")
    bench.put(".claude/settings.json", "{}")
    bench.put(".git/hooks/pre-commit", "evil", mode=0o755)
    bench.put(".vscode/tasks.json", "{}")
    bench.put("src/ordinary.py", "x")
    assert held.settle(bench.context(), "bubblewrap") == [".claude/settings.json", ".git/hooks/pre-commit"]
    assert set(bench.tree()) == {".vscode/tasks.json", "src/ordinary.py"}
    kept = [path.read_text() for path in (bench.home / "data/trash").rglob("*pre-commit")]
    assert kept == ["evil"]


def test_what_changed_is_put_back_only_where_it_could_have_been_the_command(bench):
    file = bench.put(".claude/settings.json", "mine", mode=0o640)
    held = guard(bench, "make")
    file.write_text("changed")
    assert held.settle(bench.context(), "bubblewrap") == [], "it was read-only: somebody else changed it"
    assert file.read_text() == "changed"
    assert held.settle(bench.context(), "landlock") == [".claude/settings.json"]
    assert file.read_text() == "mine"
    assert file.stat().st_mode & 0o777 == 0o640


def test_without_a_sandbox_nothing_is_touched(bench):
    held = guard(bench, "make")
    bench.put("opencode.json", "{}")
    assert held.settle(bench.context(), "none") == []
    assert (bench.vault / "opencode.json").exists()


def test_a_link_in_its_place_is_taken_away_and_not_followed(bench, tmp_path):
    (tmp_path / "target").write_text("keep")
    held = guard(bench, "make")
    (bench.vault / "opencode.json").symlink_to(tmp_path / "target")
    assert held.settle(bench.context(), "bubblewrap") == ["opencode.json"]
    assert not (bench.vault / "opencode.json").is_symlink()
    assert (tmp_path / "target").read_text() == "keep"


@pytest.mark.parametrize(
    ("command", "free"),
    [
        ("echo x > .vscode/tasks.json", ".vscode/tasks.json"),
        ("cp hook .git/hooks/pre-commit", ".git/hooks"),
        ("git init", ".git/hooks"),
        ("git config user.name x", ".git/config"),
        ("rm -rf .claude", ".claude/settings.json"),
    ],
)
def test_what_a_command_names_it_was_judged_for(bench, command, free):
    assert free not in guard(bench, command).names
    assert free in guard(bench, "make").names
