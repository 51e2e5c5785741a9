"""`make run` from a clean copy with a fresh home: no step by hand, and nothing to do the second time."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
# How this machine reaches its package registry may stand in these; nothing else of the environment is passed on.
NETWORK_VARIABLES = ("PIP_", "UV_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def clean_copy(tmp_path_factory) -> Path:
    if not (ROOT / ".git").exists():
        pytest.skip("platform: not a git checkout")
    folder = tmp_path_factory.mktemp("clean") / "holdfast"
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def surroundings(folder: Path) -> dict[str, str]:
    """A home of its own, and nothing of the environment but what the network needs."""
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    passed_on = {name: value for name, value in os.environ.items() if name.upper().startswith(NETWORK_VARIABLES)}
    # The system's own programs first (ours only where it has no Python 3.11), and bytecode switched off as it may be.
    path = f"/usr/local/bin:/usr/bin:/bin:{Path(sys.executable).resolve().parent}"
    return passed_on | {"HOME": str(home), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def make(folder: Path, *arguments: str, said: str = "") -> tuple[subprocess.CompletedProcess[str], float]:
    started = time.monotonic()
    run = subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=surroundings(folder),
        input=said,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    return run, time.monotonic() - started


class Running:
    """`make run` with nobody at the keyboard: it serves until its process is told to stop."""

    def __init__(self, folder: Path) -> None:
        self._said = folder.parent / "said"
        with self._said.open("wb") as said:
            self._make = subprocess.Popen(
                ["make", "run"],
                cwd=folder,
                env=surroundings(folder),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )

    def link(self) -> str:
        end = time.monotonic() + 500
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/#enter=[\w-]+", self.said())):
            assert self._make.poll() is None, self.said()
            assert time.monotonic() < end, self.said()
            time.sleep(0.1)
        return found[0]

    def said(self) -> str:
        return self._said.read_text()

    def stop(self, home: Path) -> int:
        (pid_file,) = (home / ".holdfast/run/page").iterdir()
        os.kill(int(pid_file.read_text()), signal.SIGTERM)
        return self._make.wait(60)

    def kill(self) -> None:
        self._make.kill()
        self._make.wait(60)


def test_make_run_sets_up_and_serves_the_page(clean_copy):
    running = Running(clean_copy)
    try:
        base, _, code = running.link().partition("/#enter=")
        with httpx.Client(base_url=base, headers={"x-holdfast": "none"}, timeout=60) as browser:
            browser.headers["x-holdfast"] = browser.post("/api/enter", json={"code": code}).json()["key"]
            assert browser.get("/api/hello").json()["vault"] == str(clean_copy)
            assert browser.get("/").headers["content-type"].startswith("text/html")
            thread = browser.post("/api/threads", json={}).json()["thread"]
            browser.post(f"/api/threads/{thread}/messages", json={"text": "write a file page.txt with hello"})
            end = time.monotonic() + 120
            while not (clean_copy / "page.txt").exists():
                assert time.monotonic() < end, running.said()
                time.sleep(0.1)
        assert running.stop(clean_copy.parent / "home") == 0, running.said()
    finally:
        running.kill()
    assert list((clean_copy / ".venv").glob("lib/*/site-packages/agents/__pycache__/*.pyc")), "bytecode is not compiled"


def test_make_chat_takes_lines_and_a_second_run_sets_nothing_up(clean_copy):
    said, _ = make(clean_copy, "chat", said="write a file notes.txt with hello\nread notes.txt\n")
    assert said.returncode == 0, said.stdout + said.stderr
    assert (clean_copy / "notes.txt").read_text().strip() == "hello"
    assert "hello" in said.stdout

    second, seconds = make(clean_copy, "run", "ARGS=--help")
    assert second.returncode == 0, second.stdout + second.stderr
    assert "install:" not in second.stdout
    assert seconds < 10


def test_make_alone_lists_the_targets(clean_copy):
    run, _ = make(clean_copy)
    assert run.returncode == 0
    assert {"make run", "make test", "make check"} <= {" ".join(line.split()[:2]) for line in run.stdout.splitlines()}


def test_without_a_new_enough_python_the_set_up_says_what_to_install(clean_copy):
    run, _ = make(clean_copy, "--always-make", "PYTHON=no-such-python", ".venv/.bootstrap")
    assert run.returncode != 0
    assert "no-such-python" in run.stderr
    assert "apt-get install" in run.stderr
