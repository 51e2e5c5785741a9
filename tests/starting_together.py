"""Several processes that begin at the same moment: each says that it is ready, then all wait for one start."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PATIENCE = 60


def reports_of(folder: Path, commands: Sequence[Sequence[str]]) -> list[Any]:
    """What each of the Python programs printed as JSON; none may say anything to standard error."""
    running = [
        subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for command in commands
    ]
    try:
        end = time.monotonic() + PATIENCE
        while len(list(folder.glob("ready-*"))) < len(running) and time.monotonic() < end:
            time.sleep(0.01)
        (folder / "go").touch()
        said = [process.communicate(timeout=2 * PATIENCE) for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait(timeout=10)
    assert [err for _, err in said if err] == []
    return [json.loads(out) for out, _ in said]


def wait_for_the_others(folder: Path, me: int) -> None:
    """Called by each of the programs when it is ready."""
    (folder / f"ready-{me}").touch()
    end = time.monotonic() + PATIENCE
    while not (folder / "go").exists():
        if time.monotonic() > end:
            raise TimeoutError("nobody gave the start")
        time.sleep(0.001)
