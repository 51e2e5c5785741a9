"""UI2: the approval card says everything, and an answer counts once."""

import threading

import pytest

from doors.web.conftest import Browser
from doors.web.questions import ask, open_session, until
from holdfast.testing.builders import EventBuilder

RULES = """{ "agents": { "runtime": { "permission": { "rules": [
  { "domain": "bash", "pattern": "shell:make *", "decision": "ask" } ] } } } }"""


def test_UI2_the_card_says_what_why_and_by_which_rule(server, client, vault):
    server.home.config.write_text(RULES)
    approval = ask(server.control, vault, command="make all")
    (card,) = client.get("/api/approvals").json()["approvals"]
    assert card == client.get(f"/api/approvals/{approval.id}").json()
    assert (card["thread"], card["agent"], card["host"], card["title"]) == (
        "t1",
        "claude",
        "claude-code",
        "Mend the build",
    )
    assert card["what"] == {"kind": "command", "text": "make all", "path": "", "complete": True}
    assert card["reading"]["command"] == "make all"
    (finding,) = [one for one in card["findings"] if one["decision"] == "ask"]
    assert set(finding["why"]) == {"code", "params", "en", "zh"}
    assert finding["rule"]["source"] == str(server.home.config)
    assert finding["rule"]["line"] == 2
    assert card["proposals"][0]["rules"][0] == {"domain": "bash", "pattern": "shell:make all", "decision": "allow"}
    assert card["answers"] == ["once", "always", "for_a_while", "deny"]
    assert card["status"] == "pending"


def test_UI2_an_edit_is_shown_as_a_diff_of_the_file_as_it_is(server, client, vault):
    (vault / ".env.local").write_text("".join(f"line {number}\n" for number in range(1, 21)))
    ask(server.control, vault, "edit", path=".env.local", old_string="line 12\n", new_string="line twelve\n")
    what = client.get("/api/approvals").json()["approvals"][0]["what"]
    assert (what["kind"], what["path"], what["complete"]) == ("diff", ".env.local", True)
    assert "@@ -9,7 +9,7 @@" in what["text"]
    assert "-line 12\n+line twelve" in what["text"]


def test_UI2_a_compound_command_can_only_be_answered_once(server, client, vault):
    approval = ask(server.control, vault, command="make all && make install")
    card = client.get(f"/api/approvals/{approval.id}").json()
    assert card["answers"] == ["once", "deny"]
    assert card["onlyOnce"]["zh"]
    refused = client.post(f"/api/approvals/{approval.id}/answer", {"answer": "always"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_rule")
    assert client.get(f"/api/approvals/{approval.id}").json()["status"] == "pending"


def test_UI2_once_is_answered_once(server, client, vault):
    approval = ask(server.control, vault, command="make all")
    done = client.post(f"/api/approvals/{approval.id}/answer", {"answer": "once"}).json()
    assert done["approval"]["status"] == "answered"
    assert done["approval"]["answeredHere"] is True
    assert done["approval"]["answeredBy"].startswith("local (")
    again = client.post(f"/api/approvals/{approval.id}/answer", {"answer": "deny"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "already_decided")
    assert again.json()["approval"]["answer"] == "once"


def test_UI2_two_tabs_that_answer_at_once_give_one_answer(server, vault):
    tabs = [Browser(server).enter() for _ in range(4)]
    for number in range(5):
        approval = ask(server.control, vault, call_id=f"c{number}", command=f"make target{number}")
        given = ["once", "deny", "always", "for_a_while"]
        answers = [None] * len(tabs)
        ready = threading.Barrier(len(tabs))

        def answer(at, path=f"/api/approvals/{approval.id}/answer", given=given, answers=answers, ready=ready):
            ready.wait(60)
            answers[at] = tabs[at].post(path, {"answer": given[at]})

        threads = [threading.Thread(target=answer, args=(at,)) for at in range(len(tabs))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        codes = sorted(one.status_code for one in answers)
        assert codes == [200, 409, 409, 409]
        winner = next(at for at, one in enumerate(answers) if one.status_code == 200)
        for at, one in enumerate(answers):
            card = one.json()["approval"]
            assert (card["status"], card["answer"]) == ("answered", given[winner])
            assert card["answeredHere"] is (at == winner)
        answered = [one for one in server.control.store.events("s1") if one.kind == "approval_answered"]
        assert len(answered) == number + 1


def test_UI2_always_writes_the_rule_as_it_was_edited(server, client, vault):
    approval = ask(server.control, vault, command="make all")
    rules = [{"domain": "bash", "pattern": "shell:make a*", "decision": "allow"}]
    done = client.post(f"/api/approvals/{approval.id}/answer", {"answer": "always", "rules": rules}).json()
    assert done["problem"] is None
    assert done["approval"]["rules"][0]["pattern"] == "shell:make a*"
    assert "shell:make a*" in server.home.config.read_text()
    event = EventBuilder(approval.where, cwd=str(vault)).calling("bash", call_id="again", command="make apples")
    assert server.control.plane.handle(event).decision == "allow"


def test_UI2_a_rule_about_something_else_is_refused_and_nothing_is_settled(server, client, vault):
    approval = ask(server.control, vault, command="make all")
    for rule in (
        {"domain": "edit", "pattern": "**"},
        {"domain": "bash", "pattern": " "},
        {"domain": "bash", "pattern": "regex:("},
    ):
        refused = client.post(f"/api/approvals/{approval.id}/answer", {"answer": "always", "rules": [rule]})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_rule"), rule
    assert client.get(f"/api/approvals/{approval.id}").json()["status"] == "pending"


def test_UI2_a_denial_carries_its_message_to_the_agent(server, client, vault):
    approval = ask(server.control, vault, command="make all")
    client.post(f"/api/approvals/{approval.id}/answer", {"answer": "deny", "message": "use ninja"})
    event = EventBuilder(approval.where, cwd=str(vault)).calling(
        "bash", call_id="c1", over={"id": "ask-c1"}, command="make all"
    )
    outcome = server.control.plane.handle(event)
    assert outcome.decision == "deny"
    assert "use ninja" in outcome.reason()


def test_UI2_what_expired_or_was_cancelled_says_so(server, client, vault):
    late = ask(server.control, vault, command="make late")
    server.control.approvals.expire(late.id)
    stopped = ask(server.control, vault, call_id="c2", command="make stopped")
    server.control.approvals.cancel(approval_id=stopped.id)
    statuses = {card["id"]: card["status"] for card in client.get("/api/approvals", status="all").json()["approvals"]}
    assert statuses == {late.id: "expired", stopped.id: "cancelled"}
    assert client.get("/api/approvals").json()["approvals"] == []
    refused = client.post(f"/api/approvals/{late.id}/answer", {"answer": "once"})
    assert (refused.status_code, refused.json()["approval"]["status"]) == (409, "expired")


@pytest.mark.slow
def test_UI2_an_approval_past_its_deadline_expires_by_itself(server, client, vault):
    from dataclasses import replace

    from holdfast.store.interface import Change

    where = open_session(server.control, vault)
    approval = ask(server.control, vault, where=where, command="make all")
    doomed = replace(approval, id="doomed", call_id="other", deadline=server.control.clock() - 1)
    server.control.store.commit(Change(where, approvals=(doomed,)))
    until(lambda: server.control.store.approval("doomed").status == "expired", "the deadline")


def test_UI2_unknown_approvals_and_answers_are_refused(server, client, vault):
    assert client.get("/api/approvals/none").status_code == 404
    assert client.post("/api/approvals/none/answer", {"answer": "once"}).status_code == 404
    approval = ask(server.control, vault, command="make all")
    for body in ({}, {"answer": "yes"}, {"answer": "once", "message": 3}, {"answer": "once", "by": "me"}):
        assert client.post(f"/api/approvals/{approval.id}/answer", body).status_code == 422
    assert client.get("/api/approvals", status="open").status_code == 422
