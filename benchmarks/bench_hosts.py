"""What Holdfast adds to a tool call inside the real hosts, beside the same run without it.

Claude Code and OpenCode: a scripted model makes the same calls without hooks, with hooks that are answered at once
by a server that judges nothing, and attached; the time between two of its requests holds the call with all its hooks,
so the differences are what the host's own handling of hooks costs, and what we cost. The median call of a working
session counts; the first calls, while a host's own code is still being compiled, are told beside it. Codex and Gemini
CLI start a command for each hook: its time from a shell, beside `sh -c true`.

Run: python benchmarks/bench_hosts.py [calls]
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from null_daemon import NullDaemon

from e2e.attached import ALLOW_BASH, Holdfast, config
from e2e.installed_clis import missing_for
from e2e.kits import KITS
from holdfast.store.home import own_pids
from holdfast.testing import ScriptError

LIMITS = {"claude-code": 10.0, "opencode": 10.0, "codex": 20.0, "gemini": 20.0}
CALLS = {"claude-code": 300, "opencode": 60}
FIRST = 30
ROUNDS = 3
WAYS = ("plain", "null", "ours")
HOOKS = 60


@contextmanager
def kit_of(name, folder, holdfast, *, attached):
    kit = KITS[name](folder, holdfast)
    if not attached:
        kit.it.detach()
    try:
        yield kit
    finally:
        kit.close()
        kit.server.close()


def gaps(kit, calls):
    """Milliseconds from one request to the next, a call and its hooks between them."""
    arrived = []

    def step(number):
        def answer(request):
            arrived.append(time.perf_counter())
            return kit.read("notes.txt") if number % 2 else kit.bash(f"true {number}")

        return answer

    (kit.workspace / "notes.txt").write_text("hello")
    kit.play(*(step(number) for number in range(calls)), then="done")
    try:
        kit.run("work")
    except ScriptError as error:
        raise SystemExit(str(error)) from None
    return [1000 * (later - earlier) for earlier, later in itertools.pairwise(arrived)][3:]


def per_call(name, holdfast, calls):
    """The same calls without hooks, with hooks that nobody judges, and attached; in turn, so that all see one machine.

    The median round counts: on a busy machine single runs say little. The daemon's processor time hangs less on who
    else is at work.
    """
    rounds, burnt = [], []
    for _ in range(ROUNDS):
        times = {}
        for way in WAYS:
            with (
                tempfile.TemporaryDirectory() as folder,
                kit_of(name, Path(folder), holdfast, attached=way != "plain") as kit,
            ):
                null = redirected(kit, Path(folder)) if way == "null" else None
                before = processor_ms(holdfast)
                try:
                    taken = gaps(kit, calls)
                    times[way], times[f"{way} at first"] = statistics.median(taken), statistics.median(taken[:FIRST])
                finally:
                    if null is not None:
                        null.close()
                if way == "ours":
                    time.sleep(0.3)  # what is done after an answer counts too
                    burnt.append((processor_ms(holdfast) - before) / calls)
        rounds.append(times)
    plain = statistics.median(times["plain"] for times in rounds)
    host = statistics.median(times["null"] - times["plain"] for times in rounds)
    added = statistics.median(times["ours"] - times["plain"] for times in rounds)
    at_first = statistics.median(times["ours at first"] - times["plain at first"] for times in rounds)
    print(
        f"{name:12} {plain:7.1f} ms a call; attached adds {added:5.1f} ms in the median round (at most {LIMITS[name]:g}), "
        f"of which the host's own handling of hooks is {host:5.1f} ms; in the first {FIRST} calls {at_first:5.1f} ms; "
        f"the daemon burns {statistics.median(burnt):.1f} ms a call ({ROUNDS} rounds of {calls} calls)"
    )
    return added


def redirected(kit, folder):
    """The kit's hooks, sent to a daemon that answers at once and judges nothing."""
    null = NullDaemon(folder / "null.sock")
    ours, port = str(kit.it.spec.home.run / "daemon.sock"), kit.it.spec.port
    for path in kit.host.home.rglob("*.json"):
        text = path.read_text()
        other = text.replace(f"127.0.0.1:{port}/", f"127.0.0.1:{null.port}/").replace(ours, null.socket_path)
        if other != text:
            path.write_text(other)
    return null


def processor_ms(holdfast):
    """What the daemon's processes have used so far; Linux only, elsewhere 0."""
    total = 0.0
    for pid in own_pids(holdfast.home):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def per_hook(name, holdfast):
    """One hook as the host starts it: by a shell, with its payload on standard input."""
    with tempfile.TemporaryDirectory() as folder, kit_of(name, Path(folder), holdfast, attached=True) as kit:
        line = kit.it.spec.client_line(name)
        payload = {
            "session_id": f"bench-{time.time_ns()}",
            "cwd": str(kit.workspace),
            "hook_event_name": "PreToolUse" if name == "codex" else "BeforeTool",
            "tool_name": "Bash" if name == "codex" else "run_shell_command",
            "turn_id": "t",
            "timestamp": "t",
        }
        shell, hook = [], []
        for number in range(HOOKS):
            body = {**payload, "tool_use_id": f"c{number}", "tool_input": {"command": f"true {number}"}}
            shell.append(timed("true", b""))
            hook.append(timed(line, json.dumps(body).encode()))
    added = statistics.median(hook[5:]) - statistics.median(shell[5:])
    print(
        f"{name:12} sh -c true {statistics.median(shell):5.1f} ms, one hook {statistics.median(hook):5.1f} ms: "
        f"adds {added:5.1f} ms (at most {LIMITS[name]:g}; {HOOKS} hooks)"
    )
    return added


def timed(line, body):
    began = time.perf_counter()
    subprocess.run(["/bin/sh", "-c", line], input=body, stdout=subprocess.DEVNULL, check=True)
    return 1000 * (time.perf_counter() - began)


def main():
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else None
    over = []
    with tempfile.TemporaryDirectory() as folder:
        holdfast = Holdfast(Path(folder) / "home")
        holdfast.configure(config(ALLOW_BASH, doomLoop='{ "enabled": false }'))
        holdfast.start()
        try:
            for name in KITS:
                if missing := missing_for(name):
                    print(f"{name:12} skipped: {missing}")
                    continue
                calls = CALLS.get(name)
                added = per_hook(name, holdfast) if calls is None else per_call(name, holdfast, asked or calls)
                if added > LIMITS[name]:
                    over.append(name)
        finally:
            holdfast.close()
    print("all within their limits" if not over else f"over the limit: {', '.join(over)}")


if __name__ == "__main__":
    main()
