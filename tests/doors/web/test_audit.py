"""Decisions on the page: filters, facets, the histogram, the story of one, copies, the check, replays."""

import csv
import io
import itertools
import json

import pytest

from doors.web.questions import ask
from doors.web.scenes import SCRIPT, Life
from holdfast.doors.web.audit import histogram
from holdfast.doors.web.audit_rows import Row


@pytest.fixture
def decided(life):
    """Five decisions in Claude Code and one in Codex."""
    where = life.thread()
    (life.vault / "a.py").write_text("x")
    life.tool(where, "read", "x", path="a.py")
    life.tool(where, "bash", "ok", command=f"echo {SCRIPT!r}")
    life.clock.advance(3600)
    life.tool(where, "bash", "ok", command="git push origin main")
    life.tool(where, "write", "", path="/etc/passwd", content="x")
    life.tool(where, "write", "", path="b.py", content="x")
    other = life.thread("h2", host="codex")
    life.tool(other, "read", "x", path="a.py")
    return where


def listed(client, **query):
    answer = client.get("/api/audit", **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def counts(page, facet):
    return {entry["value"]: entry["count"] for entry in page["facets"][facet]}


def test_AU1_entries_come_newest_first_with_what_the_table_shows(client, decided):
    page = listed(client, domain=["read", "edit", "bash"])
    assert [entry["tool"] for entry in page["entries"]] == ["read", "write", "write", "bash", "bash", "read"]
    newest = page["entries"][0]
    assert (newest["host"], newest["decision"], newest["targets"]) == ("codex", "allow", ["vault:/a.py"])
    assert page["entries"][2]["decision"] == "deny"
    assert "<img src=x onerror=alert(1)>" in page["entries"][4]["targets"][0]
    assert (page["total"], page["complete"], page["cursor"]) == (6, True, None)


def test_AU1_pages_give_every_entry_once(client, decided):
    seen, cursor = [], None
    while True:
        page = listed(client, limit=2, cursor=cursor)
        seen += [entry["position"] for entry in page["entries"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert seen == sorted(set(seen), reverse=True)
    assert len(seen) == page["total"]


def test_AU1_a_facet_counts_what_its_other_values_would_give(client, decided):
    page = listed(client, tool="bash")
    assert page["total"] == 2
    assert counts(page, "decision") == {"allow": 2}
    assert counts(page, "tool") == {"read": 2, "write": 2, "bash": 2}, "its own filter does not hide the others"
    assert counts(page, "host") == {"claude-code": 2}
    both = listed(client, tool=["bash", "write"], decision="deny")
    assert both["total"] == 1
    assert counts(both, "decision") == {"allow": 3, "deny": 1}
    assert listed(client, host="gemini")["total"] == 0


def test_AU1_session_time_and_text_narrow_it(client, decided, life):
    assert listed(client, session="h2", tool="read")["total"] == 1
    hour = life.clock() - 1800
    assert listed(client, until=hour, tool=["read", "bash"])["total"] == 2
    assert listed(client, since=hour, tool=["read", "bash"])["total"] == 2
    found = listed(client, q="GIT PUSH")
    assert [entry["targets"][0] for entry in found["entries"]] == ["shell:git push origin main"]
    assert listed(client, q="no such words")["entries"] == []
    life.tool(decided, "bash", "ok", command="git push again")
    assert listed(client, q="git push")["total"] == 2, "a text that was looked for before is looked for in what is new"


def test_AU1_the_histogram_counts_every_decision_once(client, decided):
    page = listed(client, buckets=10)
    buckets = page["histogram"]["buckets"]
    assert len(buckets) <= 10
    assert sum(one["allow"] + one["ask"] + one["deny"] for one in buckets) == page["total"]
    steps = {later["at"] - one["at"] for one, later in itertools.pairwise(buckets)}
    assert steps <= {page["histogram"]["seconds"]}


@pytest.mark.parametrize("most", [1, 7, 200])
@pytest.mark.parametrize("span", [0.5, 100.0, 86_400.0 * 400, 86_400.0 * 9000])
def test_AU1_the_histogram_has_at_most_as_many_steps_as_were_asked_for(most, span):
    rows = [Row(n, 1e9 + span * n / 50, "s", "allow", "", "", "", "", "") for n in range(51)]
    made = histogram(rows, None, None, most)
    assert 1 <= len(made["buckets"]) <= most + 1
    assert sum(bucket["allow"] for bucket in made["buckets"]) == 51


def test_AU3_one_entry_with_its_findings_and_why(client, decided):
    denied = next(entry for entry in listed(client, decision="deny")["entries"])
    (told,) = client.get(f"/api/audit/entries/{denied['eventId']}").json()["entries"]
    assert told["row"]["eventId"] == denied["eventId"]
    assert any(finding["decision"] == "deny" for finding in told["findings"])
    assert {"code", "params", "en", "zh"} == set(told["why"]["decidedBy"])
    assert told["why"]["change"][0]["code"] in ("why.outside_edit", "why.hard", "why.add_rule")
    assert told["entry"]["hash"]
    event = client.get(f"/api/sessions/{denied['session']}/events/{told['eventNo']}").json()
    assert event["id"] == denied["eventId"]
    by_call = client.get(f"/api/audit/entries/{told['entry']['callId']}").json()["entries"]
    assert by_call[0]["row"]["eventId"] == denied["eventId"]
    assert client.get("/api/audit/entries/nothing").status_code == 404


def test_AU2_the_check_names_a_touched_line(client, decided, home):
    whole = client.get("/api/audit/verify").json()
    assert (whole["ok"], whole["problems"]) == (True, [])
    file = home.audit / f"{decided.session}.jsonl"
    file.write_text(file.read_text().replace('"allow"', '"deny"', 1))
    told = client.get("/api/audit/verify", session=decided.session).json()
    assert (told["ok"], told["problems"][0]["kind"]) == (False, "changed")


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_AU1_a_copy_is_fetched_once_by_its_address(client, stranger, decided, form):
    url = client.post("/api/audit/export", {"format": form, "tool": ["bash"]}).json()["url"]
    copy = stranger.request("GET", url, headers={"x-holdfast": None})
    assert copy.status_code == 200
    assert "attachment" in copy.headers["content-disposition"]
    if form == "jsonl":
        lines = [json.loads(line) for line in copy.text.splitlines()]
        assert [line["tool"] for line in lines] == ["bash", "bash"]
        assert all(line["hash"] for line in lines)
    else:
        rows = list(csv.DictReader(io.StringIO(copy.text)))
        assert [row["tool"] for row in rows] == ["bash", "bash"]
    again = stranger.request("GET", url, headers={"x-holdfast": None})
    assert (again.status_code, again.json()["error"]["code"]) == (410, "ticket_used")
    assert client.get("/api/audit/export", ticket="made-up").status_code == 410
    assert client.post("/api/audit/export", {"format": "xml"}).status_code == 422


def test_AU3_replay_of_an_entry_and_of_a_session_against_the_rules_of_today(client, decided, home):
    page = listed(client, q="git push")
    event = page["entries"][0]["eventId"]
    same = client.post("/api/audit/replay", {"event": event}).json()
    assert (same["replayed"], same["changed"]) == (1, 1), "it was allowed by a rule that this server does not have"
    home.config.write_text('{"agents": {"runtime": {"permission": {"rules": ['
                           '{"domain": "bash", "pattern": "git push *", "decision": "deny"}]}}}}')  # fmt: skip
    told = client.post("/api/audit/replay", {"session": decided.session}).json()
    changes = {group["change"]["target"]: group["change"]["after"] for group in told["groups"]}
    assert changes["shell:git push origin main"] == "deny"
    for body in ({}, {"event": "x", "session": "y"}):
        assert client.post("/api/audit/replay", body).status_code == 422
    assert client.post("/api/audit/replay", {"event": "nothing"}).status_code == 404
    assert client.post("/api/audit/replay", {"session": "nothing"}).status_code == 404


def test_SC1_entries_of_another_user_are_not_there(client, life, decided, tmp_path):
    stranger = Life(tmp_path, user="mallory")
    where = stranger.thread("theirs")
    outcome = stranger.tool(where, "bash", "ok", command="ls secrets")
    stranger.close()
    assert outcome is not None
    assert listed(client, q="secrets")["total"] == 0
    assert listed(client, session=where.session)["total"] == 0


@pytest.mark.parametrize(
    "query", [{"cursor": "x"}, {"since": "x"}, {"q": "x" * 501}, {"buckets": "many"}, {"who": "me"}]
)
def test_AU1_what_cannot_be_asked_is_refused(client, decided, query):
    assert client.get("/api/audit", **query).status_code == 422


def test_AU1_an_answer_is_shown_with_what_was_asked_about(server, client, vault):
    approval = ask(server.control, vault, command="git push origin main")
    server.control.approvals.answer(approval.id, "once", by="ada")
    answered, asked = client.get("/api/audit").json()["entries"][:2]
    assert (answered["decidedBy"], asked["decidedBy"]) == ("ada", "pending")
    assert answered["targets"] == asked["targets"] == ["shell:git push origin main"]
