"""SC6: search by meaning, with an endpoint on loopback: off by default, an addition to the words, never a condition."""

import fcntl
import json
import os
import sqlite3
import time

import pytest

from chain.embeddings_server import EmbeddingsServer, vector_of
from holdfast.chain.cursors import RecallError
from holdfast.chain.embeddings import search_of
from holdfast.chain.reach import ThreadReach
from holdfast.chain.recall_tools import answer, recall_for
from holdfast.control import Control
from holdfast.core.decode import decode
from holdfast.core.settings import SemanticSettings
from holdfast.store.config_file import Inline
from holdfast.store.config_layers import INLINE_VARIABLE
from holdfast.store.home import Home
from holdfast.store.meaning import MOST_CHARACTERS
from holdfast.store.meaning_embedder import EmbeddingError
from holdfast.store.search_filters import Filters, Scope
from holdfast.store.search_keeper import KeepFresh
from holdfast.store.sqlite import SqliteStore
from store.search_steps import START, add, all_hits, where

ME = where("mine", "t1")
OTHER = where("theirs", "t2")


@pytest.fixture
def server():
    with EmbeddingsServer() as made:
        yield made


@pytest.fixture
def home(tmp_path):
    made = Home(tmp_path / "home")
    made.create()
    return made


@pytest.fixture
def store(home):
    made = SqliteStore(home.database, audit_dir=home.audit)
    yield made
    made.close()


@pytest.fixture
def search(store, home):
    made = search_of(store, home, clock=lambda: START)
    yield made
    made.close()


def configure(home, **semantic):
    given = {"search": {"semantic": semantic}} if semantic else {}
    home.config.write_text(json.dumps({"agents": {"runtime": given}}), encoding="utf-8")


def turn_on(home, server, **more):
    configure(home, model="small", baseUrl=server.url, **more)


def said(store, *texts, place=ME, **fields):
    return add(store, *texts, place=place, **{"kind": "prompt_submitted", **fields})


def snippets(page):
    return [hit.snippet for hit in page.hits]


def vectors_in(home):
    database = sqlite3.connect(home.data / "search" / "meaning.sqlite")
    try:
        return [row[0] for row in database.execute("SELECT seq FROM vectors ORDER BY seq")]
    finally:
        database.close()


# off by default


def test_SC6_off_by_default_nothing_is_asked_and_nothing_is_kept(home, store, search, server):
    said(store, "we bought an automobile")
    assert not search.meaning.is_on
    assert search.meaning.follow().indexed == 0
    assert search.find("car").hits == ()
    assert search.find("automobile").notice is None
    search.refresh()
    search.scrub()
    assert server.requests == []
    assert [path.name for path in (home.data / "search").glob("meaning*")] == []
    assert search.meaning.status() is None


@pytest.mark.parametrize("given", [{"model": "small"}, {"baseUrl": "http://127.0.0.1:9/v1"}])
def test_SC6_half_a_setting_turns_nothing_on(home, search, given):
    configure(home, **given)
    assert not search.meaning.is_on


def test_SC6_only_the_file_of_the_home_names_an_endpoint(home, store, server, monkeypatch):
    inline = {"agents": {"runtime": {"search": {"semantic": {"model": "small", "baseUrl": server.url}}}}}
    monkeypatch.setenv(INLINE_VARIABLE, json.dumps(inline))
    control = Control(home, store, inline=Inline(environ={}, mapping=inline), clock=lambda: START)
    assert control.in_force().config.settings.runtime.search.semantic.enabled, "the plane itself does see it"
    said(store, "we bought an automobile")
    reach = ThreadReach(store, ME.key)
    assert json.loads(answer(recall_for(control), reach, "session_search", {"query": "car"}))["hits"] == []
    assert server.requests == []


def test_SC6_an_address_must_be_one_of_the_web():
    _, problems = decode(SemanticSettings, {"model": "m", "baseUrl": "localhost:11434"})
    assert "http://" in problems[0].message.text()


# finding


def test_SC6_what_shares_no_word_is_found_by_its_meaning(home, store, search, server):
    turn_on(home, server)
    said(store, "we bought an automobile", "the bread is in the oven", "they felt sorrow")
    assert search.meaning.follow().indexed == 3
    page = search.find("which car was it?")
    assert snippets(page) == ["we bought an automobile"]
    assert (page.notice, page.complete, page.cursor) == (None, True, None)
    assert snippets(search.find("unhappy")) == ["they felt sorrow"]
    assert server.requests[-1] == {"path": "/v1/embeddings", "model": "small", "input": ["unhappy"]}


def test_SC6_chinese_is_found_by_its_meaning(home, store, search, server):
    turn_on(home, server)
    said(store, "买了轿车", "烤了面包")
    search.meaning.follow()
    assert snippets(search.find("汽车")) == ["买了轿车"]


def test_SC6_hits_with_all_the_words_come_before_those_near_in_meaning(home, store, search, server):
    turn_on(home, server)
    said(store, "a vehicle and a truck and an automobile", "my car is red", "nothing of the kind")
    search.meaning.follow()
    assert snippets(search.find("car")) == ["my car is red", "a vehicle and a truck and an automobile"]


def test_SC6_every_hit_comes_once_through_all_pages(home, store, search, server):
    turn_on(home, server)
    said(store, *[f"car number {number}" for number in range(90)], *[f"a truck {number}" for number in range(9)])
    search.meaning.follow()
    for match in ("auto", "any"):
        hits = [hit.event_id for hit in all_hits(search, "car", limit=7, match=match)]
        assert len(hits) == len(set(hits))
        assert len([hit for hit in all_hits(search, "car", limit=7, match=match) if "car" in hit.snippet]) == 90
    plain = [hit.event_id for hit in all_hits(search, "car", limit=7, by_meaning=False)]
    assert len(plain) == len(set(plain)) == 90


@pytest.mark.parametrize(("query", "options"), [
    ('"car"', {}), ("car*", {}), ("car", {"match": "all"}), ("car", {"by_meaning": False}),
])  # fmt: skip
def test_SC6_who_wants_exactly_this_gets_exactly_this(home, store, search, server, query, options):
    turn_on(home, server)
    said(store, "we bought an automobile", "my car is red")
    search.meaning.follow()
    asked = len(server.requests)
    assert snippets(search.find(query, **options)) == ["my car is red"]
    assert len(server.requests) == asked


def test_SC6_only_what_was_said_is_sent_and_not_at_any_length(home, store, search, server):
    turn_on(home, server)
    add(store, "cat .env: SECRET=1", place=ME, kind="tool_called", tool="bash")
    said(store, "car " * 2000, "   ", "")
    assert search.meaning.follow().indexed == 1
    assert [len(text) for text in server.texts] == [MOST_CHARACTERS]
    assert not any("SECRET" in text for text in server.texts)
    assert snippets(search.find("SECRET")) != []


# scope and filters


def test_SC5_nothing_outside_the_scope_is_shown(home, store, search, server):
    turn_on(home, server)
    said(store, "their automobile", place=OTHER, vault="/elsewhere")
    said(store, "my automobile", at=5.0)
    said(store, "my truck", kind="assistant_replied", at=50.0)
    search.meaning.follow()
    assert set(snippets(search.find("car"))) == {"their automobile", "my automobile", "my truck"}
    assert set(snippets(search.find("car", Scope.chain(ME.key)))) == {"my automobile", "my truck"}
    assert snippets(search.find("car", Scope.project("/elsewhere"))) == ["their automobile"]
    for filters, expected in (
        (Filters(sessions=("theirs",)), ["their automobile"]),
        (Filters(kinds=("assistant_replied",)), ["my truck"]),
        (Filters(until=6.0), ["my automobile"]),
        (Filters(since=50.0, until=51.0), ["my truck"]),
        (Filters(tools=("bash",)), []),
        (Filters(files=("app.py",)), []),
        (Filters(agents=("somebody",)), []),
    ):
        assert snippets(search.find("car", filters=filters)) == expected, filters


def test_SC5_a_small_scope_is_not_crowded_out_by_a_large_store(home, store, search, server):
    turn_on(home, server)
    said(store, "my truck and some bread from the oven")
    said(store, *[f"car automobile vehicle {number}" for number in range(1100)], place=OTHER)
    search.meaning.follow()
    assert snippets(search.find("car", Scope.chain(ME.key))) == ["my truck and some bread from the oven"]


def test_SC5_the_recall_tool_finds_by_meaning_in_its_own_thread_only(home, store, server):
    turn_on(home, server)
    control = Control(home, store, inline=Inline(environ={}), clock=lambda: START)
    said(store, "my automobile")
    said(store, "their automobile", place=OTHER)
    recall = recall_for(control)
    search_of(store, home).meaning.follow()
    reach = ThreadReach(store, ME.key)
    found = json.loads(answer(recall, reach, "session_search", {"query": "car"}))
    assert [hit["sessionId"] for hit in found["hits"]] == ["mine"]
    assert set(found) == {"note", "hits", "nextCursor"}
    with pytest.raises(RecallError):
        answer(recall, reach, "session_search", {"query": "car", "sessionId": "theirs"})
    server.status = 503
    fallen_back = json.loads(answer(recall_for(control), reach, "session_search", {"query": "automobile"}))
    assert [hit["sessionId"] for hit in fallen_back["hits"]] == ["mine"]
    assert "503" in fallen_back["notice"]


# an endpoint that fails


def test_SC6_an_endpoint_that_is_gone_leaves_the_words(home, store, search):
    with EmbeddingsServer() as server:
        turn_on(home, server)
        said(store, "my car", "an automobile")
        search.meaning.follow()
    page = search.find("car")
    assert snippets(page) == ["my car"]
    assert "by words only" in str(page.notice)
    assert "cannot be reached" in str(page.notice)
    said(store, "one more")
    with pytest.raises(EmbeddingError, match="cannot be reached"):
        search.meaning.follow()


def test_SC6_a_slow_endpoint_costs_its_deadline_once(home, store, search, server):
    turn_on(home, server, timeoutSeconds=0.2)
    said(store, "my car")
    search.meaning.follow()
    server.delay = 5.0
    page = search.find("car")
    assert snippets(page) == ["my car"]
    assert "within 0.2 seconds" in str(page.notice)
    asked = len(server.requests)
    assert "a moment ago" in str(search.find("car").notice)
    assert len(server.requests) == asked


@pytest.mark.parametrize(("answer_text", "said_of_it"), [
    (b"<html>", "no JSON"),
    (b"[]", "other than embeddings"),
    (b'{"data": []}', "0 vectors for 1"),
    (b'{"data": [{"index": 0, "embedding": "AAAA"}]}', "other than embeddings"),
    (b'{"data": [{"index": 3, "embedding": [1.0]}]}', "1 vectors for 1"),
    (b'{"data": [{"index": 0, "embedding": []}]}', "of 0 numbers"),
    (b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}', "not finite"),
    (b'{"data": [{"index": 0, "embedding": [1e999, 1.0]}]}', "not finite"),
])  # fmt: skip
def test_SC6_an_answer_that_is_no_vector_is_an_error(home, store, search, server, answer_text, said_of_it):
    turn_on(home, server)
    said(store, "my car")
    server.answer = answer_text
    with pytest.raises(EmbeddingError, match=said_of_it):
        search.meaning.follow()
    assert vectors_in(home) == []
    assert snippets(search.find("car")) == ["my car"]


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_SC6_a_refusal_makes_no_vectors_and_skips_nothing(home, store, search, server, status):
    turn_on(home, server)
    said(store, "my car", "a truck")
    server.status = status
    with pytest.raises(EmbeddingError, match=str(status)):
        search.meaning.follow()
    server.status = 200
    assert search.meaning.follow().indexed == 2


def test_SC6_a_text_that_is_refused_does_not_stop_the_others(home, store, search, server):
    turn_on(home, server)
    server.refused, server.longest = "poison", 500
    said(store, "my car", "poison", "truck " * 200, "the oven")
    assert search.meaning.follow().indexed == 3
    assert search.meaning.follow().indexed == 0
    assert len(vectors_in(home)) == 3


def test_SC6_lengths_that_change_from_text_to_text_are_an_error(home, store, search, server):
    turn_on(home, server)
    server.refused, server.by_length = "poison", True
    said(store, "car", "poison", "a longer text about a car")
    with pytest.raises(EmbeddingError, match="different lengths"):
        search.meaning.follow()
    assert vectors_in(home) == []


def test_SC6_a_key_is_asked_for_where_one_is_named(home, store, search, server, monkeypatch):
    turn_on(home, server, keyEnv="SMALL_KEY")
    said(store, "my car")
    monkeypatch.delenv("SMALL_KEY", raising=False)
    with pytest.raises(EmbeddingError, match="SMALL_KEY"):
        search.meaning.follow()
    monkeypatch.setenv("SMALL_KEY", "k-1")
    search.meaning.follow()
    assert server.keys == ["Bearer k-1"]


def test_SC6_a_broken_configuration_leaves_the_words(home, store, search):
    home.config.write_text("{ not", encoding="utf-8")
    said(store, "my car")
    page = search.find("car")
    assert snippets(page) == ["my car"]
    assert "config validate" in str(page.notice)


# following the store


def test_SC6_only_what_is_new_is_sent(home, store, search, server):
    turn_on(home, server)
    said(store, *[f"car {number}" for number in range(70)])
    counted = []
    assert search.meaning.follow(progress=counted.append).indexed == 70
    assert counted == [32, 64, 70]
    assert search.meaning.follow().indexed == 0
    said(store, "a truck")
    assert search.meaning.follow().indexed == 1
    assert len(server.texts) == 71


def test_SC6_a_budget_ends_early_and_the_next_call_goes_on(home, store, search, server):
    turn_on(home, server)
    said(store, *[f"car {number}" for number in range(70)])
    rounds = 1
    made = search.meaning.follow(0.0)
    total = made.indexed
    while made.behind:
        made = search.meaning.follow(0.0)
        total, rounds = total + made.indexed, rounds + 1
    assert (total, rounds, len(server.texts)) == (70, 3, 70)


def test_SC6_another_model_makes_the_vectors_anew(home, store, search, server):
    turn_on(home, server)
    said(store, "my automobile")
    search.meaning.follow()
    configure(home, model="larger", baseUrl=server.url)
    page = search.find("car")
    assert page.hits == ()
    assert "no vectors yet" in str(page.notice)
    assert search.meaning.follow().indexed == 1
    assert snippets(search.find("car")) == ["my automobile"]


def test_SC6_other_dimensions_make_the_vectors_anew(home, store, search, server):
    turn_on(home, server)
    said(store, "my automobile", "the bread")
    search.meaning.follow()
    server.dimensions = 24
    page = search.find("car")
    assert page.hits == ()
    assert "24 numbers" in str(page.notice)
    said(store, "one more truck")
    assert search.meaning.follow().indexed == 3
    assert set(snippets(search.find("automobile"))) == {"my automobile", "one more truck"}


def test_SC6_dimensions_that_are_asked_for_must_come(home, store, search, server):
    turn_on(home, server, dimensions=12)
    said(store, "my automobile")
    assert search.meaning.follow().indexed == 1
    assert server.requests[0]["dimensions"] == 12
    server.answer = json.dumps({"data": [{"index": 0, "embedding": vector_of("car", 16)}]}).encode()
    assert "expected 12" in str(search.find("car").notice)


def test_SC4_the_vectors_of_a_deleted_session_are_gone(home, store, search, server):
    turn_on(home, server)
    said(store, "their automobile", place=OTHER)
    kept = said(store, "my automobile")[0]
    search.meaning.follow()
    assert len(search.find("car").hits) == 2
    store.delete_session("theirs", by="me", at=START)
    assert snippets(search.find("car")) == ["my automobile"], "at once, though the vector is still there"
    assert search.scrub()
    assert vectors_in(home) == [kept.seq]
    assert snippets(search.find("car")) == ["my automobile"]


def test_SC4_vectors_go_with_their_session_also_when_it_is_off(home, store, search, server):
    turn_on(home, server)
    said(store, "my automobile")
    search.meaning.follow()
    configure(home)
    store.delete_session("mine", by="me", at=START)
    asked = len(server.requests)
    search.meaning.follow()
    assert vectors_in(home) == []
    assert len(server.requests) == asked


def test_SC4_a_session_that_took_the_name_of_a_deleted_one_keeps_its_vectors(home, store, search, server):
    turn_on(home, server)
    said(store, "my automobile")
    search.meaning.follow()
    store.delete_session("mine", by="me", at=START)
    new = said(store, "my truck", place=where("mine", "t9"))[0]
    search.meaning.follow()
    assert vectors_in(home) == [new.seq]
    assert snippets(search.find("car", Scope(thread="t9"))) == ["my truck"]


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 300])
def test_SC6_a_damaged_file_is_made_anew(home, store, search, server, damage):
    turn_on(home, server)
    said(store, "my car", "an automobile")
    search.meaning.follow()
    (home.data / "search" / "meaning.sqlite").write_bytes(damage)
    page = search.find("car")
    assert snippets(page) == ["my car"]
    assert page.notice
    assert search.meaning.follow().indexed == 2
    assert len(search.find("car").hits) == 2


def test_SC4_a_file_that_is_damaged_inside_keeps_nothing_of_a_deleted_session(home, store, search, server):
    turn_on(home, server)
    said(store, *[f"car {number}" for number in range(300)])
    search.meaning.follow()
    path = home.data / "search" / "meaning.sqlite"
    data = bytearray(path.read_bytes())
    for start in range(4 * 4096, len(data), 4096):  # the first pages hold the schema and the state
        data[start : start + 64] = b"\xff" * 64
    path.write_bytes(data)
    assert snippets(search.find("car 7", match="all")) == ["car 7"]
    assert search.find("car").hits
    said(store, "one more")
    store.delete_session("mine", by="me", at=START)
    assert search.scrub()
    assert not path.exists()


def test_SC6_the_vectors_of_another_store_are_not_used(home, store, search, server, tmp_path):
    turn_on(home, server)
    said(store, "my automobile")
    search.meaning.follow()
    other = SqliteStore(tmp_path / "other.db", audit_dir=tmp_path / "audit")
    said(other, "quite another text")
    elsewhere = search_of(other, home)
    assert elsewhere.find("car").hits == ()
    assert elsewhere.meaning.follow().indexed == 1
    elsewhere.close()
    other.close()


def test_SC6_one_makes_vectors_the_others_are_told(home, store, search, server):
    turn_on(home, server)
    said(store, "my automobile")
    search.meaning.follow()
    lock = os.open(home.data / "search" / "meaning.lock", os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert search.meaning.follow().busy
        assert not search.meaning.clear()
        assert not search.scrub()
        assert snippets(search.find("car")) == ["my automobile"]
    finally:
        os.close(lock)
    assert search.meaning.clear()
    assert search.meaning.status().vectors == 0


def test_SC6_the_keeper_of_the_index_makes_vectors_too(home, store, search, server):
    turn_on(home, server)
    with KeepFresh(search, every=0.02):
        said(store, "my automobile")
        deadline = time.monotonic() + 60
        while not search.find("car").hits and time.monotonic() < deadline:
            time.sleep(0.05)
        assert snippets(search.find("car")) == ["my automobile"]
    assert (home.data / "search" / "meaning.sqlite").stat().st_mode & 0o777 == 0o600


def test_SC6_an_endpoint_that_fails_does_not_stop_the_index(home, store, search, server):
    turn_on(home, server)
    server.status = 503
    keeper = KeepFresh(search, every=0.02)
    with keeper:
        said(store, "my car")
        deadline = time.monotonic() + 60
        while (search.unindexed() or not keeper.meaning_trouble) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert search.unindexed() == 0
        assert "503" in keeper.meaning_trouble
        assert keeper.trouble == ""
