"""From every version ever released to the newest, with a copy before each step."""

import gzip
import sqlite3
import threading
from pathlib import Path

import pytest

from holdfast.store.interface import StoreError
from holdfast.store.migrations import MIGRATIONS, backup_path, migrate, version_of
from store.golden import golden_content
from store.storm_steps import open_store

GOLDEN = Path(__file__).parent / "golden"


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, timeout=30)


def lay_down(version: int, home: Path) -> Path:
    path = home / "data" / "holdfast.db"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.decompress((GOLDEN / f"v{version}.db.gz").read_bytes()))
    return path


def test_OP3_there_is_a_golden_database_of_every_version():
    assert sorted(path.name for path in GOLDEN.glob("*.gz")) == [f"v{n + 1}.db.gz" for n in range(len(MIGRATIONS))]


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS) + 1))
def test_OP3_a_golden_database_opens_with_everything_in_it(tmp_path, version):
    path = lay_down(version, tmp_path)
    store = open_store(tmp_path)
    golden_content.check(store)
    store.close()
    connection = connect(path)
    assert version_of(connection) == len(MIGRATIONS)
    connection.close()


def test_OP3_the_newest_golden_database_is_what_this_program_writes(tmp_path):
    """A released step was changed if this fails: add a new step instead."""
    golden_content.fill(tmp_path / "new")
    lay_down(len(MIGRATIONS), tmp_path / "old")

    def schema(home):
        connection = connect(home / "data" / "holdfast.db")
        rows = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()
        connection.close()
        return rows

    assert schema(tmp_path / "new") == schema(tmp_path / "old")


def test_a_newer_database_is_refused_and_left_alone(tmp_path):
    path = lay_down(len(MIGRATIONS), tmp_path)
    connection = connect(path)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(StoreError, match=r"holdfast\.db was written by a newer Holdfast .*update Holdfast"):
        open_store(tmp_path)
    connection = connect(path)
    assert version_of(connection) == len(MIGRATIONS) + 1
    connection.close()


STEPS = (
    ("CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES ('one')"),
    ("ALTER TABLE t ADD COLUMN b TEXT", "UPDATE t SET b = a || '!'"),
    ("INSERT INTO t VALUES ('three', 'x')",),
)


def rows(path: Path) -> list:
    connection = connect(path)
    found = connection.execute("SELECT * FROM t ORDER BY a").fetchall()
    connection.close()
    return found


def test_OP3_each_step_leaves_a_copy_of_what_was_before_it(tmp_path):
    path = tmp_path / "x.db"
    connection = connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    migrate(connection, path, STEPS[:1])
    connection.execute("INSERT INTO t VALUES ('two')")
    assert list(tmp_path.glob("*bak*")) == [], "nothing to copy before the first step"
    migrate(connection, path, STEPS)
    assert rows(path) == [("one", "one!"), ("three", "x"), ("two", "two!")]
    assert rows(backup_path(path, 1)) == [("one",), ("two",)], "what stood only in the log beside the file, too"
    assert rows(backup_path(path, 2)) == [("one", "one!"), ("two", "two!")]
    assert backup_path(path, 1).stat().st_mode & 0o077 == 0
    assert not list(tmp_path.glob("*.part"))
    migrate(connection, path, STEPS)
    connection.close()


def test_OP3_a_new_file_takes_all_steps_at_once_and_leaves_no_copy(tmp_path):
    path = tmp_path / "x.db"
    connection = connect(path)
    migrate(connection, path, STEPS)
    assert version_of(connection) == len(STEPS)
    connection.close()
    assert rows(path) == [("one", "one!"), ("three", "x")]
    assert [found.name for found in tmp_path.iterdir()] == ["x.db"]


def test_OP3_a_step_that_fails_changes_nothing(tmp_path):
    path = tmp_path / "x.db"
    connection = connect(path)
    migrate(connection, path, STEPS[:1])
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, path, (*STEPS[:1], ("INSERT INTO t VALUES ('half')", "no sql at all")))
    assert version_of(connection) == 1
    assert rows(path) == [("one",)]
    migrate(connection, path, STEPS)
    assert version_of(connection) == 3
    connection.close()


def test_OP3_many_that_open_an_old_database_at_once_migrate_it_once(tmp_path):
    path = tmp_path / "x.db"
    first = connect(path)
    first.execute("PRAGMA journal_mode = WAL")
    migrate(first, path, STEPS[:1])
    first.close()
    failures: list[Exception] = []

    def open_and_migrate():
        connection = connect(path)
        try:
            migrate(connection, path, STEPS)
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=open_and_migrate) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert rows(path) == [("one", "one!"), ("three", "x")]
