"""Threads, timelines, transcripts and what a person may do to a session, over the page's API."""

import pytest

from doors.web.scenes import SCRIPT, Life


@pytest.fixture
def where(life):
    where = life.thread()
    life.say(where, f"mend the parser {SCRIPT}")
    (life.vault / "a.py").write_text("x = 1")
    life.tool(where, "read", "x = 1", path="a.py")
    life.measure(where, 90_000)
    life.reply(where, f"done, see `a.py` {SCRIPT}")
    return where


def test_UI1_threads_of_every_host_are_listed_newest_first_and_paged(client, life, where):
    other = life.thread("h2", host="codex")
    life.say(other, "look at the lexer")
    page = client.get("/api/chains", limit=1).json()
    assert [row["host"] for row in page["threads"]] == ["codex"]
    rest = client.get("/api/chains", limit=1, cursor=page["cursor"]).json()
    assert [(row["host"], row["session"]) for row in rest["threads"]] == [("claude-code", where.session)]
    assert rest["cursor"] is None
    assert [row["host"] for row in client.get("/api/chains", host="codex").json()["threads"]] == ["codex"]
    assert client.get("/api/chains", q="no such title").json() == {"threads": [], "cursor": None}
    wrong = client.get("/api/chains", cursor="nothing")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "bad_cursor")


def test_SC2_the_timeline_tells_how_full_each_session_is_and_where_its_strategy_acts(client, life, where):
    life.compact(where, before=90_000, after=20_000)
    life.measure(where, 30_000)
    live = client.get(f"/api/chains/{where.thread}").json()["sessions"][0]
    assert (live["state"], live["compressions"]) == ("active", 1), "counted before it is sealed, too"
    life.seal(where)
    following = life.arrive("h1", source="resume").session.id
    life.say(following, "go on")
    told = client.get(f"/api/chains/{where.thread}").json()
    first, second = told["sessions"]
    assert (first["number"], first["state"], first["sealReason"]) == (1, "sealed", "manual")
    assert (second["number"], second["state"], second["canUnseal"]) == (2, "active", False)
    fill = first["fill"]
    assert (fill["used"], fill["window"], fill["reserve"], fill["exact"]) == (30_000, 200_000, 20_000, True)
    assert fill["ratio"] == pytest.approx(30_000 / 180_000, abs=0.001)
    assert (first["marks"]["strategy"], first["compressions"]) == ("hybrid", 1)
    assert first["marks"]["warn"] < first["marks"]["action"]
    before, after = first["segments"]
    assert (before["compaction"]["before"], before["compaction"]["after"]) == (90_000, 20_000)
    assert after["compaction"] is None
    assert (before["firstEvent"], before["lastEvent"] + 1) == (1, after["firstEvent"])
    assert after["lastEvent"] == first["events"]
    assert first["duration"] == first["endedAt"] - first["startedAt"] > 0
    assert second["fill"] is None


def test_SC1_a_foreign_or_unknown_thread_or_session_is_the_same_404(client, life, tmp_path):
    stranger = Life(tmp_path, user="mallory")
    theirs = stranger.thread("secret")
    stranger.close()
    for path in (
        f"/api/chains/{theirs.thread}",
        "/api/chains/nothing",
        f"/api/sessions/{theirs.session}",
        "/api/sessions/nothing/digest",
        f"/api/sessions/{theirs.session}/events",
        f"/api/sessions/{theirs.session}/events/1",
        f"/api/sessions/{theirs.session}/recovery",
        f"/api/stats/sessions/{theirs.session}",
    ):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found"), path
    for action in ("seal", "unseal", "handoff"):
        assert client.post(f"/api/sessions/{theirs.session}/{action}").status_code == 404
    assert all(row["session"] != theirs.session for row in client.get("/api/chains").json()["threads"])


def test_SC1_two_agents_with_a_thread_of_one_name_are_told_apart(client, life):
    from holdfast.core.keys import SessionId, SessionKey
    from holdfast.store.interface import Session

    for agent in ("one", "two"):
        where = SessionId(SessionKey("local", agent, "same"), f"of-{agent}")
        life.store.open_session(Session(where, "holdfast", str(life.vault), life.clock()))
    answer = client.get("/api/chains/same")
    assert (answer.status_code, answer.json()["agents"]) == (409, ["one", "two"])
    assert client.get("/api/chains/same", agent="two").json()["sessions"][0]["session"] == "of-two"


def test_SC7_the_digest_is_data_and_text_in_both_languages(client, life, where):
    told = client.get(f"/api/sessions/{where.session}/digest").json()
    assert told["digest"]["lastPrompt"] == f"mend the parser {SCRIPT}"
    assert told["digest"]["files"][0]["path"] == "a.py"
    assert "Session 1" in told["text"]["en"]
    assert "第 1 个会话" in told["text"]["zh"]


def test_SC3_a_session_is_sealed_handed_over_and_unsealed(client, life, where):
    sealed = client.post(f"/api/sessions/{where.session}/handoff").json()
    assert (sealed["status"], sealed["session"]["sealReason"]) == ("sealed", "handoff")
    assert sealed["session"]["canUnseal"] is True
    assert "mend the parser" in sealed["packet"]["text"]
    assert sealed["packet"]["tokens"] <= 2000
    again = client.post(f"/api/sessions/{where.session}/handoff").json()
    assert (again["status"], again["packet"]) == ("sealed", sealed["packet"])
    shown = client.get(f"/api/sessions/{where.session}").json()
    assert shown["archive"]["state"] == "verified"
    assert client.post(f"/api/sessions/{where.session}/unseal").json()["session"]["state"] == "active"
    refused = client.post(f"/api/sessions/{where.session}/unseal")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "cannot_unseal")
    assert client.post(f"/api/sessions/{where.session}/seal", {"over": True}).json()["status"] == "sealed"


def test_SC3_a_seal_waits_for_the_turn_and_says_so(client, life):
    begun = life.chain.begin_turn(life.arrival("h9"), "run-1")
    told = client.post(f"/api/sessions/{begun.session.id.session}/seal").json()
    assert (told["status"], told["message"]["code"]) == ("waits", "sealer.waits_for_turn")
    assert told["session"]["sealWanted"] == "manual"


def test_MB7_the_recovery_state_names_unread_anchors_and_cannot_be_cleared(client, life):
    bank = life.vault / "memory-bank"
    (bank / "details").mkdir(parents=True)
    (bank / "MEMORY.md").write_text("# memory")
    (bank / "details" / "patterns.md").write_text("# patterns")
    where = life.thread()
    quiet = client.get(f"/api/sessions/{where.session}/recovery").json()
    assert (quiet["required"], quiet["unread"], quiet["compactions"]) == (False, [], 0)
    life.compact(where)
    told = client.get(f"/api/sessions/{where.session}/recovery").json()
    assert told["required"] is True
    assert "memory-bank/MEMORY.md" in told["unread"]
    life.tool(where, "read", "# memory", path="memory-bank/MEMORY.md")
    later = client.get(f"/api/sessions/{where.session}/recovery").json()
    assert "memory-bank/MEMORY.md" not in later["unread"]
    assert all(client.request(method, f"/api/sessions/{where.session}/recovery", json={}).status_code == 405
               for method in ("POST", "PUT", "DELETE"))  # fmt: skip
