"""`make run` from a clean copy with a fresh home: no step by hand, and nothing to do the second time."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

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


def make(folder: Path, *arguments: str, said: str = "") -> tuple[subprocess.CompletedProcess[str], float]:
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    passed_on = {name: value for name, value in os.environ.items() if name.upper().startswith(NETWORK_VARIABLES)}
    # The system's own programs first (ours only where it has no Python 3.11), and bytecode switched off as it may be.
    path = f"/usr/local/bin:/usr/bin:/bin:{Path(sys.executable).resolve().parent}"
    clean = {"HOME": str(home), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    started = time.monotonic()
    run = subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=passed_on | clean,
        input=said,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    return run, time.monotonic() - started


def test_make_run_sets_up_and_runs_the_chat(clean_copy):
    first, _ = make(clean_copy, "run")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "Nothing was said" in first.stderr, "with nobody at the keyboard it ends by itself, and says so"
    assert list((clean_copy / ".venv").glob("lib/*/site-packages/agents/__pycache__/*.pyc")), "bytecode is not compiled"

    said, _ = make(clean_copy, "run", said="write a file notes.txt with hello\nread notes.txt\n")
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
