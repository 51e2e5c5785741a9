"""Importing again, going on, growing files, broken lines, and what is left alone (SC11)."""

import dataclasses
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chain.importers import transcripts
from chain.importers.test_importers import write
from holdfast.chain.archive import Archive
from holdfast.chain.digests import Digests
from holdfast.chain.importers.claude_code import ClaudeCodeImporter
from holdfast.chain.importers.codex import CodexImporter
from holdfast.chain.importers.engine import ImportEngine
from holdfast.chain.importers.gemini import GeminiImporter
from holdfast.chain.importers.jsonl import JsonlImporter
from holdfast.chain.importers.opencode import OpenCodeImporter
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import Session
from holdfast.testing.memory_store import MemoryStore
from store.storm_steps import open_store


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def engine(store):
    return ImportEngine(store, user="local")


JUNK = ["{", "null", "[]", '{"type":"user"}', '{"type":"assistant","message":{"content":[5]}}', '{"$set":5}']


def everything(store):
    return [(r.id, r.where, r.no, r.kind, r.text) for r in store.events_since(0, 100_000)]


@pytest.fixture
def all_hosts(tmp_path):
    write(tmp_path / "claude" / "c1.jsonl", transcripts.claude())
    write(tmp_path / "codex" / "rollout-01a1de25-694f-7dd0-9661-8baadc4b40f1.jsonl", transcripts.codex())
    write(tmp_path / "gemini" / "p" / "chats" / "session-1.jsonl", transcripts.gemini())
    (tmp_path / "opencode").mkdir()
    transcripts.opencode_database(tmp_path / "opencode" / "opencode.db")
    return [
        (ClaudeCodeImporter(), tmp_path / "claude"),
        (CodexImporter(), tmp_path / "codex"),
        (GeminiImporter(), tmp_path / "gemini"),
        (OpenCodeImporter(), tmp_path / "opencode"),
    ]


def test_SC11_importing_again_changes_nothing(store, engine, all_hosts):
    for importer, path in all_hosts:
        assert engine.run(importer, [path]).events > 0
    before = everything(store)
    for importer, path in all_hosts:
        report = engine.run(importer, [path])
        assert (report.events, report.known, report.unchanged) == (0, 0, 1)
    assert everything(store) == before


def test_SC11_also_when_the_place_was_forgotten(store, engine, all_hosts):
    for importer, path in all_hosts:
        engine.run(importer, [path])
    before = everything(store)
    for note in list(store.notes("import:")):
        store.note(note, None)
    for importer, path in all_hosts:
        report = engine.run(importer, [path])
        assert (report.events, report.unchanged) == (0, 0)
        assert report.known > 0
    assert everything(store) == before


@settings(max_examples=60)
@given(cuts=st.lists(st.integers(0, 5000), max_size=5), host=st.sampled_from(["claude", "codex"]))
def test_SC11_a_growing_file_is_the_same_as_a_whole_one(tmp_path_factory, cuts, host):
    """Wherever the file was cut while it was written, and however often it was imported in between."""
    folder = tmp_path_factory.mktemp("growing")
    importer = {"claude": ClaudeCodeImporter(), "codex": CodexImporter()}[host]
    name = {"claude": "c1.jsonl", "codex": "rollout-01a1de25-694f-7dd0-9661-8baadc4b40f1.jsonl"}[host]
    text = transcripts.lines(*getattr(transcripts, host)()).encode()
    whole, grown = MemoryStore(), MemoryStore()
    for store, sizes in ((whole, []), (grown, sorted(cuts))):
        file = folder / name
        for size in [*sizes, len(text)]:
            file.write_bytes(text[:size])
            report = ImportEngine(store, user="local").run(importer, [file])
            assert report.broken_lines == 0, "a line that is still being written is not broken"
    assert everything(grown) == everything(whole)
    rows = [store.sessions()[0] for store in (grown, whole)]
    kept = ("model", "title", "used", "window", "ended_at", "vault", "cwd", "compressions")
    assert [getattr(rows[0], name) for name in kept] == [getattr(rows[1], name) for name in kept]


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_SC11_also_when_it_grew_line_by_line(tmp_path, host):
    """Lines that only describe the session may come long before its first event."""
    importer = {"claude": ClaudeCodeImporter(), "codex": CodexImporter()}[host]
    name = {"claude": "c1.jsonl", "codex": "rollout-01a1de25-694f-7dd0-9661-8baadc4b40f1.jsonl"}[host]
    entries = transcripts.lines(*getattr(transcripts, host)()).splitlines(keepends=True)
    whole, grown = MemoryStore(), MemoryStore()
    file = tmp_path / name
    for size in range(len(entries) + 1):
        file.write_text("".join(entries[:size]))
        ImportEngine(grown, user="local").run(importer, [file])
    ImportEngine(whole, user="local").run(importer, [file])
    assert everything(grown) == everything(whole)
    rows = [dataclasses.replace(store.sessions()[0], version=0) for store in (grown, whole)]
    assert rows[0] == rows[1]


@pytest.mark.slow
def test_SC11_an_import_that_was_killed_goes_on(tmp_path):
    """Killed after any batch: nothing is lost, nothing is doubled."""
    file = tmp_path / "talk.jsonl"
    file.write_text(transcripts.lines(*({"role": "user", "content": f"message {n} " + "x" * 200} for n in range(9000))))
    store = open_store(tmp_path)

    class Killed(Exception):
        pass

    def kill(report, done, total, name):
        if report.events > 3000:
            raise Killed

    with pytest.raises(Killed):
        ImportEngine(store, user="local", progress=kill).run(JsonlImporter(), [file])
    part = len(store.events("talk", limit=100_000))
    assert 3000 < part < 9000
    report = ImportEngine(store, user="local").run(JsonlImporter(), [file])
    assert (report.events, report.known) == (9000 - part, 0), "it goes on where it stopped"
    texts = [record.text.split(" ")[1] for record in store.events("talk", limit=100_000)]
    assert texts == [str(n) for n in range(9000)]
    store.close()


def test_SC11_broken_lines_are_counted_and_listed_and_the_rest_is_taken(store, engine, tmp_path):
    entries = transcripts.lines(*transcripts.claude()).splitlines()
    harms = ['{"type": "user", "mess', "not json", "[1, 2]", '"text"', '{"type":"user","message":7}', "\x00\x00"]
    chance = random.Random(4)
    for harm in harms:
        entries.insert(chance.randrange(len(entries)), harm)
    file = tmp_path / "c1.jsonl"
    file.write_text("\n".join(entries) + "\n\n")
    broken = [number for number, line in enumerate(entries, 1) if line in harms]
    report = engine.run(ClaudeCodeImporter(), [file])
    assert report.broken_lines == 6
    assert [line.line for line in report.broken] == broken
    assert all(line.file == str(file) and line.why for line in report.broken)
    assert report.events == 11


@settings(max_examples=80)
@given(st.lists(st.text(max_size=40) | st.sampled_from(JUNK), max_size=8), st.data())
def test_SC11_no_line_whatever_it_holds_stops_an_import(tmp_path_factory, junk, data):
    folder = tmp_path_factory.mktemp("junk")
    for host, importer, name in (
        ("claude", ClaudeCodeImporter(), "c1.jsonl"),
        ("codex", CodexImporter(), "rollout-x.jsonl"),
        ("gemini", GeminiImporter(), "session-x.jsonl"),
    ):
        entries = transcripts.lines(*getattr(transcripts, host)()).splitlines()
        for line in junk:
            entries.insert(data.draw(st.integers(0, len(entries))), line)
        (folder / name).write_text("\n".join(entries) + "\n", encoding="utf-8", errors="replace")
        report = ImportEngine(MemoryStore(), user="local").run(importer, [folder / name])
        assert report.skipped == []


def test_SC11_a_file_that_was_written_anew_is_read_anew(store, engine, tmp_path):
    file = write(tmp_path / "talk.jsonl", [{"role": "user", "content": f"old {n}"} for n in range(50)])
    engine.run(JsonlImporter(), [file])
    write(file, [{"role": "user", "content": f"entirely new text {n}"} for n in range(80)])
    report = engine.run(JsonlImporter(), [file])
    assert report.events + report.known == 80
    assert any("entirely new" in record.text for record in store.events("talk"))


def test_SC11_sessions_that_holdfast_recorded_itself_are_left_alone(store, engine, tmp_path):
    where = SessionId(SessionKey("local", "claude-code", "claude-code-c1"), "c1")
    store.open_session(Session(where, "claude-code", "/data/project", 1.0))
    file = write(tmp_path / "c1.jsonl", transcripts.claude())
    report = engine.run(ClaudeCodeImporter(), [file])
    assert report.skipped == [(str(file), "Holdfast has recorded this session itself")]
    assert list(store.events("c1")) == []


def test_SC4_a_deleted_session_is_not_taken_in_again(store, engine, tmp_path):
    file = write(tmp_path / "c1.jsonl", transcripts.claude())
    engine.run(ClaudeCodeImporter(), [file])
    store.delete_session("c1", by="ada", at=1.0)
    for note in list(store.notes("import:")):
        store.note(note, None)
    report = ImportEngine(store, user="local").run(ClaudeCodeImporter(), [file])
    assert report.skipped == [(str(file), "this session was deleted; it is not taken in again")]
    assert store.session("c1") is None


def test_SC4_an_export_can_be_taken_in_elsewhere(engine, store, tmp_path):
    write(tmp_path / "in" / "c1.jsonl", transcripts.claude())
    engine.run(ClaudeCodeImporter(), [tmp_path / "in"])
    out = tmp_path / "out" / "c1.jsonl"
    out.parent.mkdir()
    archive = Archive(tmp_path / "archive", store, Digests(store), clock=lambda: 1.0)
    with out.open("wb") as file:
        archive.export(store.session("c1"), file.write)
    other = MemoryStore()
    report = ImportEngine(other, user="local").run(JsonlImporter(), [out])
    assert report.broken_lines == 0
    assert everything(other) == everything(store)
    assert [r.data for r in other.events("c1")] == [r.data for r in store.events("c1")]
    assert other.session("c1").title == store.session("c1").title


def test_SC11_a_file_that_cannot_be_read_is_named_and_skipped(engine, tmp_path):
    folder = tmp_path / "x"
    write(folder / "c1.jsonl", transcripts.claude())
    (folder / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    report = engine.run(ClaudeCodeImporter(), [folder])
    assert report.events == 11
    ((file, why),) = report.skipped
    assert file.endswith("gone.jsonl")
    assert "No such file" in why


def test_SC11_progress_is_told(store, tmp_path):
    seen = []
    engine = ImportEngine(store, user="local", progress=lambda report, done, total, file: seen.append((done, total)))
    file = write(tmp_path / "c1.jsonl", transcripts.claude())
    engine.run(ClaudeCodeImporter(), [file])
    assert seen[0] == (0, file.stat().st_size)
    assert seen[-1] == (file.stat().st_size,) * 2


def test_SC11_the_project_is_the_git_top_level(store, engine, tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "sub").mkdir()
    write(tmp_path / "c1.jsonl", transcripts.claude(cwd=str(tmp_path / "repo" / "sub")))
    engine.run(ClaudeCodeImporter(), [tmp_path / "c1.jsonl"])
    assert store.session("c1").vault == str(tmp_path / "repo")
