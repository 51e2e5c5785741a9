"""`holdfast status`: what is there, how much room it takes, how fast it grows."""

import os

from holdfast.doors.cli_status import disk_use
from holdfast.store.home import Home
from holdfast.store.interface import Session
from holdfast.store.sqlite import SqliteStore
from holdfast.testing.builders import session_id

NOW = 1_790_000_000.0
DAY = 86_400


def test_status_of_a_fresh_machine_makes_nothing(holdfast):
    ran = holdfast("status")
    assert ran.code == 0
    assert "nothing recorded yet" in ran.out
    assert not holdfast.home.exists()


def test_status_counts_what_is_recorded(holdfast):
    holdfast("init")
    store = SqliteStore(holdfast.home / "data" / "holdfast.db", audit_dir=holdfast.home / "logs" / "agent-audit")
    store.open_session(Session(session_id(), "claude-code", str(holdfast.vault), 1.0))
    store.close()
    data = holdfast("status", "--json").data()
    assert data["home"] == str(holdfast.home)
    assert data["vault"]["path"] == str(holdfast.vault)
    assert data["record"]["sessions"] == data["record"]["active_sessions"] == 1
    assert data["disk"]["parts"]["database"] > 0
    assert data["disk"]["total_bytes"] == sum(data["disk"]["parts"].values())
    assert "1, 1 of them active" in holdfast("status").out


def test_status_on_a_broken_configuration_names_it_and_shows_the_rest(holdfast):
    holdfast("init")
    holdfast.config.write_text("{")
    ran = holdfast("status")
    assert ran.code == 3
    assert f"{holdfast.config}:1:2: expected a key" in ran.out
    assert "disk" in ran.out


def test_disk_use_is_told_by_part_and_growth_by_the_last_week(tmp_path):
    home = Home(tmp_path / "home")
    home.create()
    for path, count, age in (
        (home.database, 1000, 1),
        (home.outputs / "2026" / "x.txt", 700, 3),
        (home.outputs / "old.txt", 5000, 30),
        (home.audit / "s.jsonl", 400, 0),
        (home.config, 50, 20),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * count)
        os.utime(path, (NOW - age * DAY, NOW - age * DAY))
    use = disk_use(home, NOW)
    assert use["parts"] == {"database": 1000, "logs": 400, "outputs": 5700, "settings": 50}
    assert use["total_bytes"] == 7150
    assert use["bytes_per_day"] == 300


def test_growth_of_a_young_home_is_not_made_larger_than_it_is(tmp_path):
    home = Home(tmp_path / "home")
    home.create()
    home.config.write_bytes(b"x" * 70)
    os.utime(home.config, (NOW - 60, NOW - 60))
    assert disk_use(home, NOW)["bytes_per_day"] == 70


def test_status_tells_what_is_ordered_for_the_hosts(holdfast):
    assert "none; `holdfast attach HOST`" in holdfast("status").out
    holdfast("pause", "codex", "30m")
    holdfast("panic")
    data = holdfast("status", "--json").data()["hosts"]
    assert data["panic"] is True
    assert list(data["paused"]) == ["codex"]
    said = holdfast("status").out
    assert "everything, by `holdfast panic`" in said
    assert "`holdfast pause codex off` ends it" in said
