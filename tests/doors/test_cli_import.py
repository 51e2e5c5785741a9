"""`holdfast import` from the command line (SC11)."""

import json
import os
import pty
import re
import subprocess
import sys
import threading
import time

import pytest

from chain.importers import transcripts
from holdfast.store.sqlite import SqliteStore

NAME = "01a1de25-694f-7dd0-9661-8baadc4b40f1"


@pytest.fixture
def projects(tmp_path):
    folder = tmp_path / "projects"
    folder.mkdir()
    (folder / "c1.jsonl").write_text(transcripts.lines(*transcripts.claude()))
    return folder


def test_SC11_import_then_search(holdfast, projects):
    ran = holdfast("import", "claude-code", str(projects))
    assert ran.code == 0, ran.err
    assert ran.out == "11 events of 1 session; 1 file\n"
    assert "c1" in holdfast("search", "登录").out
    again = holdfast("import", "claude-code", str(projects), "--json").data()
    assert (again["events"], again["unchanged"]) == (0, 1)
    listed = holdfast("sessions", "list", "--all", "--json").data()
    assert (listed[0]["sessionId"], listed[0]["sealReason"]) == ("c1", "imported")


def test_SC11_the_usual_places_are_found(holdfast, tmp_path):
    folder = tmp_path / "codex-home" / "sessions" / "2026" / "11"
    folder.mkdir(parents=True)
    (folder / f"rollout-x-{NAME}.jsonl").write_text(transcripts.lines(*transcripts.codex()))
    ran = holdfast("import", "codex", "--json", CODEX_HOME=str(tmp_path / "codex-home"))
    assert ran.code == 0, ran.err
    assert ran.data()["events"] == 8


def test_SC11_broken_lines_are_listed_and_make_the_exit_code(holdfast, projects):
    with (projects / "c1.jsonl").open("a") as file:
        file.write("{broken\n" * 30)
    ran = holdfast("import", "claude-code", str(projects))
    assert ran.code == 1
    assert "30 lines could not be read:" in ran.out
    assert "c1.jsonl:16: " in ran.out
    assert "and 10 more" in ran.out
    data = json.loads(holdfast("import", "claude-code", str(projects), "--json").out)
    assert data["brokenLines"] == 0, "what was told once is not told again"


def test_SC11_a_terminal_shows_how_far_it_is(tmp_path, projects):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "holdfast", "--home", str(tmp_path / "home"), "import", "claude-code"]
    try:
        done = subprocess.run(
            [*command, str(projects)], stderr=theirs, stdout=subprocess.PIPE, text=True, timeout=120, check=False
        )
        shown = os.read(ours, 65_536).decode()
    finally:
        os.close(theirs)
        os.close(ours)
    assert done.returncode == 0, shown
    assert re.search(r"\d+ %  .* of .*/s  \d+ events", shown), shown
    assert done.stdout == "11 events of 1 session; 1 file\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("codex", "/no/such/folder"), "/no/such/folder: there is no such file or folder"),
        (("jsonl",), "say which files"),
        (("nonsense",), "'nonsense' is not one of"),
    ],
)
def test_wrong_questions_are_clear_errors(holdfast, arguments, said):
    ran = holdfast("import", *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_nothing_where_it_usually_lies_says_where_that_is(holdfast, tmp_path):
    ran = holdfast("import", "codex", CODEX_HOME=str(tmp_path / "nowhere"))
    assert ran.code == 2
    assert "no transcripts of codex in" in ran.err


@pytest.mark.slow
def test_SC11_watch_takes_in_what_is_added(holdfast, projects):
    whole = transcripts.lines(*transcripts.claude())
    first, second = whole[: len(whole) // 2], whole[len(whole) // 2 :]
    file = projects / "c1.jsonl"
    file.write_text(first)

    def grow():
        time.sleep(1.0)
        with file.open("a") as stream:
            stream.write(second)

    writer = threading.Thread(target=grow)
    writer.start()
    ran = holdfast("import", "claude-code", str(projects), "--watch", "--every", "0.2", "--seconds", "4", "--json")
    writer.join()
    assert ran.code == 0, ran.err
    store = SqliteStore(holdfast.home / "data" / "holdfast.db", audit_dir=holdfast.home / "logs" / "agent-audit")
    assert len(store.events("c1")) == 11
    store.close()
