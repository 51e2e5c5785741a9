"""What the hook client adds to a bare interpreter, and what a whole hook costs through a running daemon.

Run: python benchmarks/bench_hook_client.py
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from holdfast.doors import daemon_process, hook_client
from holdfast.store.home import Home

ROUNDS = 20
BARE = [sys.executable, "-I", "-S"]
IMPORT_IT = f"import sys; sys.path.insert(0, {str(Path(hook_client.__file__).parent)!r}); import hook_client"


def milliseconds(command, body=b""):
    began = time.perf_counter()
    subprocess.run(command, input=body, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - began) * 1000


def main():
    bare, client = [], []
    for _ in range(ROUNDS):
        bare.append(milliseconds([*BARE, "-c", "pass"]))
        client.append(milliseconds([*BARE, "-c", IMPORT_IT]))
    added = statistics.median(client) - statistics.median(bare)
    print(f"bare interpreter      {statistics.median(bare):7.2f} ms")
    print(f"importing the client  {statistics.median(client):7.2f} ms  (adds {added:.2f} ms; at most 40)")
    with tempfile.TemporaryDirectory() as folder:
        home, vault = Home(Path(folder) / "home"), Path(folder) / "vault"
        vault.mkdir()
        if not daemon_process.ensure_running(home):
            raise SystemExit("the daemon did not start")
        try:
            shell, hook = [], []
            for number in range(ROUNDS * 3):
                payload = {
                    "hook_event_name": "PreToolUse",
                    "session_id": "bench",
                    "cwd": str(vault),
                    "tool_name": "Write",
                    "tool_use_id": f"t{number}",
                    "tool_input": {"file_path": str(vault / f"{number}.txt"), "content": "x"},
                }
                shell.append(milliseconds(["sh", "-c", "true"]))
                command = [*BARE, hook_client.__file__, "claude-code", str(home.root), "30"]
                hook.append(milliseconds(command, json.dumps(payload).encode()))
        finally:
            daemon_process.stop(home)
    print(f"sh -c true            {statistics.median(shell):7.2f} ms")
    over = statistics.median(hook) - statistics.median(shell)
    print(f"one hook, decided     {statistics.median(hook):7.2f} ms  (adds {over:.2f} ms)")


if __name__ == "__main__":
    main()
