"""What must hold in every host, through the real CLIs: attached as a user does it, driven by a scripted model."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path

import pytest

from e2e.attached import ALLOW_BASH, config
from e2e.false_daemon import FalseDaemon
from e2e.installed_clis import requires_cli
from e2e.kits import KITS
from holdfast.doors import daemon_process
from holdfast.store.home import own_pids

pytestmark = pytest.mark.e2e

DENY_SECRET = '{ "domain": "edit", "pattern": "vault:/secret/**", "decision": "deny" }'
SLOW = {"gemini", "opencode"}


def hosts(*, full=(), but=()):
    """Every host; those in `full` only in the long run."""
    names = [name for name in KITS if name not in but]
    marked = (pytest.param(n, marks=[requires_cli(n), *([pytest.mark.full] if n in full else [])]) for n in names)
    return pytest.mark.parametrize("name", list(marked))


@hosts()
def test_HO6_one_session_with_everything_that_can_happen_to_a_call(attached, name):
    kit = attached(name, config(DENY_SECRET, truncation='{ "maxLines": 20 }'))
    kit.remember()
    (kit.workspace / "notes.txt").write_text("hello")
    kit.play(
        kit.read("notes.txt"),
        kit.write("a.py", "secret/b.py"),
        kit.write("memory-bank/details/notes.md"),
        kit.bash("seq 1 3000; touch ran"),
        "all done",
    )
    with kit.it.somebody_answers("once", times=2 if name == "codex" else 1) as answered:
        kit.run("do everything")
    assert (kit.workspace / "a.py").exists()
    assert not (kit.workspace / "secret").exists()
    assert "denied by the rule vault:/secret/**" in kit.result("call_2_2")
    assert "only memory-bank-writer" in kit.result("call_3_1")
    assert (kit.workspace / "ran").exists(), "it was asked about, and a person said yes"
    assert answered
    shown = kit.result("call_4_1")
    assert "3000" in shown
    assert "\n1500\n" not in shown
    (kept,) = (kit.workspace / ".agent-output").glob("*.txt")
    assert "1500" in kept.read_text()
    decided = [decision for _, decision in kit.it.decisions()]
    first = "ask" if name == "codex" else "allow"  # it reads by a command, and commands are asked about
    assert sorted(decided) == sorted([first, "allow", "deny", "deny", "ask"])
    assert kit.it.wait_for(lambda: kit.it.events("assistant_replied"))
    assert [record.text for record in kit.it.events("prompt_submitted")] == ["do everything"]
    assert kit.it.events("assistant_replied")[-1].text.strip() == "all done"
    assert len({record.invocation for record in kit.it.events("tool_calling", "tool_called")}) == 1
    assert "REMEMBER THIS" in kit.requests[0].transcript.replace("&lt;", "<"), "the memory bank is in the first request"
    told = kit.it.reconciled()
    assert (told.problem, told.missed) == ("", ()), "the host's own transcript knows of no call that we do not"
    assert told.compared >= 4


@hosts()
def test_HO5_a_secret_is_asked_about_and_denied_at_the_deadline(attached, name):
    kit = attached(name, deadline=3)
    (kit.workspace / "server.pem").write_text("KEY=s3cret")
    kit.play(kit.read("server.pem"), "done")
    kit.run()
    assert "Nobody answered in time" in kit.result("call_1_1")
    assert "s3cret" not in kit.requests[-1].transcript
    assert kit.it.control.approvals.pending() == []


@hosts(full=SLOW)
def test_SC5_the_model_recalls_what_was_said_in_its_own_thread(attached, name):
    kit = attached(name, config(ALLOW_BASH), server=True)
    if name == "claude-code":
        kit.host.allowed_tools = ("Bash", "mcp__holdfast")
    kit.play("noted")
    kit.run("the password of the stage door is zebra seven")
    kit.play(kit.own("session_search", query="zebra"), kit.own("session_search", query="giraffe"), "done")
    kit.run("my other word is giraffe nine")
    assert "seven" not in kit.result("call_1_1"), "another conversation is another thread"
    assert "nine" in kit.result("call_2_1")
    assert ("session_search", "allow") in kit.it.decisions()


@hosts(full=SLOW)
def test_HK4_the_input_that_was_judged_is_the_one_that_runs(attached, name):
    kit = attached(name, config(ALLOW_BASH))
    hooks = kit.it.holdfast.home.hooks / "rewrite.py"
    hooks.write_text(
        "def tool_before(tool, arguments):\n"
        "    if tool == 'bash':\n"
        "        return {**arguments, 'command': arguments['command'].replace('original', 'rewritten')}\n"
    )
    try:
        kit.play(kit.bash("echo original > out.txt"), "done")
        kit.run()
    finally:
        hooks.unlink()
    assert (kit.workspace / "out.txt").read_text() == "rewritten\n"


@hosts(full=SLOW)
def test_DL1_a_loop_is_stopped(attached, name):
    # Gemini CLI ends a run by itself at the fifth equal call.
    kit = attached(name, config(ALLOW_BASH, doomLoop='{ "sameToolThreshold": 4 }'))
    (kit.workspace / "notes.txt").write_text("same")
    kit.play(*[kit.bash("cat notes.txt")] * 4, then="done")
    with kit.it.somebody_answers("deny", "you are going in circles") as answered:
        kit.run()
    assert answered[0].policy == "doom_loop"
    assert any("going in circles" in text for text in kit.requests[-1].tool_results.values())


@hosts(full=SLOW)
def test_HO4_a_worker_that_is_killed_is_replaced_and_the_next_hook_works(attached, holdfast, name):
    kit = attached(name)

    def kill(request):
        os.kill(own_pids(holdfast.home)[-1], signal.SIGKILL)
        return kit.write("after.py")

    kit.play(kit.write("before.py"), kill, kit.write("again.py"), "done")
    kit.run()
    assert (kit.workspace / "before.py").exists()
    assert (kit.workspace / "again.py").exists()
    assert daemon_process.is_alive(holdfast.home)
    assert [decision for _, decision in kit.it.decisions()][-1] == "allow"


@hosts(full=SLOW, but=("claude-code",))  # its http hooks can do neither: what it does stands in its own file
def test_HO4_without_any_daemon_calls_are_judged_all_the_same(attached, holdfast, name):
    """A hook that is a command carries the plane in itself; OpenCode's plugin has a daemon started."""
    kit = attached(name, config(DENY_SECRET))

    def kill(request):
        for pid in own_pids(holdfast.home):
            os.kill(pid, signal.SIGKILL)
        return kit.write("after.py", "secret/b.py")

    kit.play(kit.write("before.py"), kill, "done")
    try:
        kit.run()
    finally:
        holdfast.start()
    assert (kit.workspace / "after.py").exists(), kit.requests[-1].tool_results
    assert not (kit.workspace / "secret").exists()
    assert sorted(decision for _, decision in kit.it.decisions()) == ["allow", "allow", "deny"]
    assert len(kit.it.sessions()) == 1


def kill_hooks(home):
    """End every hook of this home that runs now; their numbers."""
    ended = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if str(home.root) in words and any(word.endswith("hook_client.py") for word in words):
                os.kill(int(folder.name), signal.SIGKILL)
                ended.append(int(folder.name))
    return ended


@hosts(full=SLOW, but=("claude-code", "opencode"))  # their hooks are no processes
def test_HO4_a_hook_that_is_killed_while_it_waits_blocks_the_call(attached, holdfast, name):
    """These hosts let a call pass whose hook has ended in any way that they do not know."""
    kit = attached(name)
    ended = []

    def waits():
        return any(one.where.session not in kit.it.known for one in kit.it.control.approvals.pending())

    def kill():
        if kit.it.wait_for(waits, 120):
            ended.extend(kill_hooks(holdfast.home))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    kit.play(kit.bash("touch ran"), "done")
    kit.run()
    killer.join(60)
    assert ended, "the hook was waiting for a person"
    assert not (kit.workspace / "ran").exists()
    assert "holdfast doctor" in kit.result("call_1_1")


GARBAGE = b'HTTP/1.1 200 OK\r\ncontent-length: 17\r\n\r\n{"hookSpecificOut'


@hosts(full=SLOW)
def test_HO4_when_our_own_answer_is_garbage_writes_are_blocked_and_reads_go_on(attached, holdfast, name):
    kit = attached(name)
    (kit.workspace / "notes.txt").write_text("hello")
    kit.play(kit.both(kit.write("blocked.py"), kit.read("notes.txt")), "done")
    assert daemon_process.stop(holdfast.home)
    try:
        with FalseDaemon(holdfast.home, GARBAGE) as false:
            kit.run()
    finally:
        holdfast.start()
    assert false.asked > 0
    if name == "opencode":  # its plugin has a daemon started that knows its business, and asks that
        assert ("write", "allow") in kit.it.decisions()
        return
    assert not (kit.workspace / "blocked.py").exists(), kit.requests[-1].tool_results
    if name != "codex":  # it reads by commands, and a command is not known to only read
        assert "hello" in kit.result("call_1_2")
    if name != "claude-code":  # which says so in its own words
        assert "Holdfast itself failed" in kit.result("call_1_1")


@hosts(full=SLOW)
def test_PE10_an_agent_cannot_switch_its_own_hooks_off(attached, name):
    kit = attached(name, config(ALLOW_BASH))
    if name == "claude-code":
        kit.host.permission_mode = "bypassPermissions"
    place = {
        "claude-code": ".claude/settings.local.json",
        "codex": ".codex/hooks.json",
        "gemini": ".gemini/settings.json",
        "opencode": "opencode.json",
    }[name]
    line = f"mkdir -p $(dirname {place}); echo '{{\"disableAllHooks\":true}}' > {place}"
    kit.play(kit.bash(line), kit.bash("holdfast detach " + name), kit.write(place, "fine.py"), "done")
    kit.run()
    after = (kit.workspace / place).read_text() if (kit.workspace / place).exists() else ""
    assert "disableAllHooks" not in after
    assert after != "x"
    assert (kit.workspace / "fine.py").exists()
    denied = [entry for entry in kit.it.audit() if entry["decision"] == "deny"]
    assert len(denied) == 3
    assert {entry["policy"] for entry in denied} == {"hard_limits"}


@hosts(full=SLOW)
def test_HO1_after_detach_nothing_of_ours_runs(attached, name):
    kit = attached(name)
    kit.play(kit.write("a.py"), "done", kit.write("b.py"), "done")
    kit.run()
    kit.close()
    kit.it.detach()
    if name == "opencode":
        kit._serve = None
    kit.run()
    assert (kit.workspace / "b.py").exists()
    assert [decision for _, decision in kit.it.decisions()] == ["allow"]


def test_the_hosts_of_this_file_are_all_there_are():
    from holdfast.hosts.registry import HOSTS as KNOWN

    assert set(KITS) == set(KNOWN)
