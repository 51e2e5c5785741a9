"""`write`: whole files, atomically, never over something unseen."""

import stat

import pytest


def test_a_new_file_is_made_with_its_folders(bench):
    output = bench.call("write", path="a/b/c.txt", content="hello\n")
    assert (bench.vault / "a/b/c.txt").read_text() == "hello\n"
    assert output.text.startswith("Created a/b/c.txt (+1 -0)")
    assert output.display["diff"] == "--- /dev/null\n+++ a/b/c.txt\n@@ -0,0 +1 @@\n+hello"


def test_an_unseen_file_is_not_replaced(bench):
    file = bench.put("a.txt", "old")
    assert "has not been read" in bench.failure("write", path="a.txt", content="new")
    assert file.read_text() == "old"


def test_a_file_that_changed_since_it_was_read_is_not_replaced(bench):
    file = bench.seen("a.txt", "old\n")
    file.write_text("older\n")
    assert "has changed since you read it" in bench.failure("write", path="a.txt", content="new")
    assert file.read_text() == "older\n"
    bench.call("read", path="a.txt")
    bench.call("write", path="a.txt", content="new\n")
    assert file.read_text() == "new\n"


def test_what_was_just_written_may_be_written_again(bench):
    bench.call("write", path="a.txt", content="1\n")
    bench.call("write", path="a.txt", content="2\n")
    assert (bench.vault / "a.txt").read_text() == "2\n"


def test_the_mode_stays_and_nothing_is_left_beside_the_file(bench):
    file = bench.seen("run.sh", "#!/bin/sh\n")
    file.chmod(0o755)
    bench.call("write", path="run.sh", content="#!/bin/sh\necho\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o755
    assert list(bench.vault.iterdir()) == [file]


def test_a_link_inside_the_vault_is_written_through(bench):
    real = bench.put("real.txt", "old\n")
    (bench.vault / "link.txt").symlink_to("real.txt")
    bench.call("read", path="link.txt")
    bench.call("write", path="link.txt", content="new\n")
    assert real.read_text() == "new\n"
    assert (bench.vault / "link.txt").is_symlink()


def test_a_link_that_leads_out_is_not_written_through(bench, tmp_path):
    (tmp_path / "out.txt").write_text("safe")
    (bench.vault / "link.txt").symlink_to(tmp_path / "out.txt")
    (bench.vault / "door").symlink_to(tmp_path)
    for path in ("link.txt", "door/new.txt"):
        assert "leads out of the vault" in bench.failure("write", path=path, content="bad")
    assert (tmp_path / "out.txt").read_text() == "safe"
    assert not (tmp_path / "new.txt").exists()


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".claude/settings.json", ".git/config"])
def test_what_programs_outside_obey_is_not_reached_through_a_link(bench, path):
    bench.put(path, "old")
    (bench.vault / "innocent").symlink_to(path)
    assert "is a link to" in bench.failure("write", path="innocent", content="bad")
    assert (bench.vault / path).read_text() == "old"


def test_the_same_content_changes_nothing(bench):
    bench.seen("a.txt", "same\n")
    assert "Nothing to change" in bench.text("write", path="a.txt", content="same\n")
    assert bench.undo() is None


def test_a_folder_and_an_unwritable_place_are_explained(bench):
    (bench.vault / "d").mkdir()
    assert "is a folder" in bench.failure("write", path="d", content="x")
    bench.put("file", "x")
    assert "is a file or a link where a folder is needed" in bench.failure("write", path="file/below", content="x")


def test_a_write_can_be_undone(bench):
    file = bench.seen("a.txt", "old\n")
    bench.call("write", path="a.txt", content="new\n")
    bench.call("write", path="b.txt", content="b\n")
    assert bench.undo().restored == (str(bench.vault / "b.txt"),)
    assert bench.tree() == {"a.txt": b"new\n"}
    bench.undo()
    assert file.read_text() == "old\n"
    assert bench.undo() is None
