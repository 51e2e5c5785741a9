"""Reading a session page by page, both ways, and jumping into the middle of it."""

import pytest

from doors.web.scenes import SCRIPT
from holdfast.store.interface import IMPORTED, EventRecord, Session


@pytest.fixture
def talk(life):
    """Twelve requests of four events each."""
    where = life.thread()
    (life.vault / "a.py").write_text("x")
    for number in range(12):
        run = f"run-{number}"
        life.say(where, f"question {number} {SCRIPT}", run)
        life.tool(where, "read", f"output {number}", path="a.py", invocation=run)
        life.reply(where, f"answer {number}", run)
    return where


def pages(client, session, way, **given):
    """All pages from one end to the other."""
    path = f"/api/sessions/{session}/events"
    page = client.get(path, **given, **({"from": "end"} if way == "before" else {})).json()
    found = [page["entries"]]
    while page[way] is not None:
        page = client.get(path, **given, cursor=page[way]).json()
        found.append(page["entries"])
    return found if way == "after" else found[::-1]


@pytest.mark.parametrize("view", ["chat", "raw", "handoff"])
@pytest.mark.parametrize("limit", [1, 7, 500])
def test_SC5_both_ways_give_every_entry_once_in_order(client, talk, view, limit):
    def keys(entries):
        return [entry["events"][0] if view == "handoff" else entry["eventNo"] for entry in entries]

    forwards = [no for page in pages(client, talk.session, "after", view=view, limit=limit) for no in keys(page)]
    backwards = [no for page in pages(client, talk.session, "before", view=view, limit=limit) for no in keys(page)]
    assert forwards == backwards == sorted(set(forwards))
    assert len(forwards) == {"chat": 48, "raw": 49, "handoff": 12}[view]


@pytest.mark.parametrize("view", ["chat", "raw", "handoff"])
def test_SC5_a_jump_gives_the_event_with_its_neighbours(client, talk, view):
    path = f"/api/sessions/{talk.session}/events"
    page = client.get(path, view=view, event=25, limit=6).json()
    if view == "handoff":
        assert [entry["invocationId"] for entry in page["entries"]][3] == "run-5"
        assert page["entries"][3]["events"][0] <= 25 <= page["entries"][3]["events"][1]
    else:
        assert [entry["eventNo"] for entry in page["entries"]] == [22, 23, 24, 25, 26, 27]
    assert page["before"] is not None
    assert page["after"] is not None
    above = client.get(path, view=view, cursor=page["before"], limit=2).json()["entries"]
    below = client.get(path, view=view, cursor=page["after"], limit=2).json()["entries"]
    if view != "handoff":
        assert [entry["eventNo"] for entry in (*above, *below)] == [20, 21, 28, 29]


def test_SC5_the_ends_say_that_they_are_ends(client, talk):
    path = f"/api/sessions/{talk.session}/events"
    whole = client.get(path, view="raw", limit=500).json()
    assert (whole["before"], whole["after"], whole["total"]) == (None, None, 49)
    assert client.get(path, event=1, limit=10).json()["before"] is None
    assert client.get(path, event=49, limit=10).json()["after"] is None


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"cursor": "x"}, "bad_cursor"),
        ({"cursor": "a12-000000000000"}, "bad_cursor"),
        ({"event": 50}, "not_found"),
        ({"event": 0}, "not_found"),
        ({"view": "pretty"}, "bad_request"),
        ({"event": 3, "cursor": "a"}, "bad_request"),
        ({"evnt": 3}, "bad_request"),
    ],
)
def test_SC5_a_place_that_is_none_is_refused(client, talk, query, code):
    answer = client.get(f"/api/sessions/{talk.session}/events", **query)
    assert answer.status_code in (404, 422)
    assert answer.json()["error"]["code"] == code


def test_SC5_a_cursor_of_another_session_or_view_is_refused(client, talk, life):
    other = life.thread("h2")
    for number in range(4):
        life.say(other, f"say {number}")
    path = f"/api/sessions/{talk.session}/events"
    cursor = client.get(path, limit=2).json()["after"]
    assert client.get(f"/api/sessions/{other.session}/events", cursor=cursor).status_code == 422
    assert client.get(path, view="raw", cursor=cursor).status_code == 422


def test_UI1_text_of_agents_passes_through_as_data(client, talk):
    page = client.get(f"/api/sessions/{talk.session}/events", limit=1)
    assert page.headers["content-type"] == "application/json"
    assert SCRIPT in page.json()["entries"][0]["text"]
    event = client.get(f"/api/sessions/{talk.session}/events/2").json()
    assert event["data"]["text"] == f"question 0 {SCRIPT}"
    for name in ("0", "1000", "x", "9" * 30):
        assert client.get(f"/api/sessions/{talk.session}/events/{name}").status_code == 404


def test_SC4_ten_thousand_events_are_read_from_any_place(client, life):
    from holdfast.core.keys import SessionId, SessionKey

    where = SessionId(SessionKey("local", "codex", "long"), "long")
    life.store.open_session(
        Session(where, "codex", str(life.vault), life.clock(), state="sealed", seal_reason=IMPORTED, ended_at=1.0)
    )
    events = [
        EventRecord(f"e{n}", where, 1.0 + n, "prompt_submitted", {"text": f"line {n}"}, f"run-{n // 100}", f"line {n}")
        for n in range(1, 10_001)
    ]
    assert life.store.append_imported(where, events) == 10_000
    for event in (1, 5000, 10_000):
        page = client.get("/api/sessions/long/events", event=event, limit=50).json()
        assert event in [entry["eventNo"] for entry in page["entries"]]
        assert page["total"] == 10_000
    handoff = client.get("/api/sessions/long/events", view="handoff", event=9950, limit=3).json()
    assert "run-99" in [entry["invocationId"] for entry in handoff["entries"]]
