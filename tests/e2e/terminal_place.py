"""Where the terminal's tests happen: a small project, a home of its own, and the chat in a pane."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from e2e.tmux_screen import PATIENCE, Screen

PROGRAM = [sys.executable, "-m", "holdfast"]
PROMPT = "›"


def make_place(folder: Path) -> Path:
    vault = folder / "vault"
    vault.mkdir()
    (vault / "README.md").write_text("# A small project\n\nIt says hello.\n")
    (vault / "notes.txt").write_text("alpha\nbeta\n")
    return folder


def environment(place: Path, **more: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "HOLDFAST_HOME": str(place / "home"),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        **more,
    }


def chat(place: Path, *options: str, **env: str) -> Screen:
    return Screen([*PROGRAM, "chat", *options], cwd=place / "vault", env=environment(place, **env))


def wait_for_prompt(screen: Screen, seconds: float = PATIENCE) -> None:
    """Until the turn is over and the chat reads again: an empty prompt with the bar below it."""
    end = time.monotonic() + seconds
    while True:
        lines = [line.strip() for line in screen.text().splitlines() if line.strip()]
        if len(lines) > 1 and lines[-2] == PROMPT and " · " in lines[-1]:
            return
        if time.monotonic() > end:
            raise AssertionError(f"the prompt did not come back within {seconds:g} s:\n{screen.text()}")
        time.sleep(0.05)


def configure(place: Path, **runtime: Any) -> None:
    (place / "home").mkdir(mode=0o700, exist_ok=True)
    (place / "home" / "config.jsonc").write_text(json.dumps({"agents": {"runtime": runtime}}))
