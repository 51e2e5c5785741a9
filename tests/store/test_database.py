"""What the store says when the disk, the home or the file itself is not as it should be."""

import sqlite3
from pathlib import Path

import pytest

from holdfast.store.database import _Job
from holdfast.store.interface import Change, StoreError
from store.small_disk import can_mount, disk_of, read_only
from store.storm_steps import audit_entry, is_whole, open_store, place, sealed_event, session_at

HERE = place("s1")


def fill(home: Path) -> tuple[list[str], StoreError]:
    """Record until the disk is full: what was acknowledged, and what was said then."""
    store = open_store(home)
    store.open_session(session_at(HERE))
    promised: list[str] = []
    said: StoreError | None = None
    while said is None:
        assert len(promised) < 20_000, "the disk never filled up"
        event_id = f"e{len(promised)}"
        try:
            store.commit(
                Change(HERE, events=(sealed_event(HERE, event_id, 2000),), audit=(audit_entry(HERE, event_id),))
            )
        except StoreError as error:
            said = error
        else:
            promised.append(event_id)
    assert [record.id for record in store.events("s1", limit=100_000)] == promised, "still readable, and nothing more"
    store.close()
    return promised, said


def write_one(home: Path, event_id: str) -> None:
    store = open_store(home)
    store.open_session(session_at(HERE))
    store.commit(Change(HERE, events=(sealed_event(HERE, event_id),)))
    store.close()


def test_SC4_a_full_disk_is_named_and_loses_nothing_already_written(tmp_path):
    home = tmp_path / "home"
    with disk_of(1500, home):
        promised, said = fill(home)
        assert str(home / "data" / "holdfast.db") in str(said)
        assert "nothing" in str(said)
        assert "Free space" in str(said)
        assert promised
        copy = tmp_path / "copy"
        for path in sorted(path for path in home.rglob("*") if path.is_file() and not path.name.endswith("-shm")):
            target = copy / path.relative_to(home)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    # The same files, moved to where there is room: all of it is there, and work goes on.
    store = open_store(copy)
    records = store.events("s1", limit=100_000)
    assert [record.id for record in records] == promised
    assert all(is_whole(record) for record in records)
    assert store.verify_audit().problems == ()
    store.commit(Change(HERE, events=(sealed_event(HERE, "more"),)))
    store.close()


def test_SC4_a_full_disk_for_the_audit_files_alone_does_not_lose_an_entry(tmp_path):
    logs = tmp_path / "logs"
    (logs / "agent-audit").mkdir(parents=True)
    with disk_of(16, logs) if can_mount(tmp_path) else read_only(logs):
        store = open_store(tmp_path)
        store.open_session(session_at(HERE))
        for number in range(200):
            store.commit(Change(HERE, audit=(audit_entry(HERE, f"e{number}"),)))
        usage = store.usage()
        assert usage["audit_behind"] > 0
        assert "s1.jsonl could not be written" in usage["audit_trouble"]
        store.close()
    store = open_store(tmp_path)
    assert [entry["eventId"] for entry in store.audit()] == [f"e{number}" for number in range(200)]
    store.close()


def test_a_read_only_home_is_named_with_the_next_step(tmp_path):
    home = tmp_path / "home"
    write_one(home, "e1")
    with read_only(home):
        with pytest.raises(StoreError) as said:
            write_one(home, "e2")
        assert str(home / "data" / "holdfast.db") in str(said.value)
        assert "HOLDFAST_HOME" in str(said.value)
    store = open_store(home)
    assert [record.id for record in store.events("s1")] == ["e1"]
    store.close()


def test_a_home_that_cannot_be_made_is_named(tmp_path):
    parent = tmp_path / "parent"
    parent.mkdir()
    with read_only(parent), pytest.raises(StoreError, match=r"holdfast\.db could not be opened: .*HOLDFAST_HOME"):
        open_store(parent / "home")
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match=r"file/data/holdfast\.db could not be opened"):
        open_store(blocked)


def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path):
    path = tmp_path / "data" / "holdfast.db"
    path.parent.mkdir()
    path.write_bytes(b"no database at all, but long enough to be looked at" * 50)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"holdfast\.db could not be opened: it is damaged .*bak-v"):
        open_store(tmp_path)
    assert path.read_bytes() == before


def test_a_damaged_page_is_named_when_it_is_read(tmp_path):
    store = open_store(tmp_path)
    store.open_session(session_at(HERE))
    for number in range(200):
        store.commit(Change(HERE, events=(sealed_event(HERE, f"e{number}", 3000),)))
    store.close()
    path = tmp_path / "data" / "holdfast.db"
    data = bytearray(path.read_bytes())
    data[len(data) // 3 : len(data) // 3 * 2] = b"\xff" * (len(data) // 3)
    path.write_bytes(bytes(data))
    with pytest.raises(StoreError, match=r"holdfast\.db could not be (read|opened)"):
        open_store(tmp_path).events("s1", limit=1000)


def test_every_commit_is_synced_to_the_disk(tmp_path):
    """Durable means that a power cut does not undo it: SQLite's full sync, in the mode that needs one per commit."""
    store = open_store(tmp_path)
    connection = sqlite3.connect(tmp_path / "data" / "holdfast.db")
    assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    connection.close()
    with store._database.read() as reader:
        assert reader.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert store._database.write(lambda writer: writer.execute("PRAGMA synchronous").fetchone()[0]) == 2
    store.close()


def test_what_nothing_rests_on_goes_to_the_disk_with_the_next_commit(tmp_path):
    """It is in the log for every other process at once; whatever shares its transaction is synced all the same."""
    store = open_store(tmp_path)
    ask = "PRAGMA synchronous"
    assert store._database.write(lambda writer: writer.execute(ask).fetchone()[0], synced=False) == 1
    with pytest.raises(ZeroDivisionError):
        store._database.write(lambda writer: 1 / 0, synced=False)
    assert store._database.write(lambda writer: writer.execute(ask).fetchone()[0]) == 2
    first, second = _Job(lambda writer: None, False), _Job(lambda writer: writer.execute(ask).fetchone()[0], True)
    store._database._transact([first, second])
    assert second.value == 2
    store.close()
