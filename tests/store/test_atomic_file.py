"""A file is replaced as a whole or not at all; a lock ends in time."""

import stat
import threading

import pytest

from holdfast.store.atomic_file import LockTimeout, file_lock, write_atomic, write_new


def test_a_new_file_is_for_the_user_alone(tmp_path):
    write_atomic(tmp_path / "a", b"x")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_mode_and_link_stay(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o644)
    (tmp_path / "link").symlink_to("real")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o644


def test_a_failure_leaves_nothing_behind(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomic(tmp_path / "folder", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_what_is_there_is_not_replaced_by_a_new_file(tmp_path):
    path = tmp_path / "a"
    assert write_new(path, b"one")
    assert not write_new(path, b"two")
    assert path.read_bytes() == b"one"
    (tmp_path / "dangling").symlink_to("nowhere")
    assert not write_new(tmp_path / "dangling", b"x")
    assert sorted(found.name for found in tmp_path.iterdir()) == ["a", "dangling"]


def test_of_many_that_make_a_file_one_does(tmp_path):
    results = []
    threads = [
        threading.Thread(target=lambda number=number: results.append(write_new(tmp_path / "a", b"%d" % number)))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(results) == [False] * 7 + [True]


def test_a_lock_is_exclusive_between_threads_and_ends_in_time(tmp_path):
    lock = tmp_path / "lock"
    with (
        file_lock(lock, deadline_seconds=1),
        pytest.raises(LockTimeout, match=r"has held this lock for 0\.05 s"),
        file_lock(lock, deadline_seconds=0.05),
    ):
        pass
    with file_lock(lock, deadline_seconds=0.05):
        pass
