"""`holdfast audit`: shows decisions safely, tells when the record was touched, and copies it whole."""

import csv
import json

import pytest

from holdfast.store.interface import Change, Session
from holdfast.store.sqlite import SqliteStore
from holdfast.testing.builders import session_id


def entry(number, decision="allow", targets=("shell:git status",), **over):
    return {
        "eventId": f"e{number}",
        "sessionId": "s1",
        "mode": "agent",
        "decision": decision,
        "permissionDomain": "bash",
        "targets": list(targets),
        "rulePattern": "git *",
        "rule": {"source": "config.jsonc", "line": 12},
        "timestamp": 1_790_000_000.0 + number,
        "decidedBy": "policy",
        **over,
    }


@pytest.fixture
def record(holdfast):
    """Writes entries into the home's store."""

    def write(*entries, session="s1"):
        store = SqliteStore(holdfast.home / "data" / "holdfast.db", audit_dir=holdfast.home / "logs" / "agent-audit")
        where = session_id(session, thread=session)
        store.open_session(Session(where, "claude-code", str(holdfast.vault), 1.0))
        store.commit(Change(where, audit=tuple({**item, "sessionId": session} for item in entries)))
        store.close()

    holdfast("init")
    return write


def test_AU1_show_tells_when_what_by_which_rule_and_by_whom(holdfast, record):
    record(entry(1), entry(2, "deny", ["shell:rm -rf /"]))
    first, second = holdfast("audit", "show").out.splitlines()
    assert "allow" in first
    assert "deny" in second
    for part in ("bash", "shell:rm -rf /", "git * (config.jsonc:12)", "by policy", "s1", "e2"):
        assert part in second


def test_show_filters_and_keeps_the_latest(holdfast, record):
    record(*(entry(number, "deny" if number % 2 else "allow") for number in range(10)))
    record(entry(50, "ask"), session="s2")
    latest = holdfast("audit", "show", "--limit", "2", "--json").data()
    assert [found["eventId"] for found in latest] == ["e9", "e50"]
    denied = holdfast("audit", "show", "--decision", "deny", "--json").data()
    assert {found["decision"] for found in denied} == {"deny"}
    assert [found["eventId"] for found in holdfast("audit", "show", "--session", "s2", "--json").data()] == ["e50"]
    assert holdfast("audit", "show", "--domain", "mcp").out == "nothing recorded\n"


def test_show_lets_no_target_steer_the_terminal(holdfast, record):
    record(entry(1, targets=["shell:echo \x1b]0;owned\x07\u202e"]))
    said = holdfast("audit", "show").out
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\\x1b" in said


def test_AU2_verify_is_content_with_an_untouched_record(holdfast, record):
    record(entry(1), entry(2))
    ran = holdfast("audit", "verify")
    assert (ran.code, ran.out) == (0, "2 entries in 1 files, all as they were written\n")


def test_AU2_verify_names_the_line_that_was_changed(holdfast, record):
    record(entry(1), entry(2, "deny"), entry(3))
    (file,) = (holdfast.home / "logs" / "agent-audit").glob("*.jsonl")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text(lines[0] + lines[1].replace("deny", "allow") + lines[2])
    ran = holdfast("audit", "verify", "--json")
    assert ran.code == 1
    assert [(problem["line"], problem["kind"]) for problem in ran.data()["problems"]] == [(2, "changed")]


def test_export_gives_every_field_and_the_chain(holdfast, record, tmp_path):
    record(entry(1), entry(2))
    lines = [json.loads(line) for line in holdfast("audit", "export").out.splitlines()]
    assert [line["eventId"] for line in lines] == ["e1", "e2"]
    assert lines[1]["prev"] == lines[0]["hash"]
    target = tmp_path / "copy.jsonl"
    ran = holdfast("audit", "export", "--output", str(target), "--json")
    assert ran.data() == {"path": str(target), "entries": 2}
    assert [json.loads(line) for line in target.read_text().splitlines()] == lines


def test_export_as_csv_holds_no_formula(holdfast, record):
    record(entry(1, targets=["=cmd|'/c calc'!A1"]), entry(2, targets=["a", "b"]))
    rows = list(csv.DictReader(holdfast("audit", "export", "--format", "csv").out.splitlines(keepends=True)))
    assert rows[0]["targets"] == "'=cmd|'/c calc'!A1"
    assert rows[1]["targets"] == "a\nb"


def test_without_a_record_nothing_is_made(holdfast):
    for command in ("show", "verify", "export"):
        assert holdfast("audit", command).code == 0
    assert not holdfast.home.exists()
