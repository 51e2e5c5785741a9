"""Room in SQLite's log: nothing in it is ever taken for data, whoever dies and whoever else is writing."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.store.database import Database
from holdfast.store.wal_room import ROOM, make_room


def log_of(path: Path) -> Path:
    return Path(f"{path}-wal")


def put(database: Database, number: int) -> None:
    text = f"value {number}"
    database.write(lambda connection: connection.execute("INSERT INTO notes VALUES (?, ?)", (str(number), text)))


def numbers(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return sorted(int(key) for (key,) in connection.execute("SELECT key FROM notes"))
    finally:
        connection.close()


@pytest.fixture
def database(tmp_path):
    it = Database(tmp_path / "store.db")
    yield it
    it.close()


def test_a_commit_does_not_make_the_log_grow(database):
    put(database, 0)
    make_room(database.path)
    assert log_of(database.path).stat().st_size == ROOM
    for number in range(1, 200):
        put(database, number)
    assert log_of(database.path).stat().st_size == ROOM
    database.close()
    assert numbers(database.path) == list(range(200))


def test_room_is_made_once_and_a_full_log_goes_on_from_its_beginning(database):
    make_room(database.path)
    make_room(database.path)
    assert log_of(database.path).stat().st_size == ROOM
    filler = "x" * 100_000

    def fill(connection):
        connection.executemany("INSERT INTO notes VALUES (?, ?)", [(str(n), filler) for n in range(200)])

    database.write(fill)  # more than the room: the log is emptied into the database
    for number in range(200, 260):
        put(database, number)
    database.close()
    assert numbers(database.path) == list(range(260))


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path):
    path = tmp_path / "store.db"
    script = """
import sys
from pathlib import Path
from holdfast.store.database import Database
from holdfast.store.wal_room import make_room

database = Database(Path(sys.argv[1]))
make_room(database.path)
for number in range(100_000):
    database.write(lambda c: c.execute("INSERT INTO notes VALUES (?, ?)", (str(number), "v")))
    print(number, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        acknowledged = [int(next(writer.stdout)) for _ in range(50)]
        writer.send_signal(signal.SIGKILL)
    assert log_of(path).stat().st_size == ROOM
    found = numbers(path)
    assert found[:50] == acknowledged
    assert found == list(range(len(found))), "and nothing but what was written"


def test_making_room_disturbs_no_other_writer(database):
    others = [Database(database.path) for _ in range(3)]

    def write(part: int) -> None:
        for number in range(60):
            put(others[part], part * 1000 + number)

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(write, part) for part in range(3)]
        making = [pool.submit(make_room, database.path) for _ in range(5)]
        for done in (*writing, *making):
            done.result(60)
    for other in others:
        other.close()
    database.close()
    assert numbers(database.path) == sorted(part * 1000 + number for part in range(3) for number in range(60))
