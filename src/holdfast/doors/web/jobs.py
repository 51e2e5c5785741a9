"""Work that takes longer than a request: started, asked after, and cancelled; never longer than its deadline."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.core.messages import Message, Phrase, plain
from holdfast.doors.web.routes import ApiError, not_found

_BUSY = Phrase(
    "page.simulations",
    "{running} simulations are under way; cancel one, or wait",
    "已有 {running} 个模拟正在进行；请取消一个或等待",
)


MOST_RUNNING = 2
MOST_KEPT = 16

State = Literal["running", "done", "cancelled", "timed_out", "failed"]


class Stopped(Exception):
    """Raised inside a job that is not wanted any more; the job lets it pass."""


@dataclass(slots=True)
class Job:
    """`work` calls `step` often: that is where it is counted and stopped."""

    seconds: float
    total: int = 0
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    state: State = "running"
    done: int = 0
    result: Any = None
    problem: Message | None = None
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _started: float = field(default_factory=time.monotonic)

    def step(self, done: int | None = None) -> None:
        if done is not None:
            self.done = done
        if self._cancelled.is_set():
            self.state = "cancelled"
            raise Stopped
        if time.monotonic() - self._started > self.seconds:
            self.state = "timed_out"
            raise Stopped

    def cancel(self) -> None:
        self._cancelled.set()


class Jobs:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._threads: dict[str, threading.Thread] = {}

    def start(self, job: Job, work: Callable[[Job], Any]) -> Job:
        """Raises `ApiError` when too much is under way."""

        def run() -> None:
            try:
                result = work(job)
            except Stopped:
                return
            except Exception as error:  # whatever it is, the one who asks after it must be told
                job.problem, job.state = plain(f"{type(error).__name__}: {error}"), "failed"
            else:
                job.result, job.state = result, "done"

        with self._lock:
            running = sum(1 for known in self._jobs.values() if known.state == "running")
            if running >= MOST_RUNNING:
                raise ApiError(429, "busy", _BUSY(running=running))
            for old in [name for name, known in self._jobs.items() if known.state != "running"][: 1 - MOST_KEPT]:
                del self._jobs[old], self._threads[old]
            thread = threading.Thread(target=run, name=f"holdfast-job-{job.id[:8]}", daemon=True)
            self._jobs[job.id], self._threads[job.id] = job, thread
            thread.start()
        return job

    def get(self, name: str) -> Job:
        with self._lock:
            job = self._jobs.get(name)
        if job is None:
            raise not_found("job", name)
        return job

    def cancel(self, name: str, patience: float = 2.0) -> Job:
        job = self.get(name)
        with self._lock:
            thread = self._threads.get(name)
        job.cancel()
        if thread is not None:
            thread.join(patience)
        return job

    def close(self, patience: float = 5.0) -> None:
        with self._lock:
            jobs, threads = list(self._jobs.values()), list(self._threads.values())
        for job in jobs:
            job.cancel()
        for thread in threads:
            thread.join(patience)
