"""The memory bank on the page, settled by the same service as everywhere."""

import os
from pathlib import Path

import pytest

from doors.web.scenes import SCRIPT
from holdfast.core.proposals import Edit


@pytest.fixture
def bank(life):
    """A memory bank, and two proposals of an agent."""
    folder = life.vault / "memory-bank"
    (folder / "details").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Goal\n\nship it\n")
    where = life.thread()
    memory = life.control.memory_bank
    edit = Edit.of({"append": f"- {SCRIPT}\n"})
    first = memory.propose(where, str(life.vault), path="memory-bank/MEMORY.md", edit=edit, why=f"because {SCRIPT}")
    life.clock.advance(5)
    second = memory.propose(
        where, str(life.vault), path="memory-bank/details/new.md", edit=Edit.of({"content": "new"}), why="new"
    )
    return first.id, second.id


def test_MB1_the_state_of_the_bank(client, bank, life):
    told = client.get("/api/memory").json()
    assert (told["memory"], told["pending"], told["vault"]) == (True, 2, str(life.vault))
    assert "memory-bank/MEMORY.md" in told["files"]
    assert "ship it" in told["injected"]
    assert client.get("/api/memory", vault="/etc").status_code == 404, "no folder but a project's is looked into"


def test_MB1_a_file_name_that_is_no_text_does_not_break_the_answer(client, bank, life):
    (Path(os.fsdecode(os.fsencode(life.vault) + b"/memory-bank/details/\xff.md"))).write_text("x")
    files = client.get("/api/memory").json()["files"]
    assert any(name.endswith("\ufffd.md") for name in files)


def test_MB5_proposals_are_listed_and_paged(client, bank):
    first, second = bank
    page = client.get("/api/memory/proposals", limit=1).json()
    assert ([one["id"] for one in page["proposals"]], page["total"]) == ([second], 2)
    rest = client.get("/api/memory/proposals", limit=1, cursor=page["cursor"]).json()
    assert ([one["id"] for one in rest["proposals"]], rest["cursor"]) == ([first], None)
    assert client.get("/api/memory/proposals", status="applied").json()["total"] == 0
    assert client.get("/api/memory/proposals", status="lost").status_code == 422
    assert client.get("/api/memory/proposals", cursor="x").status_code == 422


def test_MB6_apply_and_undo_write_the_file_and_put_it_back(client, bank, life):
    first, _ = bank
    file = life.vault / "memory-bank" / "MEMORY.md"
    shown = client.get(f"/api/memory/proposals/{first}").json()
    assert f"+- {SCRIPT}" in shown["diff"]
    done = client.post(f"/api/memory/proposals/{first}", {"answer": "apply"}).json()
    assert (done["status"], done["diff"], done["settledBy"]) == ("applied", "", "local")
    assert SCRIPT in file.read_text()
    twice = client.post(f"/api/memory/proposals/{first}", {"answer": "apply"})
    assert (twice.status_code, twice.json()["error"]["code"]) == (409, "cannot_settle")
    assert client.post(f"/api/memory/proposals/{first}", {"answer": "undo"}).json()["status"] == "undone"
    assert SCRIPT not in file.read_text()


def test_MB6_skip_leaves_the_file_and_an_edit_since_is_never_undone(client, bank, life):
    first, second = bank
    assert client.post(f"/api/memory/proposals/{second}", {"answer": "skip"}).json()["status"] == "skipped"
    assert not (life.vault / "memory-bank" / "details" / "new.md").exists()
    client.post(f"/api/memory/proposals/{first}", {"answer": "apply"})
    (life.vault / "memory-bank" / "MEMORY.md").write_text("mine")
    assert client.post(f"/api/memory/proposals/{first}", {"answer": "undo"}).status_code == 409
    assert (life.vault / "memory-bank" / "MEMORY.md").read_text() == "mine"


def test_MB5_what_is_not_there_or_no_answer_is_refused(client, bank, life):
    assert client.get("/api/memory/proposals/nothing").status_code == 404
    assert client.post("/api/memory/proposals/nothing", {"answer": "apply"}).status_code == 404
    assert client.post(f"/api/memory/proposals/{bank[0]}", {"answer": "maybe"}).status_code == 422


def test_SC1_another_users_proposal_is_not_there(client, bank, tmp_path):
    from doors.web.scenes import Life

    stranger = Life(tmp_path, user="mallory")
    where = stranger.thread("theirs")
    theirs = stranger.control.memory_bank.propose(
        where, str(stranger.vault), path="memory-bank/x.md", edit=Edit.of({"content": "x"}), why="x"
    )
    stranger.close()
    assert client.get(f"/api/memory/proposals/{theirs.id}").status_code == 404
    assert client.get("/api/memory/proposals").json()["total"] == 2
