"""Twenty agents at once in one repository, four hosts mixed: nothing lost, nothing in a wrong thread, one inbox."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from e2e.attached import config
from e2e.cli_hosts import OpenCode
from e2e.installed_clis import requires_cli
from e2e.kits import KITS
from holdfast.doors.daemon_process import port_of, token_of
from holdfast.store.home import own_pids

pytestmark = pytest.mark.e2e

AGENTS = 20
CALLS = 6
PATIENCE = 240.0
"""Twenty CLIs on two cores take their time to start."""
NAMES = ("claude-code", "opencode", "codex", "gemini")
TOOLS = {"claude-code": "Write", "opencode": "write", "codex": "apply_patch", "gemini": "write_file"}
SHELLS = {"claude-code": "Bash", "opencode": "bash", "codex": "Bash", "gemini": "run_shell_command"}


class Agent:
    """One host's session as its hooks show it, over the door that its host uses."""

    def __init__(self, home, number, vault):
        self.home = home
        self.host = NAMES[number % len(NAMES)]
        self.session = f"{self.host}-agent-{number}"
        self.vault = vault

    def work(self):
        self.say({"SessionStart": {"source": "startup"}})
        self.say({self.of("UserPromptSubmit", "BeforeAgent", "chat.message"): {"prompt": self.session}})
        for number in range(CALLS):
            use = {"tool": TOOLS[self.host], "args": self.arguments(number), "call": f"{self.session}-{number}"}
            before = self.say({self.of("PreToolUse", "BeforeTool", "tool.execute.before"): use})
            assert "deny" not in json.dumps(before), before
            after = {**use, "output": use["call"]}
            self.say({self.of("PostToolUse", "AfterTool", "tool.execute.after"): after})
        ask = {"tool": SHELLS[self.host], "args": {"command": f"make {self.session}"}, "call": f"{self.session}-ask"}
        return self.say({self.of("PreToolUse", "BeforeTool", "tool.execute.before"): ask})

    def of(self, common, gemini, opencode):
        return {"gemini": gemini, "opencode": opencode}.get(self.host, common)

    def arguments(self, number):
        path = str(self.vault / f"{self.session}-{number}.py")
        if self.host == "codex":
            return {"command": f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n"}
        return {"file_path": path, "filePath": path, "content": "x"}

    def payload(self, event, fields):
        if self.host == "opencode":
            names = {"SessionStart": "session.created"}
            common = {"hook": names.get(event, event), "sessionID": self.session, "messageID": "m1"}
            more = {"callID": fields.get("call"), "text": fields.get("prompt"), "metadata": {}}
            return {**common, "cwd": str(self.vault), **fields, **more}
        common = {"hook_event_name": event, "session_id": self.session, "cwd": str(self.vault), "timestamp": "t1"}
        more = {"prompt_id": "p1", "turn_id": "p1", "tool_use_id": fields.get("call", "")}
        response = {"llmContent": fields.get("output")} if self.host == "gemini" else fields.get("output")
        called = {"tool_name": fields.get("tool"), "tool_input": fields.get("args"), "tool_response": response}
        return {**common, **more, **called, **fields}

    def say(self, what):
        ((event, fields),) = what.items()
        body = json.dumps(self.payload(event, fields)).encode()
        if self.host == "claude-code":
            link = http.client.HTTPConnection("127.0.0.1", port_of(self.home), timeout=60)
            headers = {"authorization": f"Bearer {token_of(self.home)}"}
            link.request("POST", "/hook/claude-code?deadline=50", body, headers)
            answer = link.getresponse().read()
            link.close()
        else:
            with socket.socket(socket.AF_UNIX) as link:
                link.settimeout(60)
                link.connect(str(self.home.run / "daemon.sock"))
                link.sendall(b"HOOK %s %d 50 -\n" % (self.host.encode(), len(body)) + body)
                answer = b""
                while part := link.recv(1 << 16):
                    answer += part
            answer = answer.partition(b"\n")[2]
        return json.loads(answer or b"{}")


def answering(control, wanted):
    """Somebody at the inbox: every second question is a no. Returns what was answered, by session."""
    answered = {}
    stop = threading.Event()

    def watch():
        while not stop.is_set() and len(answered) < wanted:
            for approval in control.approvals.pending():
                yes = int(approval.where.session.rpartition("-")[2]) % 2 == 0
                answered[approval.where.session] = yes
                control.approvals.answer(approval.id, "once" if yes else "deny", by="tester", message="no thanks")
            stop.wait(0.02)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return answered, stop, thread


def test_HO_twenty_agents_at_once_each_in_its_own_thread(holdfast, tmp_path):
    vault = tmp_path / "repository"
    vault.mkdir()
    holdfast.configure(config())
    control = holdfast.open()
    agents = [Agent(holdfast.home, number, vault) for number in range(AGENTS)]
    answered, stop, person = answering(control, AGENTS)
    with ThreadPoolExecutor(AGENTS) as pool:
        replies = list(pool.map(Agent.work, agents))
    stop.set()
    person.join(10)
    assert len(answered) == AGENTS, "each question reached the inbox once"
    for agent, reply in zip(agents, replies, strict=True):
        refused = "no thanks" in json.dumps(reply)
        assert refused != answered[agent.session], (agent.session, reply)
        session = control.store.session(agent.session)
        assert session.host == agent.host
        kinds = Counter(record.kind for record in control.store.events(agent.session, limit=1000))
        assert kinds["tool_calling"] == CALLS + 1
        assert kinds["tool_called"] == CALLS
        assert kinds["prompt_submitted"] == 1
        texts = " ".join(record.text for record in control.store.events(agent.session, limit=1000))
        others = [other.session for other in agents if other is not agent and f"{other.session}-" in texts]
        assert others == [], "nothing of anybody else's"
    assert len({control.store.session(agent.session).id.thread for agent in agents}) == AGENTS
    assert control.store.verify_audit().ok
    assert control.approvals.pending() == []
    assert len(own_pids(holdfast.home)) == 2


@requires_cli(*NAMES)
@pytest.mark.parametrize("agents", [len(NAMES), pytest.param(AGENTS, marks=pytest.mark.full)])
@pytest.mark.timeout(900)
def test_HO6_real_agents_at_once_in_one_repository(holdfast, tmp_path, agents):
    """Nobody is answered before everybody has asked, so they really are at work all at once."""
    holdfast.configure(config())
    control = holdfast.open()
    before = {session.id.session for session in control.store.sessions(limit=1000)}
    repository = tmp_path / "repository"
    repository.mkdir()
    kits = [real_agent(number, tmp_path, holdfast, repository) for number in range(agents)]
    try:
        answered, stop, person = answering_all(control, agents)
        with ThreadPoolExecutor(agents) as pool:
            runs = list(pool.map(lambda kit: kit.host.run(kit.task, deadline=PATIENCE), kits))
        stop.set()
        person.join(10)
        for kit, run in zip(kits, runs, strict=True):
            assert run.exit_code == 0, run.explain()
            assert not kit.server.errors, kit.server.errors
        assert len(answered) == agents, "each question reached the inbox once"
        opened = [s for s in control.store.sessions(limit=1000) if s.id.session not in before]
        assert len(opened) == agents
        assert len({session.id.thread for session in opened}) == agents
        records = {s.id.session: control.store.events(s.id.session, limit=1000) for s in opened}
        for kit in kits:
            (mine,) = [s for s in opened if any(kit.task in r.text for r in records[s.id.session])]
            assert mine.host == kit.name
            assert mine.vault == str(repository)
            assert (repository / kit.file).exists()
            yes = answered[kit.number]
            assert (repository / f"{kit.marker}.ran").exists() == yes
            kinds = Counter(record.kind for record in records[mine.id.session])
            assert (kinds["prompt_submitted"], kinds["tool_calling"]) == (1, 2)
            told = Counter(r.tool for r in records[mine.id.session] if r.kind == "tool_called")
            assert told["bash"] == (1 if yes or kit.name == "opencode" else 0)  # which reports refused calls too
            texts = " ".join(record.text for record in records[mine.id.session])
            assert [other.marker for other in kits if other is not kit and other.marker in texts] == []
        assert control.store.verify_audit().ok
        assert control.approvals.pending() == []
    finally:
        for kit in kits:
            kit.close()
            kit.server.close()


def real_agent(number, tmp_path, holdfast, repository):
    """A host of its own home and model, put to work in the common repository."""
    kit = KITS[NAMES[number % len(NAMES)]](tmp_path / f"agent-{number}", holdfast, deadline=int(PATIENCE))
    if isinstance(kit.host, OpenCode):  # what a project's file says would be everybody's
        own = kit.host.home / ".config" / "opencode" / "opencode.json"
        own.write_text(json.dumps({**json.loads(kit.host.config.read_text()), **json.loads(own.read_text())}))
    kit.host.workspace = repository
    kit.number, kit.marker = number, f"marker-{number}-{kit.name}"
    kit.task, kit.file = f"please {kit.marker}", f"{kit.marker}.py"
    kit.play(kit.write(kit.file), kit.bash(f"touch {kit.marker}.ran"), "done")
    return kit


def answering_all(control, wanted):
    """Somebody at the inbox who waits until everybody has asked; every second question is a no."""
    answered = {}
    stop = threading.Event()

    def watch():
        while not stop.wait(0.05):
            pending = control.approvals.pending()
            if len(pending) < wanted:
                continue
            for approval in pending:
                number = int(
                    approval.question["input"].get("command", approval.question["input"].get("cmd")).split("-")[1]
                )
                answered[number] = number % 2 == 0
                control.approvals.answer(approval.id, "once" if number % 2 == 0 else "deny", by="tester")
            return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return answered, stop, thread
