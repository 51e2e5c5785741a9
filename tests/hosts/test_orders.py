"""Panic and pause: a person's orders hold in every host at once, and are on record."""

from __future__ import annotations

import threading
import time

import pytest
from click.testing import CliRunner

from holdfast.doors.cli import cli
from holdfast.store.orders import Orders
from hosts.stage import NAMES, is_allowed, reason_of

DENY = """{ "agents": { "runtime": { "permission": { "rules": [
  { "domain": "edit", "pattern": "vault:/secret/**", "decision": "deny" } ] } } } }"""


def run_cli(*arguments):
    return CliRunner().invoke(cli, list(arguments), prog_name="holdfast")


def test_panic_denies_everything_in_every_host_until_it_is_over(stage, host):
    it = stage(host)
    (it.vault / "a.txt").write_text("x")
    assert is_allowed(host, it.write("a.py", "c1"))
    run_cli("--home", str(it.home.root), "panic")
    for tool, arguments in (
        (NAMES[host]["read"], {"file_path": "a.txt", "filePath": "a.txt", "command": "cat a.txt"}),
    ):
        answer = it.calling(tool, arguments, "c2")
        assert not is_allowed(host, answer)
        assert "holdfast panic" in reason_of(host, answer)
    assert not is_allowed(host, it.write("a.py", "c1")), "also what was allowed before"
    run_cli("--home", str(it.home.root), "panic", "off")
    assert is_allowed(host, it.write("b.py", "c3"))
    record = [entry["what"] for entry in it.audit() if entry["sessionId"] == "operator"]
    assert record == ["panic", "panic_ended"]


def test_panic_answers_whoever_waits(stage):
    it = stage("codex")

    def order():
        end = time.monotonic() + 10
        while not it.control.approvals.pending() and time.monotonic() < end:
            time.sleep(0.01)
        run_cli("--home", str(it.home.root), "panic")

    thread = threading.Thread(target=order)
    thread.start()
    began = time.monotonic()
    answer = it.bash("make deploy")
    thread.join(20)
    assert not is_allowed("codex", answer)
    assert time.monotonic() - began < 12


def test_pause_lets_a_host_work_and_records_what_would_have_been(stage, host):
    it = stage(host, config=DENY)
    run_cli("--home", str(it.home.root), "pause", host, "30m")
    assert is_allowed(host, it.write("secret/a.py"))
    (entry,) = [entry for entry in it.audit() if "tool" in entry]
    assert (entry["decision"], entry["lifted"], entry["orders"]) == ("allow", True, "paused")
    assert entry["rulePattern"] == "vault:/secret/**", "what would have decided is named"
    run_cli("--home", str(it.home.root), "pause", host, "off")
    assert not is_allowed(host, it.write("secret/b.py", "c2"))


def test_PE10_the_hard_limits_hold_in_a_pause(stage, host):
    it = stage(host)
    Orders(it.home).pause(host, time.time() + 100)
    assert not is_allowed(host, it.bash("rm -rf /"))
    assert not is_allowed(host, it.write(".claude/settings.json", "c2"))


def test_a_pause_holds_for_its_host_and_its_time_only(tmp_path, stage):
    it = stage("codex", config=DENY)
    orders = Orders(it.home)
    orders.pause("gemini", time.time() + 100)
    orders.pause("codex", time.time() - 1)
    assert not is_allowed("codex", it.write("secret/a.py"))
    assert [pause.host for pause in orders.pauses(time.time())] == ["gemini"]


@pytest.mark.parametrize("garbage", ["", "{}", "null", '{"until": "soon"}'])
def test_a_pause_that_cannot_be_read_is_none(stage, garbage):
    it = stage("codex", config=DENY)
    (it.home.run / "paused-codex").write_text(garbage)
    assert not is_allowed("codex", it.write("secret/a.py"))


@pytest.mark.parametrize("length", ["", "0m", "25h", "soon", "-5m", "1d"])
def test_a_pause_needs_a_sensible_length(tmp_path, length):
    done = run_cli("--home", str(tmp_path / "home"), "pause", "codex", length)
    assert (done.exit_code == 0) == (length == ""), done.output


@pytest.mark.parametrize("command", ["holdfast panic off", "holdfast pause codex 30m", "holdfast undo"])
def test_PE10_no_agent_gives_orders(stage, host, command):
    it = stage(host)
    answer = it.bash(command)
    assert not is_allowed(host, answer)
    assert "for people" in reason_of(host, answer)


def test_PE10_no_agent_touches_the_order_files(stage, host):
    it = stage(host)
    Orders(it.home).panic()
    Orders(it.home).calm()
    for name in ("panic", f"paused-{host}"):
        assert not is_allowed(host, it.bash(f"rm -f {it.home.run / name}", f"rm-{name}"))
        assert not is_allowed(host, it.bash(f"echo '{{}}' > {it.home.run / name}", f"echo-{name}"))
