"""A real terminal for tests: tmux holds the program, keys go in, screens come out."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
import uuid
from pathlib import Path

import pytest

PATIENCE = 120.0


class Screen:
    """One program in one pane; use it as a context manager."""

    def __init__(
        self, command: list[str], *, cwd: Path, env: dict[str, str], width: int = 110, height: int = 45
    ) -> None:
        if shutil.which("tmux") is None:
            pytest.skip("installable: tmux")
        self._socket = f"holdfast-{uuid.uuid4().hex[:8]}"
        words = ["env", "-i", *(f"{name}={value}" for name, value in env.items()), *command]
        # The pane stays when the program ends, so that its last screen and its exit code can be read.
        line = " ".join(map(shlex.quote, words)) + '; echo "[exit $?]"; sleep 600'
        self._tmux("new-session", "-d", "-s", "t", "-x", str(width), "-y", str(height), "-c", str(cwd), line)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", "-L", self._socket, *words],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
        return done.stdout

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *error: object) -> None:
        self._tmux("kill-server")

    def text(self) -> str:
        """What is to be seen now, with what scrolled away above it."""
        lines = self._tmux("capture-pane", "-p", "-J", "-S", "-500", "-t", "t").splitlines()
        return "\n".join(line.rstrip() for line in lines).strip("\n")

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-t", "t", "-l", text)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", "-t", "t", *keys)

    def press_until(self, key: str, text: str, *, seconds: float = PATIENCE) -> str:
        """Press it, again every few seconds, until `text` is there: a program may show a dialog before it listens."""
        end = time.monotonic() + seconds
        while True:
            self.press(key)
            try:
                return self.wait_for(text, seconds=5)
            except AssertionError:
                if time.monotonic() > end:
                    raise

    def enter(self, text: str) -> None:
        self.type(text)
        self.press("Enter")

    def wait_for(self, text: str, *, times: int = 1, seconds: float = PATIENCE) -> str:
        """The screen, once `text` stands on it so many times."""
        end = time.monotonic() + seconds
        while True:
            screen = self.text()
            if screen.count(text) >= times:
                return screen
            if time.monotonic() > end:
                raise AssertionError(f"{text!r} did not appear {times} times within {seconds:g} s:\n{screen}")
            time.sleep(0.05)
