"""What the screens of the record are shown with: conversations of several hosts, decisions, rules, a memory bank.

Everything is lived through by a process of its own on the server's store, in the past, as attached hosts would have.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import pytest

from e2e.page.served import Hosts, Served
from holdfast.chain.arrivals import Arrival
from holdfast.core.events import (
    AssistantReplied,
    Compacted,
    ContextMeasured,
    PromptSubmitted,
    SessionStarted,
    ToolCall,
    ToolCalled,
    ToolCalling,
    ToolResult,
)
from holdfast.core.keys import SessionId
from holdfast.core.proposals import Edit
from holdfast.memory_bank import MemoryBank
from holdfast.store.interface import Change, EventRecord

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
LONG = 10_000
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Scenes:
    """Sessions by what is in them."""

    first: str
    """Sealed, with compaction, errors, denied calls and script in its texts."""
    second: str
    """The active one behind it, compacted, with anchors to be read again."""
    thread: str
    codex: str
    long: str
    """10,000 events."""
    denied: str
    """The event id of a call that was denied."""
    asked: str


class Past:
    """Events that happened some minutes ago."""

    def __init__(self, hosts: Hosts, minutes: float) -> None:
        self.hosts = hosts
        self.at = time.time() - minutes * MINUTE
        self._calls = count(1)

    def later(self, minutes: float) -> None:
        self.at += minutes * MINUTE

    def tell(self, kind, where, **more):
        event = kind(id=uuid.uuid4().hex, at=self.at, where=where, invocation=more.pop("invocation", "run-1"), **more)
        outcome = self.hosts.control.plane.handle(event)
        self.hosts.chain.heed(event, outcome)
        return event

    def begin(self, host: str, name: str, **more) -> SessionId:
        vault = str(self.hosts.vault)
        arrival = Arrival(host, name, vault, cwd=vault, source="startup", **more)
        row = self.hosts.chain.open(arrival).session
        where = row.id
        self.hosts.control.store.update_session(where.session, row.version, started_at=self.at)
        self.tell(SessionStarted, where, host=host, vault=vault, cwd=vault, model=more.get("model", ""))
        return where

    def say(self, where, text: str, invocation: str = "run-1") -> None:
        self.tell(PromptSubmitted, where, text=text, invocation=invocation)

    def reply(self, where, text: str, invocation: str = "run-1") -> None:
        self.tell(AssistantReplied, where, text=text, invocation=invocation)

    def call(self, where, tool: str, output: str | None = "", *, failed=False, exit_code=None, **given):
        call = ToolCall(f"{where.session[:6]}-call-{next(self._calls)}", tool, given, cwd=str(self.hosts.vault))
        event = self.tell(ToolCalling, where, call=call)
        for waiting in self.hosts.control.approvals.pending(session=where.session):
            self.hosts.control.approvals.answer(waiting.id, "once", by="ann")
        if output is not None:
            result = ToolResult(output=output, failed=failed, exit_code=exit_code)
            self.tell(ToolCalled, where, call=call, result=result)
        return event

    def measure(self, where, used: int, **more) -> None:
        self.tell(
            ContextMeasured, where, used=used, window=200_000, reserve=20_000, host="claude-code", output=400, **more
        )


@pytest.fixture(scope="session")
def told(tmp_path_factory) -> Iterator[Served]:
    """A server of this worker's own whose record is full: `told.scenes` says what is where.

    Its memory bank closes gates and its configuration is changed, so no other test may share it.
    """
    server = Served(tmp_path_factory.mktemp("told"))
    try:
        server.start()
        hosts = Hosts(server)
        try:
            server.scenes = make_scenes(hosts)
        finally:
            hosts.close()
        yield server
    finally:
        server.close()


def make_scenes(hosts: Hosts) -> Scenes:
    _memory_bank(hosts)
    past = Past(hosts, 190)
    first = past.begin("claude-code", "login-1", model="claude-opus-4")
    past.say(first, "The login test is flaky. Find out why and fix it.")
    past.reply(first, "I will look at the **test** first.\n\n- read `tests/test_login.py`\n- run it a few times")
    past.call(first, "read", "def test_login():\n    assert login('ann')\n", path="tests/test_login.py")
    past.measure(first, 18_000)
    past.later(9)
    past.call(first, "bash", "1 failed, 3 passed", command="pytest tests/test_login.py -x", failed=True, exit_code=1)
    past.measure(first, 64_000)
    past.later(14)
    denied = past.call(first, "bash", None, command="rm -rf /")
    asked = past.call(first, "bash", None, command="pip install flaky-helper")
    past.call(first, "edit", "ok", path="src/login.py", old="sleep(1)", new="wait_for(ready)")
    past.measure(first, 131_000)
    past.later(11)
    past.tell(
        Compacted, first, summary=f"The race is in session renewal. {SCRIPT}", before=168_000, after=42_000,
    )  # fmt: skip
    past.measure(first, 42_000)
    past.later(16)
    past.say(first, f"Does it also happen with SSO? {SCRIPT}", invocation="run-2")
    past.call(first, "write", "ok", path=f"notes/{SCRIPT}.md", content="sso: no")
    past.measure(first, 158_000)
    past.reply(first, f"Only with **password login**: the token is renewed twice. {SCRIPT}", invocation="run-2")
    past.later(5)
    hosts.chain.sealer.seal_now(first, by="ann", turn_is_over=True)
    past.later(20)
    second = past.begin("claude-code", "login-2", thread=first.thread, model="claude-opus-4")
    past.say(second, "登录测试还需要写文档，请继续。", invocation="run-3")
    past.call(second, "read", "# Goal\n", path="memory-bank/MEMORY.md")
    past.measure(second, 96_000)
    past.later(6)
    past.tell(Compacted, second, summary="docs are half done", before=150_000, after=30_000, invocation="run-3")
    past.measure(second, 31_000, exact=False)
    past.reply(second, "文档写了一半：超时和重试两节已完成。", invocation="run-3")
    codex = _codex(Past(hosts, 60))
    long = _long(hosts, Past(hosts, 400))
    return Scenes(first.session, second.session, first.thread, codex, long, denied.id, asked.id)


def _codex(past: Past) -> str:
    where = past.begin("codex", "codex-1", model="gpt-5-codex")
    past.say(where, "Add a --dry-run option to the importer")
    past.call(where, "bash", "importer.py", command="ls src")
    past.call(where, "bash", "On branch main", command="git status")
    past.reply(where, "Done: `--dry-run` prints what would be imported. connection refused is handled too.")
    return where.session


def _long(hosts: Hosts, past: Past) -> str:
    """Ten thousand events, written in one step."""
    where = past.begin("opencode", "long-1")
    records = [
        EventRecord(
            id=f"long-{number}",
            where=where,
            at=past.at + number * 0.5,
            kind="prompt_submitted" if number % 10 == 0 else "assistant_replied",
            data={"text": _words(number), "format": 1},
            invocation=f"long-{number // 10}",
            text=f"line {number}" if number % 250 == 0 else "",
        )
        for number in range(2, LONG + 1)
    ]
    hosts.control.store.commit(Change(where, events=tuple(records)))
    return where.session


def _words(number: int) -> str:
    """Lines of very different length: the heights of rows differ."""
    return f"Message number {number}. " + "It goes on for a while. " * (number * 7 % 23)


def _memory_bank(hosts: Hosts) -> None:
    bank_folder = hosts.vault / "memory-bank"
    (bank_folder / "details").mkdir(parents=True)
    text = "# Memory\n\n## Current focus\n\n- Goal: make the login test steady\n\n## Notes\n\n- tests run with pytest\n"
    (bank_folder / "MEMORY.md").write_text(text, encoding="utf-8")
    (bank_folder / "details" / "patterns.md").write_text("# Patterns\n\n- wait for a condition\n", encoding="utf-8")
    where = Past(hosts, 30).begin("claude-code", "memory-1")
    bank = MemoryBank(hosts.control.store, clock=time.time, new_id=lambda: uuid.uuid4().hex)
    vault = str(hosts.vault)
    for name, line in (("MEMORY.md", f"- the token is renewed twice {SCRIPT}"), ("details/patterns.md", "- no sleeps")):
        edit = Edit(append=f"{line}\n")
        bank.propose(where, vault, path=name, edit=edit, why=f"Learned while fixing {name} {SCRIPT}")
