"""How long the command line lets people wait: `holdfast --help` beside a bare click program, and the chat's prompt.

All are started by the same interpreter, in turn; the median of each counts, since a start is a whole process.

    python benchmarks/bench_startup.py [--rounds 15] [--json]
"""

import argparse
import json
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 1.5
BARE = """
import click

@click.group()
def main():
    "A bare click program."

@main.command()
def work():
    "Do some work."

main()
"""
PROMPT = "›".encode()


def started(command, folder):
    since = time.perf_counter()
    environ = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8"}
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=60, env=environ)
    return time.perf_counter() - since


def prompted(folder):
    """Until the chat's prompt stands there; the heavy libraries are loaded behind it."""
    vault = Path(folder, "vault")
    vault.mkdir(exist_ok=True)
    since = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(vault)
        environ = {"PATH": os.environ["PATH"], "HOME": folder, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        os.execve(sys.executable, [sys.executable, "-m", "holdfast", "chat"], environ)
    seen = b""
    try:
        while PROMPT not in seen:
            part = os.read(terminal, 4096)
            if b"\x1b[6n" in part:
                os.write(terminal, b"\x1b[1;1R")  # where the cursor is: a terminal answers
            seen += part
        return time.perf_counter() - since
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)


def measured(rounds):
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        bare = Path(folder, "bare.py")
        bare.write_text(BARE)
        kinds = {
            "bare": lambda: started([sys.executable, str(bare), "--help"], folder),
            "help": lambda: started([sys.executable, "-m", "holdfast", "--help"], folder),
            "prompt": lambda: prompted(folder),
        }
        rows = {name: [] for name in kinds}
        for number in range(rounds + 1):
            for name, run in kinds.items():
                took = run()
                if number:  # the first round reads the files in
                    rows[name].append(took)
        return {name: statistics.median(row) * 1000 for name, row in rows.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measured(given.rounds)
    ratio = found["help"] / found["bare"]
    if given.json:
        print(json.dumps({**found, "ratio": ratio, "limit": LIMIT}))
        return
    print(f"a bare click program's --help  {found['bare']:7.1f} ms")
    print(f"holdfast --help                {found['help']:7.1f} ms   {ratio:.2f} times (limit {LIMIT:g})")
    print(f"holdfast chat, to its prompt   {found['prompt']:7.1f} ms")


if __name__ == "__main__":
    main()
