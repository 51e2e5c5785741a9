"""What our OpenCode adapter builds on, seen on the real client with a plain plugin of a few lines."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from e2e.cli_hosts import OpenCode, json_lines
from e2e.installed_clis import requires_cli
from e2e.opencode_serve import OpenCodeServe
from holdfast.testing import ChatCompletionsServer, Script, ToolUse, Turn

pytestmark = [pytest.mark.e2e, requires_cli("opencode")]

PLUGIN = Path(__file__).with_name("recording_plugin.js")


class Plugin:
    """The recording plugin, installed into a host with its answers."""

    def __init__(self, host, *answers, **config):
        self.log = host.home / "plugin.jsonl"
        host.edit_config(plugin=[[PLUGIN.as_uri(), {"log": str(self.log), "answers": answers}]], **config)

    def entries(self):
        return json_lines(self.log.read_text())

    def seen(self, hook):
        return [entry for entry in self.entries() if entry["hook"] == hook]

    def events(self, kind):
        return [entry["input"]["properties"] for entry in self.seen("event") if entry["input"]["type"] == kind]

    def order(self, *hooks):
        return [entry["hook"] for entry in self.entries() if entry["hook"] in hooks]


def bash(*commands):
    return Turn(tool_calls=tuple(ToolUse("bash", {"command": c, "description": "d"}) for c in commands))


def write(host, *names):
    calls = (ToolUse("write", {"filePath": str(host.workspace / name), "content": "x"}) for name in names)
    return Turn(tool_calls=tuple(calls))


def test_a_plugin_is_asked_before_each_call_and_can_deny_it_in_run(tmp_path):
    with ChatCompletionsServer(Script(lambda _: write(host, "denied.txt", "allowed.txt"), "done")) as server:
        host = OpenCode(tmp_path, server.url)
        plugin = Plugin(host, {"hook": "tool.execute.before", "containing": "denied", "throw": "keep out"})
        run = host.run("write")

    assert run.exit_code == 0, run.explain()
    assert not (host.workspace / "denied.txt").exists()
    assert (host.workspace / "allowed.txt").exists()
    assert server.requests[-1].result_of("call_1_1") == "keep out", "the model sees exactly the error's text"
    before = plugin.seen("tool.execute.before")
    assert [entry["input"]["callID"] for entry in before] == ["call_1_1", "call_1_2"]
    assert set(before[0]["input"]) == {"tool", "sessionID", "callID"}
    assert before[0]["output"]["args"]["filePath"] == str(host.workspace / "denied.txt")
    assert [entry["input"]["callID"] for entry in plugin.seen("tool.execute.after")] == ["call_1_2"]


BROKEN = [
    "throw new Error('at start')",
    *(pytest.param(text, marks=pytest.mark.full) for text in ("{", "export const x = 7")),
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_plugin_that_does_not_load_is_silently_absent(tmp_path, broken):
    with ChatCompletionsServer(Script(lambda _: write(host, "a.txt"), "done")) as server:
        host = OpenCode(tmp_path, server.url)
        plugin = host.home / "broken.js"
        plugin.write_text(broken)
        host.edit_config(plugin=[plugin.as_uri()])
        run = host.run("write")
    assert run.exit_code == 0, run.explain()
    assert (host.workspace / "a.txt").exists(), "it fails open, so a handshake and the doctor are needed"


def test_pure_switches_the_plugin_off(tmp_path):
    with ChatCompletionsServer(Script(lambda _: write(host, "denied.txt"), "done")) as server:
        host = OpenCode(tmp_path, server.url)
        plugin = Plugin(host, {"hook": "tool.execute.before", "throw": "keep out"})
        host.extra_environment["OPENCODE_PURE"] = "1"
        host.run("write")
    assert (host.workspace / "denied.txt").exists()
    assert not plugin.log.exists()


def test_rewriting_replacing_and_failing(tmp_path):
    answers = (
        {"hook": "tool.execute.before", "containing": "echo original", "args": {"command": "echo rewritten"}},
        {"hook": "tool.execute.before", "containing": "echo kept", "reassign": {"command": "echo lost"}},
        {"hook": "tool.execute.after", "containing": "echo replace", "output": "REPLACED"},
        {"hook": "experimental.chat.system.transform", "system": "SYSTEM FROM PLUGIN"},
    )
    calls = (ToolUse("nosuch", {"a": 1}), ToolUse("read", {"filePath": "/no/such"}))
    script = Script(bash("echo original", "echo kept", "echo replace", "exit 3"), Turn(tool_calls=calls), "done")
    with ChatCompletionsServer(script) as server:
        host = OpenCode(tmp_path, server.url)
        plugin = Plugin(host, *answers, permission={"external_directory": "allow"})
        with OpenCodeServe(host) as opencode:
            opencode.prompt(opencode.new_session(), "go")
    last = server.requests[-1]
    assert last.result_of("call_1_1") == "rewritten\n"
    assert last.result_of("call_1_2") == "kept\n", "args are changed in place only"
    assert last.result_of("call_1_3") == "REPLACED"
    assert "SYSTEM FROM PLUGIN" in last.system
    assert "SYSTEM FROM PLUGIN" in server.side_requests[0].system, "the title agent gets it too"
    after = {entry["input"]["callID"]: entry for entry in plugin.seen("tool.execute.after")}
    assert after["call_1_4"]["output"]["metadata"]["exit"] == 3, "a failing command is a finished call"
    before = {entry["input"]["callID"]: entry["input"]["tool"] for entry in plugin.seen("tool.execute.before")}
    assert before["call_2_1"] == "invalid", "an unknown tool comes by this name"
    assert before["call_2_2"] == "read"
    assert "call_2_2" not in after
    errors = [
        update["part"]["callID"]
        for update in plugin.events("message.part.updated")
        if update["part"].get("state", {}).get("status") == "error"
    ]
    assert errors == ["call_2_2"], "a failed call shows only here"


def test_asking_goes_by_event_and_the_hook_made_for_it_never_fires(tmp_path):
    with ChatCompletionsServer(Script(bash("echo asked > a.txt"), "done")) as server:
        host = OpenCode(tmp_path, server.url)
        answers = ({"hook": "permission.asked", "response": "once"}, {"hook": "permission.ask", "status": "deny"})
        plugin = Plugin(host, *answers, permission={"bash": "ask"})
        with OpenCodeServe(host) as opencode:
            opencode.prompt(opencode.new_session(), "go")
    assert (host.workspace / "a.txt").read_text() == "asked\n"
    assert plugin.seen("permission.ask") == []
    asked = plugin.events("permission.asked")[0]
    assert asked["permission"] == "bash"
    assert asked["tool"]["callID"] == "call_1_1"
    kinds = [entry["input"].get("type", entry["hook"]) for entry in plugin.entries()]
    assert kinds.index("tool.execute.before") < kinds.index("permission.asked")


def test_a_person_answers_over_http(tmp_path):
    script = Script(bash("echo one > a.txt"), bash("echo two > b.txt"), "done")
    with ChatCompletionsServer(script) as server:
        host = OpenCode(tmp_path, server.url)
        host.edit_config(permission={"bash": "ask"})
        with OpenCodeServe(host) as opencode:
            session = opencode.new_session()
            asking = threading.Thread(target=opencode.prompt, args=(session, "go"))
            asking.start()
            first = opencode.next_permission()["id"]
            opencode.reply(first, "once")
            second = opencode.next_permission(first)["id"]
            opencode.reply(second, "reject", "rather not")
            asking.join(30)
    assert (host.workspace / "a.txt").exists()
    assert not (host.workspace / "b.txt").exists()
    assert "rather not" in server.requests[-1].result_of("call_2_1")


def test_compaction_and_what_carries_the_anchors_over_it(tmp_path):
    answers = (
        {"hook": "experimental.session.compacting", "context": "CONTEXT FROM PLUGIN"},
        {"hook": "experimental.text.complete", "containing": "SUMMARY", "append": " ANCHORS FROM PLUGIN"},
    )
    with ChatCompletionsServer(Script("hello", "after"), side_reply={"summary": "SUMMARY"}) as server:
        host = OpenCode(tmp_path, server.url)
        plugin = Plugin(host, *answers)
        with OpenCodeServe(host) as opencode:
            session = opencode.new_session()
            opencode.prompt(session, "hi")
            opencode.summarize(session)
            opencode.prompt(session, "go on")
    summary = next(request for request in server.side_requests if request.side == "summary")
    assert "CONTEXT FROM PLUGIN" in summary.transcript
    working = server.requests[-1].transcript
    assert "CONTEXT FROM PLUGIN" not in working, "what is pushed into context reaches the summariser only"
    assert "SUMMARY ANCHORS FROM PLUGIN" in working
    assert len(plugin.events("session.compacted")) == 1
    order = plugin.order("experimental.session.compacting", "experimental.text.complete")
    assert order[-3:] == [
        "experimental.session.compacting",
        "experimental.text.complete",
        "experimental.text.complete",
    ]


def test_a_sub_agents_calls_carry_its_own_session(tmp_path):
    def choose(request):
        return child if "CHILD TASK" in request.last_user_text else parent

    task = {"description": "d", "prompt": "CHILD TASK", "subagent_type": "general"}
    parent = Script(Turn(tool_calls=(ToolUse("task", task),)), "done", call_id_prefix="parent")
    child = Script(lambda _: write(host, "denied.txt"), "child done", call_id_prefix="child")
    with ChatCompletionsServer(choose) as server:
        host = OpenCode(tmp_path, server.url)
        plugin = Plugin(host, {"hook": "tool.execute.before", "containing": "denied", "throw": "not you either"})
        with OpenCodeServe(host) as opencode:
            session = opencode.new_session()
            opencode.prompt(session, "delegate")
    assert not (host.workspace / "denied.txt").exists()
    before = {entry["input"]["callID"]: entry["input"]["sessionID"] for entry in plugin.seen("tool.execute.before")}
    assert before["parent_1_1"] == session
    assert before["child_1_1"] != session
    created = {info["info"]["id"]: info["info"].get("parentID") for info in plugin.events("session.created")}
    assert created[before["child_1_1"]] == session
    assert {r.conversation for r in server.requests} == {session, before["child_1_1"]}
