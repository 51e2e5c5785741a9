"""`move` and `delete`, and that both can be taken back."""

import os
import tempfile
from pathlib import Path

import pytest


def test_a_file_is_moved_with_new_folders_and_back(bench):
    bench.put("a.txt", "a\n", mode=0o640)
    output = bench.call("move", source="a.txt", destination="x/y/b.txt")
    assert output.text == "Moved a.txt to x/y/b.txt"
    assert bench.tree() == {"x/y/b.txt": b"a\n"}
    bench.undo()
    assert bench.tree() == {"a.txt": b"a\n"}
    assert (bench.vault / "a.txt").stat().st_mode & 0o777 == 0o640


def test_a_folder_is_moved_with_all_it_holds(bench):
    bench.put("d/a.txt", "a")
    bench.put("d/e/b.txt", "b")
    bench.call("move", **{"from": "d", "to": "f"})
    assert bench.tree() == {"f/a.txt": b"a", "f/e/b.txt": b"b"}


@pytest.mark.parametrize(
    ("source", "destination", "said"),
    [
        ("missing", "b", "does not exist"),
        ("a.txt", "there.txt", "is there already"),
        ("a.txt", "d", "Move to d/a.txt"),
        ("d", "d/e", "into itself"),
        (".", "../elsewhere", "The vault itself"),
        ("link", "b", "is a link to"),
    ],
)
def test_moves_that_make_no_sense_are_explained(bench, source, destination, said):
    bench.put("a.txt", "a")
    bench.put("there.txt", "t")
    bench.put("d/x.txt", "x")
    (bench.vault / "link").symlink_to("a.txt")
    before = bench.tree()
    assert said in bench.failure("move", source=source, destination=destination)
    assert bench.tree() == before


def test_a_moved_file_has_to_be_read_under_its_new_name(bench):
    bench.seen("a.txt", "a\n")
    bench.call("move", source="a.txt", destination="b.txt")
    assert "has not been read" in bench.failure("edit", path="b.txt", old_string="a", new_string="b")


def test_a_deleted_file_comes_back(bench):
    bench.put("a.txt", "a\n", mode=0o604)
    assert "It can be undone" in bench.text("delete", path="a.txt")
    assert bench.tree() == {}
    bench.undo()
    assert bench.tree() == {"a.txt": b"a\n"}
    assert (bench.vault / "a.txt").stat().st_mode & 0o777 == 0o604


def test_a_folder_is_deleted_only_when_that_is_said(bench):
    bench.put("d/a.txt", "a")
    bench.put("d/e/b.txt", "b")
    (bench.vault / "d/link").symlink_to("a.txt")
    assert "a folder with 3 files" in bench.failure("delete", path="d")
    assert "(3 files)" in bench.text("delete", path="d", recursive=True)
    assert bench.tree() == {}
    bench.undo()
    assert bench.tree() == {"d/a.txt": b"a", "d/e/b.txt": b"b", "d/link": b"a"}
    assert (bench.vault / "d/link").is_symlink()


@pytest.fixture
def far_home(bench):
    """A home on another file system, where nothing can be renamed to."""
    here = bench.vault.stat().st_dev
    others = (place for place in map(Path, ("/dev/shm", "/var/tmp")) if place.is_dir() and place.stat().st_dev != here)
    other = next(others, None)
    if other is None:
        pytest.skip("platform: no second file system")
    near = bench.home
    with tempfile.TemporaryDirectory(dir=other) as home:
        bench.home = Path(home)
        yield bench
        bench.home = near  # what the bench does at its end would make the far one again


def test_the_trash_may_lie_on_another_file_system(far_home):
    far_home.put("d/a.txt", "a", mode=0o640)
    far_home.put("d/e/b.txt", "b")
    far_home.put("c.txt", "c")
    (far_home.vault / "d/link").symlink_to("nowhere")
    before = far_home.tree()
    far_home.call("delete", path="d", recursive=True)
    far_home.call("delete", path="c.txt")
    assert far_home.tree() == {}
    far_home.undo()
    far_home.undo()
    assert far_home.tree() == before
    assert (far_home.vault / "d/a.txt").stat().st_mode & 0o777 == 0o640
    assert (far_home.vault / "d/link").is_symlink()


def test_what_cannot_be_copied_away_stays(far_home):
    far_home.put("d/a.txt", "a")
    os.mkfifo(far_home.vault / "d/pipe")
    assert "could not be deleted" in far_home.failure("delete", path="d", recursive=True)
    assert (far_home.vault / "d/a.txt").read_text() == "a"
    assert far_home.undo() is None


def test_an_empty_folder_needs_no_word(bench):
    (bench.vault / "d").mkdir()
    bench.call("delete", path="d")
    assert not (bench.vault / "d").exists()


@pytest.mark.parametrize("path", [".", "..", "missing", "link", "dangling"])
def test_deletions_that_make_no_sense_are_refused(bench, path):
    bench.put("a.txt", "a")
    (bench.vault / "link").symlink_to("a.txt")
    (bench.vault / "dangling").symlink_to("nowhere")
    assert bench.failure("delete", path=path, recursive=True)
    assert bench.tree()["a.txt"] == b"a"
