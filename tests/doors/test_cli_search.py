"""`holdfast search`: finds, filters, pages, tells programs the same as people, and lets no text steer the terminal."""

import json
import subprocess
import sys

import pytest

from holdfast.store.interface import Change, EventRecord, Session
from holdfast.store.sqlite import SqliteStore
from holdfast.testing.builders import session_id


@pytest.fixture
def record(holdfast):
    """Writes events into the home's store."""
    count = 0

    def write(*texts, session="s1", vault="/elsewhere", **fields):
        nonlocal count
        store = SqliteStore(holdfast.home / "data" / "holdfast.db", audit_dir=holdfast.home / "logs" / "agent-audit")
        where = session_id(session, thread=f"thread-{session}")
        store.open_session(Session(where, "claude-code", str(vault), 1.0))
        events = []
        for text in texts:
            count += 1
            values = {"at": 1_780_000_000.0 + count, "kind": "tool_called", "data": {}, "invocation": "run", **fields}
            events.append(EventRecord(id=f"e{count}", where=where, text=text, **values))
        store.commit(Change(where, events=tuple(events)))
        store.close()

    holdfast("init")
    return write


def test_SC6_a_hit_names_session_and_event(holdfast, record):
    record("first", "the needle in the hay", tool="bash")
    ran = holdfast("search", "needle")
    assert ran.code == 0
    head, snippet = ran.out.splitlines()
    assert head.startswith("s1 #2  ")
    assert head.endswith("tool_called bash")
    assert snippet == "    the needle in the hay"


def test_SC6_json_holds_everything(holdfast, record):
    record("the needle")
    found = holdfast("search", "needle", "--json").data()
    (hit,) = found["hits"]
    assert (hit["session"], hit["event_no"], hit["snippet"], hit["marks"]) == ("s1", 1, "the needle", [[4, 10]])
    assert found["cursor"] is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {"e1", "e2", "e3"}),
        (["--session", "s2"], {"e3"}),
        (["--thread", "thread-s1"], {"e1", "e2"}),
        (["--thread", "thread-s2", "--session", "s1"], set()),
        (["--tool", "bash"], {"e2"}),
        (["--kind", "prompt_submitted"], {"e1"}),
        (["--file", "src/app.py"], {"e2"}),
        (["--agent", "holdfast"], {"e1", "e2", "e3"}),
        (["--here"], {"e3"}),
        (["--since", "2026-01-01"], {"e1", "e2", "e3"}),
        (["--until", "2026-01-01"], set()),
        (["--since", "1m"], set()),
    ],
)
def test_SC6_filters(holdfast, record, options, expected):
    record("a needle", kind="prompt_submitted")
    record("a needle", tool="bash", files=("vault:/src/app.py",))
    record("a needle", session="s2", vault=holdfast.vault)
    hits = holdfast("search", "needle", "--json", *options).data()["hits"]
    assert {hit["event_id"] for hit in hits} == expected


def test_SC6_the_beginning_of_an_id_will_do(holdfast, record):
    record("a needle", session="alpha-1")
    record("a needle", session="beta-2")
    for options in (["--session", "be"], ["--thread", "thread-be"]):
        (hit,) = holdfast("search", "needle", "--json", *options).data()["hits"]
        assert hit["session"] == "beta-2"


def test_SC6_pages(holdfast, record):
    record(*(f"needle {number}" for number in range(25)))
    seen, cursor = [], []
    for _ in range(3):
        page = holdfast("search", "needle", "--limit", "10", "--json", *cursor).data()
        seen += [hit["event_id"] for hit in page["hits"]]
        cursor = ["--cursor", page["cursor"]] if page["cursor"] else []
    assert not cursor
    assert len(set(seen)) == len(seen) == 25
    assert "more: --cursor " in holdfast("search", "needle", "--limit", "10").out


def test_SC6_words_need_no_quotes_and_any_or_all_may_be_asked_for(holdfast, record):
    record("apples and pears", "pears only")
    assert len(holdfast("search", "apples", "pears", "--json").data()["hits"]) == 1
    assert len(holdfast("search", "apples", "pears", "--any", "--json").data()["hits"]) == 2
    assert holdfast("search", "apples", "quinces", "--all").out == "nothing found\n"


def test_SC6_text_of_an_agent_cannot_steer_the_terminal(holdfast, record):
    record("needle \x1b]0;owned\x07 \u202e end")
    said = holdfast("search", "needle").out
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_SC6_rebuild_and_status(holdfast, record):
    record("a needle", "more")
    ran = holdfast("search", "--rebuild")
    assert (ran.code, ran.out) == (0, "2 events read into a new index\n")
    status = holdfast("search", "--status", "--json").data()
    assert (status["documents"], status["behind"], status["trouble"]) == (2, False, "")
    record("another needle")
    assert holdfast("search", "--status", "--json").data()["behind"]
    assert len(holdfast("search", "needle", "--json").data()["hits"]) == 2
    assert "indexed  2 events" in holdfast("search", "--status").out


def test_SC6_many_new_events_are_indexed_on_the_way(holdfast, record):
    record(*(f"needle {number}" for number in range(1100)))
    assert len(holdfast("search", "needle", "--limit", "200", "--json").data()["hits"]) == 200
    assert holdfast("search", "--status", "--json").data()["documents"] == 1100


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say what to search for"),
        (["!!!"], "give a word"),
        (["x", "--all", "--any"], "exclude one another"),
        (["x", "--since", "soon"], "'soon' is no time"),
        (["x", "--cursor", "nonsense"], "is no cursor"),
        (["x", "--limit", "0"], "0 is not in the range"),
        (["x", "--file", "//"], "names no file"),
        (["x", "--session", "nope"], "no session begins with 'nope'"),
        (["x", "--thread", "nope"], "no thread begins with 'nope'"),
        (["x", "--thread", "thread-"], "2 threads begin with 'thread-': thread-s1, thread-s2"),
        (["x", "--agent", "nobody"], "no agent 'nobody' is on record; there are holdfast"),
        (["x", "--kind", "nonsense"], "no event is of the kind 'nonsense'; there are approval_answered, "),
        (["x", "--since", "2d", "--until", "3d"], "--since 2d is not before --until 3d"),
    ],
)
def test_SC6_mistakes_are_told_in_one_line(holdfast, record, arguments, said):
    record("x")
    record("x", session="s2")
    ran = holdfast("search", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


def test_SC6_looking_at_an_empty_record_makes_nothing(tmp_path):
    code = "import sys; sys.argv[0] = 'holdfast'; from holdfast.doors.cli import main; main()"
    command = [sys.executable, "-c", code, "--home", str(tmp_path / "home"), "search", "x", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert json.loads(done.stdout) == {"hits": [], "cursor": None}
    assert not (tmp_path / "home").exists()
