"""Talking to the hooks' process: every request has a deadline, and a process that misses one is killed."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any, TextIO

START_SECONDS = 10.0
"""Starting an interpreter on a busy machine; not part of any hook's deadline."""


class WorkerError(Exception):
    """The process did not start, or ended without an answer."""


class WorkerSlow(WorkerError):
    """It did not answer in time, and was killed."""


class Worker:
    """One process with the hooks loaded in it. Not for several threads at once."""

    def __init__(self, folder: Path) -> None:
        script = Path(__file__).with_name("worker.py")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", str(script), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        # Also when nobody calls `close`, and at the end of the program.
        self._end = weakref.finalize(self, _end, self._process)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._requests: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._number = 0
        # Pipes have no deadlines; queues have.
        threading.Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True).start()
        threading.Thread(target=_write, args=(self._process.stdin, self._requests), daemon=True).start()
        self._next(START_SECONDS)

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to one request; raises `WorkerSlow` or `WorkerError`, and then the process is gone."""
        self._number += 1
        self._requests.put(json.dumps({"id": self._number, **request}))
        answer = self._next(seconds)
        if answer.get("id") != self._number:
            self.close()
            raise WorkerError("the hooks' process answered out of turn")
        return answer

    def _next(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise WorkerSlow(f"no answer within {seconds:g} s") from None
        if line is None:
            self.close()
            raise WorkerError("it ended the hooks' process")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self.close()
            raise WorkerError("the hooks' process gave an answer that is none")
        return answer

    def close(self) -> None:
        self._requests.put(None)
        self._end()


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(START_SECONDS)


def _read(pipe: TextIO, answers: queue.SimpleQueue[str | None]) -> None:
    with pipe:
        try:
            for line in pipe:
                answers.put(line)
        except (OSError, ValueError):
            pass  # killed while it wrote
    answers.put(None)


def _write(pipe: TextIO, requests: queue.SimpleQueue[str | None]) -> None:
    try:
        while (line := requests.get()) is not None:
            pipe.write(line + "\n")
            pipe.flush()
    except OSError:
        pass  # the process is gone; whoever waits for its answer is told so by the reader
    finally:
        with contextlib.suppress(OSError):
            pipe.close()
