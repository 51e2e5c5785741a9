"""The audit files: what stands in them, that they survive crashes, and that no alteration goes unnoticed."""

import json
import os
import sqlite3
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.audit_verify import check_chain, check_file, line_hash
from holdfast.store.interface import Change
from store.storm_steps import audit_entry, open_store, place, session_at

HERE = place("s1")


def record(home: Path, count: int, where=HERE) -> Path:
    """`count` entries by a process that ends as it should; the path of their file."""
    store = open_store(home)
    store.open_session(session_at(where))
    for number in range(count):
        store.commit(Change(where, audit=(audit_entry(where, f"e{number}"),)))
    store.close()
    return home / "logs" / "agent-audit" / f"{where.session}.jsonl"


def problems(home: Path, session: str | None = None) -> list[tuple[str, int]]:
    store = open_store(home)
    try:
        return [(problem.kind, problem.line) for problem in store.verify_audit(session=session).problems]
    finally:
        store.close()


def forget_what_was_written(home: Path, written: int) -> None:
    """As if the process had died before it noted what the file holds."""
    database = sqlite3.connect(home / "data" / "holdfast.db")
    with database:
        database.execute("UPDATE audit_chains SET written = ?", (written,))
    database.close()


def test_AU1_one_line_of_json_for_each_decision_in_the_sessions_file(tmp_path):
    path = record(tmp_path, 3)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["eventId"] for line in lines] == ["e0", "e1", "e2"]
    asked_for = {"eventId", "sessionId", "mode", "decision", "permissionDomain", "targets", "rulePattern", "timestamp"}
    assert all(asked_for | {"decidedBy", "seq", "prev", "hash"} == set(line) for line in lines)
    assert [line["seq"] for line in lines] == [1, 2, 3]
    assert [line["prev"] for line in lines] == ["0" * 64, lines[0]["hash"], lines[1]["hash"]]
    assert "主.py" in path.read_text(encoding="utf-8"), "raw UTF-8, so that a search in the file finds it"
    assert path.stat().st_mode & 0o077 == 0
    assert problems(tmp_path) == []


def test_AU1_the_store_gives_the_entries_of_one_session_or_of_all_in_order(tmp_path):
    store = open_store(tmp_path)
    for where in (HERE, place("s2")):
        store.open_session(session_at(where))
    for number in range(600):
        where = HERE if number % 3 else place("s2")
        store.commit(Change(where, audit=(audit_entry(where, f"e{number}"),)))
    assert [entry["eventId"] for entry in store.audit()] == [f"e{number}" for number in range(600)]
    assert [entry["eventId"] for entry in store.audit(session="s2")] == [f"e{n}" for n in range(0, 600, 3)]
    assert list(store.audit(session="nobody")) == []
    first = store.audit_since(0, 2)
    assert [entry["eventId"] for _, entry in first] == ["e0", "e1"]
    assert [entry["eventId"] for _, entry in store.audit_since(first[-1][0], 2)] == ["e2", "e3"]
    ours = store.audit_since(first[-1][0], 2, session="s2")
    assert [entry["eventId"] for _, entry in ours] == ["e3", "e6"]
    assert list(store.audit_since(store.audit_since(597, 1000)[-1][0])) == []
    report = store.verify_audit()
    assert (report.ok, report.files, report.entries) == (True, 2, 600)
    assert store.verify_audit(session="s2").entries == 200
    store.close()


@pytest.mark.parametrize("name", ["../../escape", "/etc/passwd", "..", "a/b", "x" * 400])
def test_AU2_no_session_id_leads_out_of_the_directory(tmp_path, name):
    record(tmp_path, 2, place(name, thread="t"))
    inside = [path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*") if path.is_file()]
    assert set(inside) == {"data", "logs"}
    assert len(list((tmp_path / "logs" / "agent-audit").iterdir())) == 1
    assert problems(tmp_path) == []


def test_AU2_a_link_planted_as_the_file_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "logs" / "agent-audit"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").symlink_to(victim)
    record(tmp_path, 2)
    assert victim.read_text() == "mine"
    assert problems(tmp_path) == [("missing", 0)]
    (folder / "s1.jsonl").unlink()
    record(tmp_path, 0)
    assert problems(tmp_path) == [], "what could not be written is kept in the store and written later"


# crashes


@pytest.mark.parametrize("left", [0.0, 0.2, 0.5, 0.97])
@pytest.mark.parametrize("confirmed", [0, 2])
def test_AU2_a_tail_that_a_crash_left_torn_is_made_whole(tmp_path, left, confirmed):
    path = record(tmp_path, 5)
    whole = path.read_bytes()
    keep = len(b"".join(whole.splitlines(keepends=True)[:confirmed]))
    path.write_bytes(whole[: keep + int((len(whole) - keep) * left)])
    forget_what_was_written(tmp_path, confirmed)
    assert problems(tmp_path) == []
    assert path.read_bytes() == whole


def test_AU2_a_file_that_a_crash_left_unmade_is_made_at_the_next_opening(tmp_path):
    path = record(tmp_path, 3)
    whole = path.read_bytes()
    path.unlink()
    forget_what_was_written(tmp_path, 0)
    open_store(tmp_path).close()
    assert path.read_bytes() == whole


def test_AU2_a_hole_that_a_power_cut_left_is_filled(tmp_path):
    path = record(tmp_path, 3)
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\0" * (len(whole) - 100))
    forget_what_was_written(tmp_path, 0)
    assert problems(tmp_path) == []
    assert path.read_bytes() == whole


def test_AU2_threads_and_stores_that_write_one_session_leave_one_whole_chain(tmp_path):
    stores = [open_store(tmp_path) for _ in range(3)]
    stores[0].open_session(session_at(HERE))

    def write(store, me):
        for number in range(40):
            store.commit(Change(HERE, audit=(audit_entry(HERE, f"{me}-{number}"),)))

    threads = [threading.Thread(target=write, args=(stores[me % 3], me)) for me in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    report = stores[0].verify_audit()
    assert (report.entries, report.problems) == (240, ())
    for store in stores:
        store.close()
    assert problems(tmp_path) == []


# alterations


def altered(home: Path, change) -> list[tuple[str, int]]:
    path = record(home, 6)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(change(lines)))
    return problems(home)


def swap(lines):
    lines[2], lines[3] = lines[3], lines[2]
    return lines


def rehashed(line: bytes) -> bytes:
    """A line changed by somebody who knows how the hash is made."""
    from holdfast.store.audit_log import chained_line

    entry = json.loads(line)
    previous, seq = entry["prev"], entry["seq"]
    return chained_line({**entry, "decision": "deny"}, seq, previous)[0] + b"\n"


def rechained(lines):
    """From line 3 on: one line changed, and every hash after it made anew."""
    from holdfast.store.audit_log import chained_line

    previous = json.loads(lines[1])["hash"]
    result = lines[:2]
    for line in lines[2:]:
        entry = json.loads(line)
        made, previous = chained_line({**entry, "decision": "deny"}, entry["seq"], previous)
        result.append(made + b"\n")
    return result


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda lines: lines[:2] + lines[3:], [("removed", 3)]),
        (lambda lines: lines[1:], [("removed", 1)]),
        (lambda lines: lines[:4], [("cut", 5)]),
        (lambda lines: [], [("cut", 1)]),
        (lambda lines: [*lines[:3], lines[3].replace(b"allow", b"deny "), *lines[4:]], [("changed", 4)]),
        (lambda lines: [*lines[:3], rehashed(lines[3]), *lines[4:]], [("changed", 4)]),
        (rechained, [("changed", 3), ("changed", 4), ("changed", 5), ("changed", 6)]),
        (lambda lines: [*lines[:3], lines[1], *lines[3:]], [("inserted", 4)]),
        (lambda lines: [*lines[:3], b'{"decision":"allow"}\n', *lines[3:]], [("inserted", 4)]),
        (lambda lines: [*lines, b'{"decision":"allow"}\n'], [("inserted", 7)]),
        (lambda lines: [*lines[:2], b"\n", *lines[2:]], [("inserted", 3)]),
        (lambda lines: [*lines[:5], lines[5][:-1]], [("changed", 6)]),
        (lambda lines: [*lines[:5], lines[5][:-20]], [("changed", 6)]),
        (swap, [("reordered", 3)]),
        (lambda lines: [lines[5], *lines[:5]], [("reordered", 1)]),
    ],
)
def test_AU2_each_alteration_is_named_with_its_line(tmp_path, change, expected):
    assert altered(tmp_path, change) == expected


def test_AU2_a_file_taken_away_and_a_file_put_in_are_named(tmp_path):
    path = record(tmp_path, 2)
    path.rename(path.with_name("s9.jsonl"))
    assert problems(tmp_path) == [("missing", 0), ("unknown", 0)]
    assert problems(tmp_path, session="s1") == [("missing", 0)]


def test_AU2_a_cut_is_still_told_after_more_was_recorded(tmp_path):
    path = record(tmp_path, 4)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    store = open_store(tmp_path)
    for number in range(3):
        store.commit(Change(HERE, audit=(audit_entry(HERE, f"later{number}"),)))
    store.close()
    assert [json.loads(line)["eventId"] for line in path.read_bytes().splitlines()][2:] == [
        "later0",
        "later1",
        "later2",
    ]
    assert problems(tmp_path) == [("removed", 3)]


def test_AU2_recording_goes_on_after_somebody_added_text_without_an_end(tmp_path):
    path = record(tmp_path, 2)
    with path.open("ab") as file:
        file.write(b"scribble")
    record(tmp_path, 2)
    assert problems(tmp_path) == [("inserted", 3)]


def test_AU2_a_line_cut_while_another_process_keeps_the_store_open_is_told(tmp_path):
    store = open_store(tmp_path)
    store.open_session(session_at(HERE))
    for number in range(3):
        store.commit(Change(HERE, audit=(audit_entry(HERE, f"e{number}"),)))
    path = tmp_path / "logs" / "agent-audit" / "s1.jsonl"
    assert store.verify_audit().ok
    os.truncate(path, len(path.read_bytes()) - 10)
    assert problems(tmp_path) == [("changed", 3)]
    store.close()


def test_AU2_an_altered_copy_in_the_store_is_told(tmp_path):
    record(tmp_path, 3)
    database = sqlite3.connect(tmp_path / "data" / "holdfast.db")
    with database:
        database.execute("UPDATE audit_entries SET line = replace(line, 'allow', 'deny') WHERE seq = 2")
    database.close()
    assert ("store", 0) in problems(tmp_path)


CHAIN = []
for _number in range(12):
    from holdfast.store.audit_log import chained_line as _chained_line

    _line, _hash = _chained_line({"eventId": f"e{_number}"}, _number + 1, CHAIN[-1][1] if CHAIN else "0" * 64)
    CHAIN.append((_line + b"\n", _hash))
HASHES = [own for _, own in CHAIN]


@given(
    st.lists(
        st.one_of(
            st.integers(0, len(CHAIN) - 1).map(lambda index: CHAIN[index][0]),
            st.sampled_from([b"\n", b"x\n", b'{"hash":"y"}\n', CHAIN[3][0].replace(b"e3", b"e4")]),
        ),
        max_size=20,
    )
)
def test_AU2_only_the_chain_itself_passes(lines):
    found = check_file("f", lines, HASHES)
    assert (found == []) == (lines == [line for line, _ in CHAIN])
    assert all(1 <= problem.line <= len(lines) + 1 for problem in found)


@given(st.integers(0, 11), st.integers(0, 400), st.integers(1, 255))
def test_AU2_no_single_byte_can_be_changed_unnoticed(index, position, difference):
    line = bytearray(CHAIN[index][0])
    line[position % len(line)] ^= difference
    lines = [bytes(line) if place == index else kept for place, (kept, _) in enumerate(CHAIN)]
    text = b"".join(lines).splitlines(keepends=True)
    assert check_file("f", text, HASHES)


def test_check_chain_wants_links_count_and_end():
    links = [(line_hash(line[:-1]), json.loads(line)["prev"]) for line, _ in CHAIN]
    assert check_chain(links, 12, HASHES[-1], "0" * 64) is None
    assert check_chain(links[:-1], 12, HASHES[-1], "0" * 64)
    assert check_chain(links, 12, "f" * 64, "0" * 64)
    assert check_chain([*links[:3], links[4]], 4, HASHES[4], "0" * 64)
    assert check_chain([], 0, "0" * 64, "0" * 64) is None
