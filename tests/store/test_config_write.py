"""Writing the configuration: placed below nothing that denies, locked, checked, atomic; a failure changes nothing."""

import errno
import os
import random
import stat
import subprocess
import sys
import time

import pytest

from holdfast.core.setting_keys import parse_key
from holdfast.core.settings import RuleSetting
from holdfast.store import config_write
from holdfast.store.atomic_file import file_lock
from holdfast.store.config_file import ConfigError, Inline, load_config
from holdfast.store.config_write import (
    ConfigWriteError,
    add_rule,
    insert_item,
    put_rule_back,
    remove_rule,
    set_value,
    unset_value,
)

ALLOW = RuleSetting("bash", "git status", "allow")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config.jsonc"


def rule_text(domain, pattern, decision):
    return f'{{"domain": "{domain}", "pattern": "{pattern}", "decision": "{decision}"}}'


def write_rules(path, *rules):
    lines = ",\n".join(f"  {rule_text(*rule)}" for rule in rules)
    path.write_text('{"agents": {"runtime": {"permission": {"rules": [\n' + lines + "\n]}}}}")


def patterns(path):
    return [rule.pattern for rule in load_config(path, Inline({})).rules]


# -- where a rule goes


def test_PE7_without_deny_rules_the_rule_comes_last(path):
    write_rules(path, ("bash", "*", "ask"))
    written = add_rule(path, ALLOW)
    assert patterns(path) == ["*", "git status"]
    assert (written.rule.index, written.rule.line, written.rule.source) == (1, 3, str(path))
    assert written.shadowed_by is None


def test_PE7_the_rule_stands_above_the_first_deny(path):
    write_rules(path, ("bash", "*", "ask"), ("bash", "git push *", "deny"), ("read", "x", "deny"))
    add_rule(path, ALLOW)
    assert patterns(path) == ["*", "git status", "git push *", "x"]


def test_PE7_above_the_first_deny_of_another_domain_too(path):
    write_rules(path, ("read", "x", "deny"))
    add_rule(path, ALLOW)
    assert patterns(path) == ["git status", "x"]


def test_PE7_a_deny_of_another_domain_does_not_put_it_below_a_rule_that_would_win(path):
    write_rules(path, ("read", "x", "deny"), ("bash", "*", "ask"), ("bash", "rm *", "deny"))
    written = add_rule(path, ALLOW)
    assert patterns(path) == ["x", "*", "git status", "rm *"]
    assert written.shadowed_by is None


def test_PE7_a_rule_that_may_take_the_decision_back_is_named(path):
    write_rules(path, ("bash", "rm *", "deny"), ("bash", "*", "ask"))
    written = add_rule(path, ALLOW)
    assert patterns(path) == ["git status", "rm *", "*"]
    assert written.shadowed_by is not None
    assert written.shadowed_by.pattern == "*"


def test_PE7_a_deny_comes_last(path):
    write_rules(path, ("bash", "rm *", "deny"), ("bash", "*", "ask"))
    add_rule(path, RuleSetting("bash", "git push *", "deny"))
    assert patterns(path)[-1] == "git push *"


def test_PE7_the_same_rule_is_not_written_twice(path):
    assert add_rule(path, ALLOW).changed
    again = add_rule(path, ALLOW)
    assert not again.changed
    assert again.rule.index == 0
    assert len(patterns(path)) == 1


def test_PE7_the_same_rule_is_written_again_when_another_has_overridden_it(path):
    write_rules(path, ("bash", "git status", "allow"), ("bash", "*", "ask"))
    assert add_rule(path, ALLOW).changed
    assert patterns(path) == ["git status", "*", "git status"]


def test_PE7_a_rule_for_a_while_carries_its_end(path):
    add_rule(path, RuleSetting("bash", "make", "allow", expires=1_800_000_000.0))
    assert load_config(path, Inline({})).rules[0].expires == 1_800_000_000.0


def test_PE7_without_a_file_one_is_made_for_the_user_alone(tmp_path):
    path = tmp_path / "new" / "config.jsonc"
    add_rule(path, ALLOW)
    assert patterns(path) == ["git status"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


# -- what else can be changed


def test_a_rule_is_removed_and_the_old_file_kept(path):
    write_rules(path, ("bash", "a", "ask"), ("bash", "b", "ask"))
    before = path.read_bytes()
    written = remove_rule(path, 0, expected=RuleSetting("bash", "a", "ask"))
    assert patterns(path) == ["b"]
    assert written.backup is not None
    assert written.backup.read_bytes() == before


@pytest.mark.parametrize("index", [-1, 2])
def test_a_rule_that_is_not_there_is_refused(path, index):
    write_rules(path, ("bash", "a", "ask"), ("bash", "b", "ask"))
    with pytest.raises(ConfigWriteError, match="there are 2"):
        remove_rule(path, index)


def test_a_rule_that_somebody_changed_meanwhile_is_left_alone(path):
    write_rules(path, ("bash", "a", "ask"))
    before = path.read_bytes()
    with pytest.raises(ConfigWriteError, match="changed by somebody else"):
        remove_rule(path, 0, expected=ALLOW)
    assert path.read_bytes() == before


@pytest.mark.parametrize("index", [0, 1, 2])
def test_PE7_a_rule_is_put_back_exactly_where_it_stood_also_below_a_deny(path, index):
    rules = [("bash", "a", "deny"), ("bash", "b", "allow"), ("bash", "c", "ask")]
    write_rules(path, *rules)
    gone = RuleSetting(*rules[index])
    remove_rule(path, index, expected=gone)
    assert put_rule_back(path, index, gone).rule.index == index
    assert patterns(path) == ["a", "b", "c"]
    with pytest.raises(ConfigWriteError, match="no place 9"):
        put_rule_back(path, 9, gone)
    assert patterns(path) == ["a", "b", "c"]


def test_SC9_an_item_is_put_into_a_list_that_is_made_for_it(path):
    insert_item(path, ("breeds",), 0, {"id": "one"})
    insert_item(path, ("breeds",), 0, {"id": "zero"})
    assert [breed.id for breed in load_config(path, Inline({})).settings.breeds] == ["zero", "one"]
    before = path.read_text()
    with pytest.raises(ConfigError, match="nothing was written"):
        insert_item(path, ("breeds",), 2, {"name": "x"})
    assert path.read_text() == before


def test_a_setting_is_set_and_taken_out_again(path):
    path.write_text("{\n  // mine\n}\n")
    key = parse_key("truncation.maxLines")
    set_value(path, key, 100)
    assert load_config(path, Inline({})).settings.runtime.truncation.max_lines == 100
    assert not set_value(path, key, 100).changed
    unset_value(path, key)
    assert load_config(path, Inline({})).settings.runtime.truncation.max_lines == 2000
    assert "// mine" in path.read_text()
    assert not unset_value(path, key).changed


def test_taking_a_setting_out_takes_its_empty_parents_but_no_comment(path):
    path.write_text("{}")
    key = parse_key("truncation.maxLines")
    set_value(path, key, 100)
    unset_value(path, key)
    assert load_config(path, Inline({})).layers[0].data == {}
    path.write_text("{agents: {runtime: {truncation: {maxLines: 5 /* few */}, model: 'x'}}}")
    unset_value(path, key)
    assert "truncation: { /* few */}" in path.read_text().replace("{/*", "{ /*")


def test_true_is_not_one(path):
    path.write_text('{"agents": {"runtime": {"hooks": {"tool": {"before": [{"tool": "x", "mergeInput": {"a": 1}}]}}}}}')
    key = (*parse_key("hooks.tool.before[0].mergeInput"), "a")
    assert set_value(path, key, True).changed
    assert '"a": true' in path.read_text()


def test_additions_make_no_backup_and_equal_states_only_one(path):
    write_rules(path, ("bash", "a", "ask"))
    add_rule(path, ALLOW)
    assert not (path.parent / config_write.BACKUPS).exists()
    for lines in (10, 20, 10, 20, 10):
        set_value(path, parse_key("truncation.maxLines"), lines)
    assert len(list((path.parent / config_write.BACKUPS).iterdir())) == 2


# -- nothing is lost


@pytest.mark.parametrize(
    "text", ["{", '{"unknown": 1}', '{"agents": {"runtime": {"permission": {"rules": {}}}}}', "{'a': 1, 'a': 2}"]
)
def test_HK1_a_broken_file_is_never_rewritten(path, text):
    path.write_text(text)
    for call in (
        lambda: add_rule(path, ALLOW),
        lambda: set_value(path, parse_key("model"), "x"),
        lambda: remove_rule(path, 0),
    ):
        with pytest.raises(ConfigError):
            call()
    assert path.read_text() == text


@pytest.mark.parametrize("value", [0, "many", None])
def test_HK1_a_value_that_does_not_fit_is_never_written(path, value):
    path.write_text("{}")
    with pytest.raises(ConfigError, match=r"maxLines: .*; nothing was written") as caught:
        set_value(path, parse_key("truncation.maxLines"), value)
    assert caught.value.problems[0].line is None
    assert path.read_text() == "{}"


def test_PE3_a_rule_that_cannot_work_is_never_written(path):
    path.write_text("{}")
    with pytest.raises(ConfigError, match="lookaround"):
        add_rule(path, RuleSetting("bash", "regex:(?=x)", "allow"))
    assert path.read_text() == "{}"


def test_PE7_mode_and_link_stay(path, tmp_path):
    real = tmp_path / "dotfiles" / "holdfast.jsonc"
    real.parent.mkdir()
    real.write_text("{}\n")
    real.chmod(0o640)
    path.symlink_to(real)
    add_rule(path, ALLOW)
    assert path.is_symlink()
    assert patterns(real) == ["git status"]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_file_that_the_user_made_read_only_is_left_alone(path):
    path.write_text("{}")
    path.chmod(0o444)
    with pytest.raises(ConfigWriteError, match="the file is read-only; nothing was changed"):
        add_rule(path, ALLOW)
    assert path.read_text() == "{}"


def test_PE7_bytes_outside_the_splice_stay(path):
    before = b"\xef\xbb\xbf{\r\n\t// \xe8\xaf\xb4\xe6\x98\x8e\r\n\t'breeds': [ ],\r\n}\r\n\r\n"
    path.write_bytes(before)
    add_rule(path, ALLOW)
    after = path.read_bytes()
    cut = before.index(b"\r\n}")
    assert after.startswith(before[:cut])
    assert after.endswith(before[cut:])
    assert patterns(path) == ["git status"]


def test_a_lock_that_is_held_ends_in_an_error_and_not_in_a_hang(path):
    path.write_text("{}")
    with (
        file_lock(path.with_name("config.jsonc.lock"), deadline_seconds=1),
        pytest.raises(ConfigWriteError, match="held this lock"),
    ):
        add_rule(path, ALLOW, deadline_seconds=0.05)
    assert path.read_text() == "{}"


PRELUDE = """
import sys, pathlib
from holdfast.core.settings import RuleSetting
from holdfast.store.config_write import ConfigWriteError, add_rule
path = pathlib.Path(sys.argv[1])
"""


def start(code, *arguments):
    command = [sys.executable, "-c", PRELUDE + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_full_disk_leaves_the_file_as_it_was(path):
    """A limit on the size of files makes the kernel refuse the write, as a full disk would."""
    path.write_text("{}")
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
try:
    add_rule(path, RuleSetting("bash", "git status", "allow"))
except ConfigWriteError as error:
    print(error)
"""
    said, _ = start(code, path).communicate(timeout=60)
    assert f"cannot be written: {os.strerror(errno.EFBIG)}; nothing was changed" in said
    assert path.read_text() == "{}"
    assert sorted(file.name for file in path.parent.iterdir()) == ["config.jsonc", "config.jsonc.lock"]


@pytest.mark.e2e
def test_PE7_concurrent_writers_lose_nothing(path):
    path.write_text('{\n  // mine\n  "agents": {}\n}\n')
    code = """
for number in range(10):
    add_rule(path, RuleSetting("bash", f"w{sys.argv[2]} n{number}", "allow"), deadline_seconds=60)
"""
    writers = [start(code, path, worker) for worker in range(4)]
    for writer in writers:
        writer.communicate(timeout=120)
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    assert sorted(patterns(path)) == sorted(f"w{worker} n{number}" for worker in range(4) for number in range(10))
    assert path.read_text().startswith("{\n  // mine\n")


@pytest.mark.e2e
def test_PE7_a_writer_killed_at_any_moment_loses_no_acknowledged_rule(path):
    path.write_text("{\n  // mine\n}\n")
    code = """
for number in range(1000):
    add_rule(path, RuleSetting("bash", f"{sys.argv[2]} {number}", "allow"))
    print(f"{sys.argv[2]} {number}", flush=True)
"""
    chance = random.Random(7)
    acknowledged = []
    for round_number in range(12):
        writer = start(code, path, round_number)
        assert writer.stdout is not None
        for _ in range(chance.randrange(1, 8)):
            acknowledged.append(writer.stdout.readline().strip())
        time.sleep(chance.random() / 50)
        writer.kill()
        rest, _ = writer.communicate(timeout=60)
        acknowledged += rest.split("\n")[:-1]
        found = patterns(path)
        assert set(acknowledged) <= set(found)
        assert len(set(found)) == len(found)
    assert path.read_text().startswith("{\n  // mine\n")
    add_rule(path, ALLOW)
    assert sorted(file.name for file in path.parent.iterdir()) == ["config.jsonc", "config.jsonc.lock"]


def test_only_our_own_leftovers_are_swept(path):
    path.write_text("{}")
    for name in (".config.jsonc.12.345.tmp", ".config.jsonc.mine.tmp", "config.jsonc.tmp"):
        (path.parent / name).write_text("")
    add_rule(path, ALLOW)
    left = {file.name for file in path.parent.iterdir()}
    assert left == {"config.jsonc", "config.jsonc.lock", ".config.jsonc.mine.tmp", "config.jsonc.tmp"}
