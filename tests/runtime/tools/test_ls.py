"""`ls`: names, kinds and sizes."""

import os


def test_a_folder_is_listed_with_kinds_and_sizes(bench):
    bench.put("b.txt", "12345")
    bench.put("sub/c.txt", "x")
    (bench.vault / "link").symlink_to("b.txt")
    os.mkfifo(bench.vault / "pipe")
    assert bench.text("ls").split("\n") == ["b.txt  5", "link  -> b.txt", "pipe  [special file]", "sub/"]


def test_depth_goes_into_folders_but_not_into_what_nobody_wrote(bench):
    bench.put("src/a/b.py", "x")
    bench.put(".git/config", "x")
    assert bench.text("ls", depth=3) == ".git/\nsrc/\n  a/\n    b.py  1"


def test_a_file_an_empty_folder_and_a_missing_one(bench):
    bench.put("a.txt", "x")
    (bench.vault / "empty").mkdir()
    assert bench.text("ls", path="empty") == "[empty is empty]"
    assert "is a file" in bench.failure("ls", path="a.txt")
    assert "does not exist" in bench.failure("ls", path="nothing")


def test_a_crowded_folder_is_cut_with_a_note(bench):
    for number in range(1010):
        bench.put(f"{number:04}.txt")
    lines = bench.text("ls").split("\n")
    assert len(lines) == 1001
    assert lines[-1].startswith("[10 more entries")


def test_a_loop_of_links_is_only_shown(bench):
    (bench.vault / "d").mkdir()
    (bench.vault / "d" / "loop").symlink_to("..")
    assert bench.text("ls", depth=6) == "d/\n  loop  -> .."
