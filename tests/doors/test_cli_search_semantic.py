"""`holdfast search --semantic`: makes what is missing, tells what fails, and is off until it is configured."""

import json

import pytest

from chain.embeddings_server import EmbeddingsServer
from holdfast.store.sqlite import SqliteStore
from store.search_steps import add, where


@pytest.fixture
def server():
    with EmbeddingsServer() as made:
        yield made


@pytest.fixture
def said(holdfast):
    def write(*texts):
        store = SqliteStore(holdfast.home / "data" / "holdfast.db", audit_dir=holdfast.home / "logs" / "agent-audit")
        add(store, *texts, place=where("s1", "t1"), kind="prompt_submitted")
        store.close()

    holdfast("init")
    return write


@pytest.fixture
def turn_on(holdfast, server):
    def write(url=None):
        semantic = {"model": "small", "baseUrl": url or server.url}
        data = {"agents": {"runtime": {"search": {"semantic": semantic}}}}
        (holdfast.home / "config.jsonc").write_text(json.dumps(data), encoding="utf-8")

    return write


def test_SC6_it_is_off_until_it_is_configured(holdfast, said, server):
    said("we bought an automobile")
    ran = holdfast("search", "--semantic", "car")
    assert ran.code == 2
    assert "search.semantic.model" in ran.err
    assert holdfast("search", "car").out == "nothing found\n"
    assert json.loads(holdfast("search", "--status", "--json").out)["meaning"] is None
    assert server.requests == []


def test_SC6_set_on_the_command_line_names_no_endpoint(holdfast, said, server):
    said("we bought an automobile")
    ran = holdfast("--set", "search.semantic.model=small", "--set", f"search.semantic.baseUrl={server.url}",
                   "search", "--semantic", "car")  # fmt: skip
    assert ran.code == 2
    assert server.requests == []


def test_SC6_semantic_makes_the_vectors_and_finds(holdfast, said, server, turn_on):
    said("we bought an automobile", "the bread is in the oven")
    turn_on()
    before = holdfast("search", "car")
    assert "no vectors yet" in before.out
    assert server.requests == []
    ran = holdfast("search", "--semantic", "car", "--json")
    assert ran.code == 0
    assert [hit["snippet"] for hit in ran.data()["hits"]] == ["we bought an automobile"]
    assert "automobile" in holdfast("search", "car").out, "from now on without the option"
    asked = len(server.requests)
    assert holdfast("search", "car", "--plain").out == "nothing found\n"
    assert len(server.requests) == asked


def test_SC6_vectors_are_made_without_a_query_shown_and_thrown_away(holdfast, said, server, turn_on):
    said("we bought an automobile")
    turn_on()
    assert holdfast("search", "--semantic").out == "1 vectors made\n"
    assert "meaning  1 vectors by small" in holdfast("search", "--status").out
    assert holdfast("search", "--rebuild", "--semantic").out == "1 vectors made\n"
    assert server.texts == ["we bought an automobile"] * 2
    (holdfast.home / "config.jsonc").write_text("{}", encoding="utf-8")
    holdfast("search", "--rebuild")
    assert not (holdfast.home / "data" / "search" / "meaning.sqlite").exists()


def test_SC6_an_endpoint_that_is_not_there_is_told_and_the_words_are_searched(holdfast, said, turn_on):
    said("my car")
    turn_on("http://127.0.0.1:9/v1")
    ran = holdfast("search", "--semantic", "car")
    assert ran.code == 0
    assert "my car" in ran.out
    assert "not all vectors could be made" in ran.err


def test_SC6_semantic_and_plain_exclude_one_another(holdfast, said):
    said("my car")
    assert holdfast("search", "--semantic", "--plain", "car").code == 2


def test_SC4_deleting_a_session_takes_its_vectors(holdfast, said, turn_on):
    said("we bought an automobile")
    turn_on()
    holdfast("search", "--semantic")
    assert holdfast("sessions", "delete", "s1", "--yes", "--force").code == 0
    assert holdfast("search", "--status", "--json").data()["meaning"]["vectors"] == 0
