"""Full outputs: where they lie, that nothing leads out of the vault, and that only our own are ever removed."""

import hashlib
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.store.interface import StoreError
from holdfast.store.outputs import FOLDER, OutputStore
from holdfast.testing.fixed_clock import FixedClock
from holdfast.testing.memory_store import MemoryStore
from store.small_disk import can_mount, disk_of, read_only
from store.storm_steps import open_store

DAY = 86_400


@pytest.fixture
def vault(tmp_path):
    path = tmp_path / "vault"
    path.mkdir()
    return path


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def outputs(tmp_path, clock):
    return OutputStore(tmp_path / "app" / "outputs", MemoryStore(), clock=clock)


def keep(outputs, vault, text="some text\n", call="call-1", tool="bash", suffix=".txt", date="2026-01-02"):
    return outputs.keep(text, vault, date, tool, call, suffix)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_TR3_an_output_is_kept_whole_in_the_vault_which_ignores_it(outputs, vault):
    kept = keep(outputs, vault, "héllo 世界\n" * 1000)
    assert kept.path == vault / FOLDER / "2026-01-02-bash-call-1.txt"
    data = kept.path.read_bytes()
    assert data.decode() == "héllo 世界\n" * 1000
    assert (kept.size, kept.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert (vault / FOLDER / ".gitignore").read_text() == "*\n"
    assert names(vault / FOLDER) == [".gitignore", "2026-01-02-bash-call-1.txt"]
    assert kept.path.stat().st_mode & 0o077 == 0


def test_TR3_json_bytes_and_pieces(outputs, vault):
    assert keep(outputs, vault, '{"a": 1}', suffix=".json").path.name.endswith("call-1.json")
    assert keep(outputs, vault, b"\xff\x00raw", "b").path.read_bytes() == b"\xff\x00raw"
    assert keep(outputs, vault, iter(["a", b"b", "世"]), "c").path.read_text() == "ab世"
    assert keep(outputs, vault, "", "d").path.read_bytes() == b""
    assert keep(outputs, vault, "half \ud83d", "e").path.read_bytes() == b"half ?"


def test_TR3_one_call_may_leave_several_outputs(outputs, vault):
    paths = [keep(outputs, vault, f"text {n}").path for n in range(3)]
    assert [path.name for path in paths] == [
        "2026-01-02-bash-call-1.txt",
        "2026-01-02-bash-call-1-2.txt",
        "2026-01-02-bash-call-1-3.txt",
    ]
    assert [path.read_text() for path in paths] == ["text 0", "text 1", "text 2"]


def test_TR3_a_file_of_somebody_else_under_the_name_is_not_replaced(outputs, vault):
    (vault / FOLDER).mkdir()
    mine = vault / FOLDER / "2026-01-02-bash-call-1.txt"
    mine.write_text("mine")
    (vault / FOLDER / ".gitignore").write_text("!x\n")
    assert keep(outputs, vault).path.name == "2026-01-02-bash-call-1-2.txt"
    assert mine.read_text() == "mine"
    assert (vault / FOLDER / ".gitignore").read_text() == "!x\n"


def test_TR3_a_file_that_turns_up_while_ours_is_written_is_not_replaced(outputs, vault):
    writer = outputs.open_stream(vault, "2026-01-02", "bash", "c")
    writer.write(b"ours")
    (vault / FOLDER / "2026-01-02-bash-c.txt").write_text("theirs")
    assert writer.finish() is None
    assert (vault / FOLDER / "2026-01-02-bash-c.txt").read_text() == "theirs"
    assert names(vault / FOLDER) == [".gitignore", "2026-01-02-bash-c.txt"]


@given(tool=st.text(max_size=150), call=st.text(max_size=300), date=st.text(max_size=20))
@settings(max_examples=60)
def test_TR3_no_name_leads_out_of_the_directory(tmp_path_factory, tool, call, date):
    base = tmp_path_factory.mktemp("names")
    outputs = OutputStore(base / "app", MemoryStore())
    (base / "vault").mkdir()
    kept = outputs.keep("x", base / "vault", date, tool, call)
    assert kept.path.parent == base / "vault" / FOLDER
    assert kept.path.read_text() == "x"
    assert {path.parent.name for path in base.rglob("*") if path.is_file()} == {FOLDER}


# links


@pytest.mark.parametrize("dangling", [False, True])
def test_TR3_a_planted_link_leads_nowhere(outputs, vault, tmp_path, dangling):
    outside = tmp_path / "outside"
    if not dangling:
        outside.mkdir()
    (vault / FOLDER).symlink_to(outside)
    kept = keep(outputs, vault)
    assert kept.path.parent == tmp_path / "app" / "outputs"
    assert not outside.exists() or names(outside) == []


@pytest.mark.parametrize("name", ["2026-01-02-bash-call-1.txt", "2026-01-02-bash-call-1.txt.part", ".gitignore"])
def test_TR3_links_planted_inside_are_not_followed(outputs, vault, tmp_path, name):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (vault / FOLDER).mkdir()
    (vault / FOLDER / name).symlink_to(victim)
    kept = keep(outputs, vault)
    assert kept.path.read_text() == "some text\n"
    assert not kept.path.is_symlink()
    assert victim.read_text() == "mine"


def test_TR5_a_directory_replaced_by_a_link_is_not_swept(outputs, vault, tmp_path, clock):
    kept = keep(outputs, vault)
    outside = tmp_path / "outside"
    (vault / FOLDER).rename(outside)
    (vault / FOLDER).symlink_to(outside)
    clock.advance(30 * DAY)
    outputs.sweep(7)
    assert (outside / kept.path.name).exists()


# falling back


def test_TR3_without_a_vault_or_where_it_cannot_be_written_the_app_directory_serves(outputs, vault, tmp_path):
    app = tmp_path / "app" / "outputs"
    assert keep(outputs, None).path.parent == app
    assert keep(outputs, "").path.parent == app
    assert keep(outputs, tmp_path / "no" / "such").path.parent == app
    (vault / FOLDER).write_text("a file in the way")
    assert keep(outputs, vault).path.parent == app
    other = tmp_path / "other"
    other.mkdir()
    with read_only(other):
        assert keep(outputs, other).path.parent == app


def test_TR3_when_both_fail_there_is_none_and_nothing_is_left(tmp_path, vault):
    (vault / FOLDER).write_text("a file in the way")
    (tmp_path / "app").write_text("another")
    store = MemoryStore()
    assert keep(OutputStore(tmp_path / "app" / "outputs", store), vault) is None
    assert store.notes("") == {}


class NoRoom(MemoryStore):
    def note(self, key, value):
        raise StoreError("the disk is full")


def test_TR3_what_cannot_be_noted_is_not_kept_as_it_could_never_be_swept(tmp_path, vault):
    outputs = OutputStore(tmp_path / "app", NoRoom())
    assert keep(outputs, vault) is None
    assert names(vault / FOLDER) == [".gitignore"]
    assert names(tmp_path / "app") == []


def test_TR3_a_vault_whose_disk_fills_up_on_the_way_moves_to_the_app_directory(tmp_path, outputs, vault):
    if not can_mount(tmp_path / "vault"):
        pytest.skip("platform: a disk of its own needs root")
    text = "".join(f"line {n}\n" for n in range(40_000))
    with disk_of(128, vault):
        kept = keep(outputs, vault, text)
        assert names(vault / FOLDER) == [".gitignore"]
    assert kept.path.parent == tmp_path / "app" / "outputs"
    assert kept.path.read_text() == text
    assert kept.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_TR3_an_iterator_that_fails_leaves_nothing(outputs, vault):
    def pieces():
        yield "begin"
        raise RuntimeError("the tool died")

    with pytest.raises(RuntimeError):
        outputs.keep(pieces(), vault, "2026-01-02", "bash", "c")
    assert names(vault / FOLDER) == [".gitignore"]


# sweeping


def test_TR5_old_outputs_go_in_every_directory_and_young_ones_stay(outputs, vault, tmp_path, clock):
    second = tmp_path / "second"
    second.mkdir()
    old = [keep(outputs, place, "0123456789") for place in (vault, second, None)]
    clock.advance(5 * DAY)
    young = [keep(outputs, place, call="young") for place in (vault, second, None)]
    clock.advance(3 * DAY)
    swept = outputs.sweep(7)
    assert (swept.removed, swept.freed, swept.left) == (3, 30, 0)
    assert not any(kept.path.exists() for kept in old)
    assert all(kept.path.exists() for kept in young)
    assert outputs.sweep(7).removed == 0
    clock.advance(5 * DAY)
    assert outputs.sweep(7).removed == 3
    assert names(vault / FOLDER) == [".gitignore"]


def test_TR5_zero_days_keep_for_ever(outputs, vault, clock):
    kept = keep(outputs, vault)
    clock.advance(10_000 * DAY)
    assert outputs.sweep(0).removed == 0
    assert kept.path.exists()


def test_TR5_nothing_that_holdfast_did_not_write_is_touched(outputs, vault, clock):
    kept = keep(outputs, vault)
    folder = vault / FOLDER
    theirs = [
        folder / "2026-01-02-bash-mine.txt",
        folder / "notes.md",
        folder / "2026-01-02-bash-x.txt.part",
        vault / "2026-01-02-bash-y.txt",
    ]
    for path in theirs:
        path.write_text("theirs")
        os.utime(path, (0, 0))
    clock.advance(100 * DAY)
    assert outputs.sweep(7).removed == 1
    assert not kept.path.exists()
    assert all(path.read_text() == "theirs" for path in theirs)


@pytest.mark.parametrize("change", ["edited", "same length", "directory", "link"])
def test_TR5_an_output_that_the_user_changed_is_the_users(outputs, vault, clock, tmp_path, change):
    kept = keep(outputs, vault)
    if change == "edited":
        kept.path.write_text("my remarks")
    elif change == "same length":
        kept.path.write_text("SOME TEXT\n")
        os.utime(kept.path, (1, 1))
    else:
        kept.path.unlink()
        if change == "directory":
            kept.path.mkdir()
        else:
            (tmp_path / "elsewhere").write_text("some text\n")
            kept.path.symlink_to(tmp_path / "elsewhere")
    clock.advance(100 * DAY)
    swept = outputs.sweep(7)
    assert (swept.removed, swept.left) == (0, 1)
    assert os.path.lexists(kept.path)
    assert outputs.sweep(7).left == 0, "told once, then no longer ours"


def test_TR5_an_output_that_was_only_touched_is_still_ours(outputs, vault, clock):
    kept = keep(outputs, vault)
    os.utime(kept.path)
    clock.advance(100 * DAY)
    assert outputs.sweep(7).removed == 1


def test_TR5_a_directory_that_is_away_is_swept_when_it_is_back(outputs, vault, clock):
    kept = keep(outputs, vault)
    clock.advance(100 * DAY)
    vault.rename(vault.with_name("unplugged"))
    assert outputs.sweep(7).removed == 0
    vault.with_name("unplugged").rename(vault)
    assert kept.path.exists()
    assert outputs.sweep(7).removed == 1


def test_TR5_what_a_dead_process_left_half_written_goes_too(outputs, vault, clock):
    writer = outputs.open_stream(vault, "2026-01-02", "bash", "died")
    writer.write(b"half")
    os.close(writer.descriptor)
    writer.descriptor = -1
    assert names(vault / FOLDER) == [".gitignore", "2026-01-02-bash-died.txt.part"]
    clock.advance(8 * DAY)
    assert outputs.sweep(7).removed == 1
    assert names(vault / FOLDER) == [".gitignore"]


def test_SC4_one_output_can_be_forgotten_now(outputs, vault):
    kept = keep(outputs, vault)
    other = vault / "other.txt"
    other.write_text("x")
    assert outputs.forget(kept.path)
    assert not kept.path.exists()
    assert not outputs.forget(kept.path)
    assert not outputs.forget(other)
    assert other.exists()


def test_TR5_notes_survive_in_the_real_store_with_odd_paths(tmp_path, clock):
    store = open_store(tmp_path / "home")
    vault = tmp_path / os.fsdecode(b"v\xff %41 \xe4\xb8\x96")
    vault.mkdir()
    kept = keep(OutputStore(tmp_path / "app", store, clock=clock), vault)
    store.close()
    store = open_store(tmp_path / "home")
    clock.advance(8 * DAY)
    assert OutputStore(tmp_path / "app", store, clock=clock).sweep(7).removed == 1
    assert not kept.path.exists()
    assert store.notes("output:") == {}
    store.close()


def test_TR3_a_large_output_is_hashed_beside_the_work(outputs, vault):
    piece = os.urandom(1 << 20)
    kept = keep(outputs, vault, (piece for _ in range(40)))
    expected = hashlib.sha256()
    for _ in range(40):
        expected.update(piece)
    began = time.monotonic()
    assert kept.sha256 == expected.hexdigest()
    assert time.monotonic() - began < 30
