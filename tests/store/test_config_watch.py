"""While the program runs: a good edit comes into force, a broken one is told once and changes nothing."""

import os

import pytest

from holdfast.store.config_file import ConfigError, Inline
from holdfast.store.config_watch import ConfigWatcher


def text(lines):
    return '{"agents": {"runtime": {"truncation": {"maxLines": %s}}}}' % lines  # noqa: UP031 (braces)


class Told:
    def __init__(self):
        self.problems = []
        self.changes = []


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config.jsonc"


@pytest.fixture
def watch(path, told):
    def start():
        return ConfigWatcher(path, Inline({}), on_problem=told.problems.append, on_change=told.changes.append)

    return start


def lines_in_force(watcher):
    return watcher.current().settings.runtime.truncation.max_lines


def test_HK1_a_good_edit_comes_into_force(path, watch, told):
    path.write_text(text(10))
    watcher = watch()
    assert lines_in_force(watcher) == 10
    path.write_text(text(20))
    assert lines_in_force(watcher) == 20
    assert lines_in_force(watcher) == 20
    assert len(told.changes) == 1


def test_HK1_a_broken_edit_keeps_the_last_good_one_and_is_told_once(path, watch, told):
    path.write_text(text(10))
    watcher = watch()
    path.write_text(text('"many"'))
    assert [lines_in_force(watcher) for _ in range(3)] == [10, 10, 10]
    assert len(told.problems) == 1
    assert f"{path}:1:52: agents.runtime.truncation.maxLines: expected a whole number" in str(told.problems[0])
    assert watcher.current().problems == told.problems[0].problems
    assert path.read_text() == text('"many"')
    path.write_text(text(30))
    assert lines_in_force(watcher) == 30
    assert watcher.current().problems == ()


def test_HK1_mending_back_to_the_same_text_ends_the_problem(path, watch, told):
    path.write_text(text(10))
    watcher = watch()
    path.write_text("{")
    watcher.current()
    path.write_text(text(10))
    assert watcher.current().problems == ()
    assert told.changes == []


def test_HK1_another_broken_edit_is_told_again(path, watch, told):
    path.write_text(text(10))
    watcher = watch()
    for broken in ("{", "["):
        path.write_text(broken)
        watcher.current()
    assert len(told.problems) == 2


def test_the_program_does_not_start_on_a_broken_file(path, watch):
    path.write_text("{")
    with pytest.raises(ConfigError):
        watch()


def test_a_file_that_vanishes_takes_no_rule_with_it(path, watch, told):
    path.write_text(text(10))
    watcher = watch()
    path.unlink()
    assert lines_in_force(watcher) == 10
    assert "is gone" in str(told.problems[0])
    path.write_text(text(20))
    assert lines_in_force(watcher) == 20


def test_a_file_that_appears_comes_into_force(path, watch):
    watcher = watch()
    assert lines_in_force(watcher) == 2000
    path.write_text(text(20))
    assert lines_in_force(watcher) == 20


def test_an_edit_that_leaves_every_stamp_equal_is_seen_while_the_file_is_fresh(path, watch):
    path.write_text(text(10))
    watcher = watch()
    stamp = path.stat()
    with open(path, "r+") as stream:
        stream.write(text(20))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert lines_in_force(watcher) == 20


def test_a_settled_file_is_not_read_again(path, watch):
    path.write_text(text(10))
    old = path.stat().st_mtime_ns - 10_000_000_000
    os.utime(path, ns=(old, old))
    watcher = watch()
    first = watcher.current()
    assert watcher.current() is first


def test_a_callback_may_ask_for_the_configuration(path):
    path.write_text(text(10))
    seen = []
    watcher = ConfigWatcher(path, Inline({}), on_problem=lambda _: seen.append(lines_in_force(watcher)))
    path.write_text("{")
    watcher.current()
    assert seen == [10]
