"""UI1, MO1: talking with the own agent through the page, with the offline model behind it."""

import json
import subprocess
import sys

import pytest

import holdfast.doors.workbench  # noqa: F401 (loaded here, so that no test waits for the model libraries)
from doors.web.conftest import ADDRESS, Browser
from doors.web.questions import open_session, until
from holdfast.control import Control
from holdfast.core.history import is_valid
from holdfast.doors.web.app import start_modules
from holdfast.doors.web.server import Server
from holdfast.runtime.transcript import Transcript
from holdfast.testing.builders import EventBuilder

COMMAND = "run echo one two"


class Talk:
    """A thread, as a page has it."""

    def __init__(self, client: Browser, thread: str = "") -> None:
        self.client = client
        self.thread = thread or client.post("/api/threads").json()["thread"]
        self.path = f"/api/threads/{self.thread}"

    @property
    def state(self) -> dict:
        return self.client.get(self.path).json()

    def say(self, text: str) -> dict:
        answer = self.client.post(f"{self.path}/messages", {"text": text})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def done(self) -> dict:
        return until(lambda: None if (state := self.state)["busy"] or state["queue"] else state, "the end of the turn")

    def asked(self) -> dict:
        return until(lambda: self.state["approvals"], "a question")[0]

    def answer(self, approval: dict, answer: str = "once") -> None:
        assert self.client.post(f"/api/approvals/{approval['id']}/answer", {"answer": answer}).status_code == 200

    def items(self, *kinds: str) -> list[dict]:
        found = self.client.get(f"{self.path}/messages").json()["items"]
        return [item for item in found if not kinds or item["kind"] in kinds]

    def post(self, what: str, body=None):
        return self.client.post(f"{self.path}/{what}", body)


@pytest.fixture
def talk(client) -> Talk:
    return Talk(client)


def turns(server, kind: str) -> list[dict]:
    blocks = server.hub.after(server.hub.first)[1].decode().split("\n\n")
    data = [json.loads(block.split("data: ")[1]) for block in blocks if "event: turn\n" in block]
    return [event for event in data if event["kind"] == kind]


def test_UI1_a_message_is_answered_and_stands_in_the_record(server, talk, vault):
    sent = talk.say("write a file notes.txt with hello")
    assert sent["queued"] is False
    state = talk.done()
    assert (vault / "notes.txt").read_text() == "hello\n"
    user, tool, reply = talk.items("user", "tool", "assistant")
    assert (user["id"], user["text"]) == (sent["id"], "write a file notes.txt with hello")
    assert (tool["tool"], tool["state"], tool["what"]["kind"]) == ("write", "done", "diff")
    assert reply["text"]
    assert state["title"] == "write a file notes.txt with hello"
    assert state["usage"]["requests"] >= 2
    assert state["health"]["used"] > 0
    assert state["unfinished"] is False
    assert "".join(event["text"] for event in turns(server, "text_delta")).endswith(reply["text"])
    assert [event["reason"] for event in turns(server, "turn_ended")] == ["done"]


def test_UI1_a_call_waits_runs_and_is_done(server, talk):
    talk.say(COMMAND)
    approval = talk.asked()
    state = talk.state
    assert state["live"]["tools"][0]["state"] == "waiting"
    assert talk.items("tool")[0]["state"] == "waiting"
    assert state["pending"] == 1
    talk.answer(approval)
    talk.done()
    (tool,) = talk.items("tool")
    assert (tool["state"], tool["exitCode"], tool["approval"]) == ("done", 0, approval["id"])
    assert "one two" in tool["output"]
    kinds = [name for name in ("tool_waiting", "tool_answered", "tool_running", "tool_done") if turns(server, name)]
    assert kinds == ["tool_waiting", "tool_answered", "tool_running", "tool_done"]


def test_UI1_a_denied_and_a_failed_call_say_so(talk):
    talk.say(COMMAND)
    talk.answer(talk.asked(), "deny")
    talk.done()
    assert talk.items("tool")[-1]["state"] == "denied"
    talk.say("run false")
    talk.answer(talk.asked())
    talk.done()
    assert talk.items("tool")[-1]["state"] == "failed"
    talk.say("read missing.txt")
    talk.done()
    assert talk.items("tool")[-1]["state"] == "failed"


def test_UI1_messages_wait_while_a_run_is_under_way(talk):
    talk.say(COMMAND)
    approval = talk.asked()
    second, third = talk.say("write a file b.txt with two"), talk.say("write a file c.txt with three")
    assert (second["queued"], third["queued"]) == (True, True)
    waiting = talk.client.get(f"{talk.path}/queue").json()["queue"]
    assert [queued["text"] for queued in waiting] == ["write a file b.txt with two", "write a file c.txt with three"]
    left = talk.client.delete(f"{talk.path}/queue/{third['id']}").json()["queue"]
    assert [queued["id"] for queued in left] == [second["id"]]
    assert talk.client.delete(f"{talk.path}/queue/{third['id']}").status_code == 404
    talk.answer(approval)
    talk.done()
    assert [item["text"] for item in talk.items("user")] == [COMMAND, "write a file b.txt with two"]


def test_UI1_stop_ends_the_turn_and_cancels_the_question(server, talk):
    talk.say(COMMAND)
    approval = talk.asked()
    assert talk.post("stop").json() == {"stopped": True}
    talk.done()
    assert talk.client.get(f"/api/approvals/{approval['id']}").json()["status"] == "cancelled"
    assert talk.items("tool")[0]["state"] == "denied"
    assert turns(server, "turn_ended")[-1]["reason"] == "stopped"
    assert talk.items("notice")[-1]["code"] == "stopped", "a mark, not words of the agent"
    assert talk.post("stop").json() == {"stopped": False}
    talk.say("write a file d.txt with on")
    talk.done()
    assert talk.items("assistant")[-1]["text"]


def test_UI1_a_running_command_is_interrupted_by_stop(talk):
    talk.say("run sleep 600")
    talk.answer(talk.asked())
    until(lambda: [tool for tool in (talk.state["live"] or {"tools": []})["tools"] if tool["state"] == "running"])
    assert talk.post("stop").json() == {"stopped": True}
    talk.done()
    assert talk.items("tool")[0]["state"] == "interrupted"


def test_MO1_full_access_is_confirmed_once_and_stands_in_the_audit(server, talk):
    refused = talk.post("mode", {"mode": "full_access", "confirmed": False})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "confirm_full_access")
    assert talk.state["mode"] == "agent"
    assert talk.post("mode", {"mode": "full_access", "confirmed": True}).json()["mode"] == "full_access"
    again = talk.post("mode", {"mode": "full_access", "confirmed": False})
    assert again.status_code == 200, "it is on already: there is nothing to confirm"
    talk.say(COMMAND)
    talk.done()
    assert talk.items("tool")[0]["state"] == "done"
    assert talk.items("tool")[0]["approval"] == ""
    assert talk.post("mode", {"mode": "agent", "confirmed": False}).json()["mode"] == "agent"
    assert [item["to"] for item in talk.items("mode")] == ["full_access", "agent"]
    session = talk.state["session"]
    switched = [entry for entry in server.control.store.audit(session=session) if "full_access" in json.dumps(entry)]
    assert switched


@pytest.mark.parametrize(("answer", "mode", "state"), [("once", "full_access", "done"), ("deny", "agent", "waiting")])
def test_MO1_full_access_by_configuration_is_confirmed_before_the_first_message(server, client, answer, mode, state):
    server.home.config.write_text('{"agents": {"runtime": {"mode": {"default": "full_access"}}}}')
    talk = Talk(client)
    talk.say(COMMAND)
    approval = talk.asked()
    assert (approval["policy"], approval["what"]["kind"]) == ("modes", "mode")
    assert not talk.items("tool")
    talk.answer(approval, answer)
    until(lambda: [tool for tool in talk.items("tool") if tool["state"] == state])
    assert talk.state["mode"] == mode
    talk.post("stop")
    talk.done()


def test_MO1_switching_by_hand_answers_the_question_of_the_configuration(server, client):
    server.home.config.write_text('{"agents": {"runtime": {"mode": {"default": "full_access"}}}}')
    talk = Talk(client)
    talk.say("write a file x.txt with y")
    approval = talk.asked()
    unconfirmed = talk.post("mode", {"mode": "full_access", "confirmed": False})
    assert unconfirmed.json()["error"]["code"] == "confirm_full_access", "the question is not answered by the way"
    assert talk.post("mode", {"mode": "agent", "confirmed": False}).json()["mode"] == "agent"
    assert talk.client.get(f"/api/approvals/{approval['id']}").json()["answer"] == "deny"
    talk.done()


def test_UI1_a_message_is_edited_and_sent_again(server, talk, vault):
    talk.say("write a file one.txt with first")
    talk.done()
    talk.say("write a file two.txt with second")
    talk.done()
    second = talk.items("user")[1]
    edited = talk.post("edit", {"event": second["id"], "text": "write a file three.txt with third"})
    assert edited.status_code == 200, edited.text
    talk.done()
    assert (vault / "three.txt").read_text() == "third\n"
    gone = [item["text"] for item in talk.items("user") if item["superseded"]]
    assert gone == ["write a file two.txt with second"]
    loaded = Transcript(server.control.plane, server.control.store.session(talk.state["session"]).id).load()
    said = [item.text for item in loaded.items if item.kind == "user"]
    assert said == ["write a file one.txt with first", "write a file three.txt with third"]
    assert is_valid(loaded.items)
    assert "two.txt" not in "".join(item.text for item in loaded.items)


def test_UI1_what_cannot_be_edited_is_refused(talk):
    talk.say("write a file one.txt with first")
    talk.done()
    reply = talk.items("assistant")[0]
    for event in ("none", reply["key"].removeprefix("e:")):
        refused = talk.post("edit", {"event": event, "text": "x"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "cannot_edit")
    talk.say(COMMAND)
    talk.asked()
    busy = talk.post("edit", {"event": talk.items("user")[0]["id"], "text": "x"})
    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "busy")
    assert talk.post("compact").json()["error"]["code"] == "busy"
    talk.post("stop")
    talk.done()


def test_UI1_a_compaction_stands_between_what_was_before_and_after(talk, vault):
    (vault / "long.txt").write_text("".join(f"word number {number}\n" for number in range(1500)))
    for _ in range(6):
        talk.say("read long.txt")
        talk.done()
    assert talk.post("compact").json() == {"started": True}
    by_hand = until(lambda: [one for one in talk.items("compaction") if one["trigger"] == "manual"], "the compaction")
    divider = by_hand[-1]
    assert divider["after"] < divider["before"]


def test_UI1_another_model_from_the_next_message_on(talk):
    assert talk.state["model"] == "offline"
    assert talk.post("model", {"model": "other"}).json()["model"] == "other"
    talk.say("hello")
    until(lambda: talk.state["unfinished"], "the trouble with a model that has no key")
    assert talk.post("model", {"model": ""}).json()["model"] == "offline"
    assert talk.post("resume").json() == {"resumed": True}
    talk.done()
    assert talk.items("assistant")
    assert talk.post("resume").json() == {"resumed": False}


def test_UI1_a_run_that_waited_is_taken_up_after_a_restart(server, talk):
    talk.say(COMMAND)
    approval = talk.asked()
    server.close()
    later = Server(Control.open(server.home), address=ADDRESS, vault=server.vault)
    start_modules(later)
    try:
        back = Talk(Browser(later).enter(), talk.thread)
        state = back.state
        assert (state["unfinished"], state["busy"]) == (True, False)
        assert [card["id"] for card in state["approvals"]] == [approval["id"]]
        assert back.post("resume").json() == {"resumed": True}
        back.answer(approval)
        back.done()
        (tool,) = back.items("tool")
        assert (tool["state"], "one two" in tool["output"]) == ("done", True)
    finally:
        later.close()


HOLDER = """
import sys
from pathlib import Path
from holdfast.runtime.claim import FileClaim
with FileClaim(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_UI1_a_message_behind_another_process_is_taken_once_that_lets_go(server, talk, vault):
    session = talk.state["session"]
    given = [sys.executable, "-c", HOLDER, str(server.home.run / "claims"), session]
    with subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        assert talk.state["drivenElsewhere"] is True
        assert talk.say("write a file late.txt with on")["queued"] is True
        assert [queued["text"] for queued in talk.state["queue"]] == ["write a file late.txt with on"]
        assert not (vault / "late.txt").exists()
        other.communicate("let go\n", timeout=60)
    until((vault / "late.txt").exists, "the message behind the other process")
    assert talk.done()["drivenElsewhere"] is False


def test_UI1_empty_and_endless_messages_are_refused(talk):
    assert talk.post("messages", {"text": " \n"}).status_code == 422
    assert talk.post("messages", {"text": "x" * 500_001}).status_code == 413
    assert talk.client.post("/api/threads/none/messages", {"text": "x"}).status_code == 404


def test_UI1_threads_of_every_host_are_listed_and_only_the_own_can_be_talked_to(server, client, vault):
    open_session(server.control, vault)
    own = Talk(client)
    rows = client.get("/api/threads").json()["threads"]
    assert {(row["host"], row["own"]) for row in rows} == {("claude-code", False), ("holdfast", True)}
    assert [row["thread"] for row in client.get("/api/threads", q="mend").json()["threads"]] == ["t1"]
    assert [row["thread"] for row in client.get("/api/threads", host="holdfast").json()["threads"]] == [own.thread]
    refused = client.post("/api/threads/t1/messages", {"text": "hi"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_own")
    assert (
        client.post("/api/threads/t1/mode", {"mode": "full_access", "confirmed": True}).json()["mode"] == "full_access"
    )


def test_UI1_a_thread_name_may_hold_anything(server, client, vault):
    name = "a/b ?#%2F 两"
    open_session(server.control, vault, thread=name)
    from urllib.parse import quote

    answer = client.get(f"/api/threads/{quote(name, safe='')}")
    assert answer.json()["thread"] == name


def test_UI1_pages_of_messages_hold_each_entry_once_in_order(server, client, vault):
    control = server.control
    where = open_session(control, vault)
    build = EventBuilder(where, cwd=str(vault))
    for number in range(60):
        call = build.call("read", path=f"{number}.txt")
        control.plane.handle(build.prompt(f"message {number}"))
        control.plane.handle(build.calling(call))
        control.plane.handle(build.called(call, f"text {number}"))
    for size in (7, 50, 500):
        found, before = [], None
        while True:
            page = client.get("/api/threads/t1/messages", limit=size, before=before).json()
            found = page["items"] + found
            before = page["before"]
            if before is None:
                break
        assert [item["text"] for item in found if item["kind"] == "user"] == [f"message {n}" for n in range(60)]
        tools = [item for item in found if item["kind"] == "tool"]
        assert [tool["output"] for tool in tools] == [f"text {n}" for n in range(60)]
        assert len({item["key"] for item in found}) == len(found)
    assert client.get("/api/threads/t1/messages", before="gone:5").status_code == 422


def test_UI1_a_thread_goes_on_over_a_seal(server, talk):
    talk.say("write a file a.txt with one")
    first = talk.done()["session"]
    assert talk.client.post(f"/api/sessions/{first}/seal", {}).status_code == 200
    assert talk.post("mode", {"mode": "agent", "confirmed": False}).json()["error"]["code"] == "sealed"
    talk.say("write a file b.txt with two")
    second = talk.done()
    assert second["session"] != first
    assert second["sessions"] == 2
    assert [item["number"] for item in talk.items("session")] == [1, 2]
    assert [item["text"] for item in talk.items("user")] == [
        "write a file a.txt with one",
        "write a file b.txt with two",
    ]


def test_HK6_the_mobile_profile_has_no_bash_and_keeps_files_in_the_app_data(home, vault):
    from holdfast.store.config_file import Inline

    inline = Inline(assignments=('profile="mobile"',))
    server = Server(Control.open(home, inline=inline), address=ADDRESS, vault=vault, inline=inline)
    start_modules(server)
    try:
        client = Browser(server).enter()
        told = client.get("/api/hello").json()
        assert (told["profile"], told["canOpen"]) == ("mobile", False)
        talk = Talk(client)
        talk.say(COMMAND)
        talk.done()
        assert not [tool for tool in talk.items("tool") if tool["tool"] == "bash" and tool["state"] == "done"]
        answer = client.request(
            "POST",
            f"/api/files?thread={talk.thread}&name=a.txt",
            content=b"x",
            headers={"content-type": "application/octet-stream"},
        )
        assert answer.json()["path"].startswith(str(home.outputs))
        assert not (vault / ".agent-output").exists()
    finally:
        server.close()


def test_UI1_what_a_run_told_the_person_stands_in_the_record_at_its_place(server, talk, client):
    server.home.config.write_text('{"agents": {"runtime": {"budget": {"maxTokens": 1}}}}')
    talk.say("help")
    talk.done()
    talk.say("help again")
    talk.done()
    told = turns(server, "problem")[-1]
    items = talk.items("user", "notice")
    notice = items[-1]
    assert [item["kind"] for item in items][-2:] == ["user", "notice"]
    assert (notice["key"], notice["problem"], notice["code"]) == (f"e:{told['id']}", True, "budget")
    assert notice["message"]["en"] == told["text"]
    assert notice["message"]["zh"] != notice["message"]["en"]
    assert notice["next"]["zh"]
    until(lambda: f'"key":"e:{told["id"]}"'.encode() in server.hub.after(server.hub.first)[1], "the notice's own item")


def test_UI1_a_subagent_is_known_by_its_name(server, talk, client, vault):
    where = open_session(server.control, vault).of_subagent("explorer#1a2b3c4d")
    build = EventBuilder(where, cwd=str(vault), start=server.control.clock())
    server.control.plane.handle(build.prompt("Look around."))
    server.control.plane.handle(build.calling("bash", call_id="sub-1", command="make all"))
    items = client.get("/api/threads/t1/messages").json()["items"]
    assert {item["subagent"] for item in items} == {"explorer"}
    (card,) = client.get("/api/approvals").json()["approvals"]
    assert card["subagent"] == "explorer"
    (entry,) = client.get("/api/audit/entries/sub-1").json()["entries"]
    assert entry["row"]["subagent"] == "explorer"
