"""The archive of a sealed session, exports of any, and deletion for good (SC4)."""

import hashlib
import json

import pytest

from holdfast.chain.archive import ArchiveError, read_archive
from holdfast.chain.deletion import Deletion, DeletionError
from holdfast.core.events import Compacted
from holdfast.store.interface import Approval, Change, SealedError


def lived(scene):
    where = scene.arrive("h1").session.id
    scene.say(where, "请修复登录 bug")
    scene.tool(where.of_subagent("explore"), "read", "code", path=str(scene.vault / "a.py"))
    scene.tool(where, "bash", "line\n" * 5000, command="seq 5000")
    scene.tell(Compacted(**scene.header(where), summary="short"))
    scene.reply(where, "done")
    return where


@pytest.fixture
def deletion(scene):
    return Deletion(scene.store, scene.chain.archive, scene.control.outputs, clock=scene.clock)


def test_SC4_a_sealed_session_is_archived_whole_and_verified(scene):
    where = lived(scene)
    scene.seal(where)
    known = scene.chain.archive.verify(where)
    lines = known.file.read_bytes().split(b"\n")
    header, *events, last, nothing = lines
    assert nothing == b""
    assert json.loads(header)["session"]["state"] == "sealed"
    assert json.loads(header)["digest"]["last_prompt"] == "请修复登录 bug"
    assert "请修复登录".encode() in known.file.read_bytes(), "raw UTF-8, for any tool to find"
    records = scene.store.events(where.session)
    assert [json.loads(line)["id"] for line in events] == [record.id for record in records]
    assert [json.loads(line)["data"] for line in events] == [dict(record.data) for record in records]
    assert json.loads(last)["sha256"] == hashlib.sha256(b"\n".join([header, *events, b""])).hexdigest()
    assert known.file.stat().st_mode & 0o777 == 0o600


def test_SC4_every_event_is_readable_while_the_session_is_active(scene):
    where = lived(scene)
    assert [record.kind for record in scene.store.events(where.session)][:2] == ["prompt_submitted", "tool_calling"]


def test_SC4_the_transcript_holds_what_the_model_saw_and_where_the_rest_lies(scene):
    where = lived(scene)
    called = next(r for r in scene.store.events(where.session) if r.tool == "bash" and r.kind == "tool_called")
    spilled = called.data["spilled"]
    assert len(called.data["result"]["output"]) < 25_000
    assert spilled["size"] == 25_000
    assert len(spilled["sha256"]) == 64


@pytest.mark.parametrize("harm", ["changed", "removed", "added", "cut", "missing", "rehashed"])
def test_SC4_an_archive_that_was_touched_is_found(scene, harm):
    where = lived(scene)
    scene.seal(where)
    file = scene.chain.archive.path_of("h1")
    lines = file.read_bytes().splitlines(keepends=True)
    if harm == "changed":
        lines[1] = lines[1].replace("登录".encode(), "注册".encode())
    elif harm == "removed":
        del lines[2]
    elif harm == "added":
        lines.append(b'{"no":9}\n')
    elif harm == "cut":
        lines = lines[:-2]
    elif harm == "rehashed":
        del lines[2]
        body = b"".join(lines[:-1])
        events = len(lines) - 2
        lines[-1] = json.dumps({"end": True, "events": events, "sha256": hashlib.sha256(body).hexdigest()}).encode()
    if harm == "missing":
        file.unlink()
    else:
        file.write_bytes(b"".join(lines))
    with pytest.raises(ArchiveError, match=r"h1\.jsonl"):
        scene.chain.archive.verify(where)


def test_SC4_export_works_at_any_time_and_can_be_read_back(scene, tmp_path):
    where = lived(scene)
    out = tmp_path / "export.jsonl"
    with out.open("wb") as file:
        assert scene.chain.archive.export(scene.row(where), file.write) == len(scene.store.events(where.session))
    read = read_archive(out)
    assert read.header["session"]["state"] == "active"
    assert next(entry["kind"] for entry in read.events()) == "prompt_submitted"
    scene.say(where, "more")
    with pytest.raises(ArchiveError, match="no archive"):
        scene.chain.archive.verify(where)


def test_SC4_session_ids_cannot_lead_out_of_the_folder(scene):
    where = scene.arrive("../../evil").session.id
    scene.seal(where)
    assert scene.chain.archive.path_of("../../evil").parent == scene.control.home.archive
    assert scene.chain.archive.verify(where)


# Deleting.


def everything_below(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_SC4_a_deleted_session_leaves_nothing_but_a_tombstone(scene, deletion):
    where = lived(scene)
    scene.say(where, "the password is swordfish")
    scene.seal(where)
    scene.chain.digests.of(scene.row(where))
    output = next(r.data["spilled"]["path"] for r in scene.store.events(where.session) if "spilled" in r.data)
    assert b"swordfish" in everything_below(scene.control.home.root)
    gone = deletion.delete(where, by="ada")
    assert (gone.outputs, gone.archive, gone.events) == (1, True, 8)
    assert scene.store.session("h1") is None
    assert list(scene.store.events("h1")) == []
    assert b"swordfish" not in everything_below(scene.control.home.root)
    assert not (scene.vault / output).exists()
    tombstone = list(scene.store.audit(session="h1"))[-1]
    assert (tombstone["what"], tombstone["decidedBy"], tombstone["events"]) == ("session_deleted", "ada", 8)
    assert scene.store.verify_audit().ok


def test_SC4_the_title_of_a_thread_goes_with_the_words_it_was_made_of(scene, deletion):
    first = lived(scene)
    scene.store.update_session(first.session, scene.row(first).version, title="the swordfish plan")
    scene.seal(first)
    second = scene.arrive("h1").session.id
    scene.say(second, "go on, please")
    assert scene.row(second).title == "the swordfish plan"
    scene.seal(second)
    third = scene.arrive("h1").session.id
    deletion.delete(first, by="ada")
    assert [scene.row(where).title for where in (second, third)] == ["go on, please", ""]
    assert scene.chain.archive.verify(second).events == 1
    assert b"swordfish" not in everything_below(scene.control.home.root)


def test_SC4_an_output_that_the_user_changed_is_left_to_them(scene, deletion):
    where = lived(scene)
    path = next(r.data["spilled"]["path"] for r in scene.store.events(where.session) if "spilled" in r.data)
    (scene.vault / path).write_text("my own notes now")
    gone = deletion.delete(where, by="ada")
    assert (gone.outputs, gone.outputs_left) == (0, 1)
    assert (scene.vault / path).read_text() == "my own notes now"


def test_SC4_a_live_session_is_deleted_only_when_the_person_insists(scene, deletion):
    where = scene.chain.begin_turn(scene.arrival("h1"), "run-1").session.id
    with pytest.raises(DeletionError, match="turn under way"):
        deletion.delete(where, by="ada")
    scene.chain.end_turn(where, "run-1")
    scene.store.commit(Change(where, approvals=(Approval("q", where, "c", 1.0, "bash", {}),)))
    with pytest.raises(DeletionError, match="open approval"):
        deletion.delete(where, by="ada")
    assert deletion.delete(where, by="ada", even_if_live=True).session == "h1"


def test_SC4_neighbours_with_a_similar_name_lose_nothing(scene, deletion):
    one, two = scene.arrive("h1").session.id, scene.arrive("h10").session.id
    for where in (one, two):
        scene.say(where, "hello")
        scene.seal(where)
    deletion.delete(one, by="ada")
    assert scene.chain.archive.verify(two).events == 1
    assert scene.store.noted("digest:h10") is not None
    assert scene.store.noted("digest:h1") is None


def test_SC4_after_a_deletion_the_hosts_session_starts_anew(scene, deletion):
    where = scene.arrive("h1").session.id
    deletion.delete(where, by="ada")
    again = scene.arrive("h1", source="resume").session
    assert again.number == 2, "the number of a deleted session is not given out again"
    with pytest.raises(SealedError):
        scene.store.append_imported(again.id, [])
