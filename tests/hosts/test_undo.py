"""A checkpoint per turn, and `holdfast undo`: what an agent changed goes back, what others changed stays."""

from __future__ import annotations

import json
import stat

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.doors.cli import cli
from holdfast.hosts.checkpoints import Checkpoints
from hosts.stage import NAMES

ALLOW_BASH = """{ "agents": { "runtime": { "permission": { "rules": [
  { "domain": "bash", "pattern": "*", "decision": "allow" } ] } } } }"""


def undo(it, *arguments):
    before = ("--home", str(it.home.root), "--vault", str(it.vault), "undo")
    return CliRunner().invoke(cli, [*before, *arguments], prog_name="holdfast")


def writes(it, name, text, call):
    """A whole call of the host's writing tool, as it would go."""
    it.write(name, call)
    path = it.vault / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    it.called(NAMES[it.host]["write"], it.write_arguments(name), "ok", call)


def runs(it, command, act, call):
    it.bash(command, call)
    act()
    it.called(NAMES[it.host]["bash"], {"command": command}, "ok", call)


def test_a_turn_is_taken_back_as_a_whole(stage, host):
    it = stage(host)
    (it.vault / "old.py").write_text("before")
    (it.vault / "old.py").chmod(0o755)
    it.prompt("change it")
    writes(it, "old.py", "first", "c1")
    writes(it, "old.py", "second", "c2")
    writes(it, "deep/new.py", "new", "c3")
    done = undo(it)
    assert done.exit_code == 0, done.output
    assert (it.vault / "old.py").read_text() == "before"
    assert stat.S_IMODE((it.vault / "old.py").stat().st_mode) == 0o755
    assert not (it.vault / "deep" / "new.py").exists()
    assert "every turn" in undo(it).output, "it is not taken back twice"
    assert [entry["what"] for entry in it.audit() if entry["sessionId"] == "operator"] == ["undo"]


def test_each_turn_has_its_own_checkpoint(stage):
    it = stage("claude-code")
    for number in (1, 2, 3):
        it.turn = f"t{number}"
        it.prompt(f"turn {number}")
        writes(it, "a.py", f"version {number}", f"c{number}")
    listed = json.loads(undo(it, "--list", "--json").stdout)
    assert len(listed["turns"]) == 3
    undo(it)
    assert (it.vault / "a.py").read_text() == "version 2"
    undo(it)
    assert (it.vault / "a.py").read_text() == "version 1"
    undo(it)
    assert not (it.vault / "a.py").exists()


def test_what_somebody_else_has_changed_since_is_left(stage):
    it = stage("claude-code")
    (it.vault / "a.py").write_text("before")
    it.prompt()
    writes(it, "a.py", "by the agent", "c1")
    writes(it, "b.py", "by the agent", "c2")
    (it.vault / "a.py").write_text("by a person")
    done = undo(it)
    assert done.exit_code == 1
    assert "somebody has changed it since" in done.output
    assert (it.vault / "a.py").read_text() == "by a person"
    assert not (it.vault / "b.py").exists()
    undo(it, "--turn", "1", "--force")
    assert (it.vault / "a.py").read_text() == "before"


def test_files_that_a_command_is_known_to_change_are_kept_too(stage):
    it = stage("claude-code", config=ALLOW_BASH)
    for name in ("src/a.py", "src/deep/b.py", "note.txt"):
        (it.vault / name).parent.mkdir(parents=True, exist_ok=True)
        (it.vault / name).write_text(name)

    def remove():
        import shutil

        shutil.rmtree(it.vault / "src")

    it.prompt()
    runs(it, "rm -rf src", remove, "c1")
    runs(it, "echo new > note.txt", lambda: (it.vault / "note.txt").write_text("new\n"), "c2")
    undo(it)
    assert (it.vault / "src" / "a.py").read_text() == "src/a.py"
    assert (it.vault / "src" / "deep" / "b.py").read_text() == "src/deep/b.py"
    assert (it.vault / "note.txt").read_text() == "note.txt"


def test_what_cannot_be_told_beforehand_is_said(stage):
    it = stage("claude-code", config=ALLOW_BASH)
    it.prompt()
    writes(it, "a.py", "x", "c1")
    runs(it, "make all", lambda: (it.vault / "out.o").write_text("o"), "c2")
    assert "may have changed more" in undo(it).output


def test_a_denied_call_leaves_no_checkpoint(stage):
    it = stage("claude-code")
    it.prompt()
    it.calling("Write", {"file_path": "/etc/passwd", "content": "x"})
    assert Checkpoints(it.home).turns("s1") == []


def test_a_dry_run_changes_nothing(stage):
    it = stage("claude-code")
    it.prompt()
    writes(it, "a.py", "x", "c1")
    assert "would be restored" in undo(it, "--dry-run").output
    assert (it.vault / "a.py").exists()


def test_another_process_may_end_the_call(stage):
    """The hook of a host without a daemon is a process of its own each time."""
    it = stage("codex")
    it.prompt()
    it.write("a.py", "c1")
    from holdfast.hosts.registry import gateway_for

    (it.vault / "a.py").write_text("x")
    it.gateway = gateway_for(it.control)
    it.called("apply_patch", it.write_arguments("a.py"), "ok", "c1")
    assert undo(it).exit_code == 0
    assert not (it.vault / "a.py").exists()


def test_old_contents_go_and_the_undo_says_so(stage):
    it = stage("claude-code")
    (it.vault / "a.py").write_text("before")
    it.prompt()
    writes(it, "a.py", "after", "c1")
    kept = Checkpoints(it.home)
    assert kept.sweep(it.control.clock()) == 0
    (turn,) = kept.turns("s1")
    for blob in (it.home.data / "checkpoints" / "contents").rglob("*"):
        if blob.is_file():
            blob.unlink()
    restored = kept.undo(turn)
    assert "its copy is gone" in restored.left[0]
    assert kept.sweep(it.control.clock() + 30 * 86_400) >= 1


@pytest.mark.parametrize("session", [None, "nosuch"])
def test_nothing_to_undo_is_said(tmp_path, session):
    arguments = ["--home", str(tmp_path / "h"), "--vault", str(tmp_path), "undo"]
    done = CliRunner().invoke(cli, [*arguments, *(["--session", session] if session else [])], prog_name="holdfast")
    assert done.exit_code != 0
    assert "Traceback" not in done.output


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "d/c"]), st.one_of(st.none(), st.text(max_size=8))), min_size=1, max_size=8
    )
)
def test_any_turn_comes_back_to_where_it_began(tmp_path_factory, steps):
    """Whatever a turn writes and deletes, in whatever order, undo gives the files it began with."""
    from hosts.stage import Stage

    it = Stage(tmp_path_factory.mktemp("any"), "claude-code")
    try:
        (it.vault / "a").write_text("old a")
        before = {"a": "old a"}
        it.prompt()
        for number, (name, text) in enumerate(steps):
            path = it.vault / name
            it.calling("Write", {"file_path": str(path), "content": text or ""}, f"c{number}")
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True) if text is None else path.write_text(text)
            it.called("Write", {"file_path": str(path)}, "ok", f"c{number}")
        for turn in Checkpoints(it.home).turns("s1"):
            Checkpoints(it.home).undo(turn)
        now = {n: (it.vault / n).read_text() for n in ("a", "b", "d/c") if (it.vault / n).exists()}
        assert now == before
    finally:
        it.close()
