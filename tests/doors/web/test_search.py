"""Search over everything that was said and done, from the page."""

import json

import pytest

from chain.embeddings_server import EmbeddingsServer
from doors.web.scenes import SCRIPT, Life


@pytest.fixture
def said(life):
    claude = life.thread()
    life.say(claude, f"the walrus parser is slow {SCRIPT}")
    (life.vault / "walrus.py").write_text("x")
    life.tool(claude, "read", "def walrus(): pass", path="walrus.py")
    codex = life.thread("h2", host="codex")
    life.say(codex, "\U0001f9ad\U0001f9ad the walrus is asleep")
    return claude, codex


def hits(client, query="walrus", **filters):
    answer = client.get("/api/search", q=query, **filters)
    assert answer.status_code == 200, answer.text
    return answer.json()["hits"]


def test_SC6_a_hit_has_a_snippet_with_places_and_a_pointer(client, said):
    claude, _ = said
    (hit,) = hits(client, "walrus slow")
    assert (hit["session"], hit["host"], hit["kind"]) == (claude.session, "claude-code", "prompt_submitted")
    assert SCRIPT in hit["snippet"], "text stays text; the page marks it by places"
    marked = [hit["snippet"][low:high] for low, high in hit["marks"]]
    assert {"walrus", "slow"} <= set(marked)
    page = client.get(f"/api/sessions/{hit['session']}/events", event=hit["eventNo"], limit=3).json()
    assert hit["eventNo"] in [entry["eventNo"] for entry in page["entries"]]


def test_SC6_places_are_counted_as_javascript_counts(client, said):
    (hit,) = hits(client, "asleep")
    units = hit["snippet"].encode("utf-16-le")
    ((low, high),) = hit["marks"]
    assert units[2 * low : 2 * high].decode("utf-16-le") == "asleep"


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({}, 4),
        ({"host": "codex"}, 1),
        ({"host": ["codex", "claude-code"]}, 4),
        ({"host": "gemini"}, 0),
        ({"agent": "claude-code"}, 3),
        ({"tool": "read"}, 2),
        ({"kind": "prompt_submitted"}, 2),
        ({"file": "walrus.py"}, 2),
        ({"session": "h2"}, 1),
        ({"thread": "codex-h2"}, 1),
        ({"vault": "/nowhere"}, 0),
        ({"since": 1_790_000_000, "until": 1_790_000_001}, 0),
        ({"until": 1_890_000_000}, 4),
    ],
)
def test_SC6_filters(client, said, filters, count):
    assert len(hits(client, **filters)) == count


def test_SC6_pages_give_every_hit_once(client, said):
    seen = []
    page = client.get("/api/search", q="walrus", limit=1).json()
    while True:
        seen += [(hit["session"], hit["eventNo"]) for hit in page["hits"]]
        if page["cursor"] is None:
            break
        page = client.get("/api/search", q="walrus", limit=1, cursor=page["cursor"]).json()
    assert len(seen) == len(set(seen)) == 4


def test_SC1_another_users_words_are_never_found(client, life, tmp_path):
    stranger = Life(tmp_path, user="mallory")
    where = stranger.thread("theirs")
    stranger.say(where, "the walrus is secret")
    stranger.close()
    assert hits(client, "secret") == []
    assert client.get("/api/search", q="walrus", session=where.session).status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        {"q": ""},
        {"q": "  "},
        {"q": "x" * 2000},
        {"q": "walrus", "cursor": "nonsense"},
        {"q": "walrus", "since": "yesterday"},
        {"q": "walrus", "since": 5, "until": 4},
        {"q": "walrus", "file": "///"},
        {"q": "walrus", "match": "some"},
    ],
)
def test_SC6_what_cannot_be_searched_for_is_refused(client, said, query):
    answer = client.get("/api/search", **query)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] in ("bad_request", "bad_search")


def test_SC6_the_filters_that_there_are(client, said, life):
    told = client.get("/api/search/options").json()
    assert {"claude-code", "codex"} <= set(told["hosts"])
    assert str(life.vault) in told["vaults"]
    assert "prompt_submitted" in told["kinds"]
    assert "bash" in told["tools"]


def test_SC6_the_page_finds_by_meaning_where_that_is_on_and_says_when_it_cannot(client, life):
    life.say(life.thread(), "we bought an automobile")
    records = client.server.records
    assert client.get("/api/search", q="car").json()["notice"] is None
    with EmbeddingsServer() as server:
        semantic = {"model": "small", "baseUrl": server.url}
        config = {"agents": {"runtime": {"search": {"semantic": semantic}}}}
        records.control.home.config.write_text(json.dumps(config), encoding="utf-8")
        assert "no vectors yet" in client.get("/api/search", q="car").json()["notice"]["en"]
        records.search().meaning.follow()
        assert [hit["snippet"] for hit in hits(client, "car")] == ["we bought an automobile"]
    found = client.get("/api/search", q="automobile").json()
    assert len(found["hits"]) == 1
    assert "by words only" in found["notice"]["en"]
