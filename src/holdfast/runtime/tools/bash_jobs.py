"""Commands in the background: `bash` starts them, `bash_output` looks, `bash_stop` or the session's end ends them."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

from holdfast.core.settings import TruncationSettings
from holdfast.policies.truncation import cut_tail
from holdfast.runtime.tool import ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools.bash_run import Started, open_output, start_command
from holdfast.runtime.tools.bash_setup import outside_of
from holdfast.runtime.tools.vault_guard import put_back_note
from holdfast.store.output_writer import OutputWriter

MOST_JOBS = 16
_JOBS = "bash.jobs"
_CHUNK = 1 << 18
_GRACE = 2.0
_FIRST_LOOK = 0.3
"""A command that fails at once is told at once."""
_all_jobs: set[Job] = set()


class Log:
    """A job's output on disk: beside the work when it can be kept there, else in a nameless file."""

    def __init__(self, writer: OutputWriter | None) -> None:
        self._writer = writer
        self._file = os.dup(writer.descriptor) if writer is not None else _nameless()
        self._lock = threading.Lock()
        self.size = 0

    def write(self, data: bytes) -> bool:
        """False when no disk takes any more."""
        try:
            if self._writer is not None:
                if self._writer.write(data) < len(data):
                    return False
            else:
                os.pwrite(self._file, data, self.size)
        except OSError:
            return False
        with self._lock:
            self.size += len(data)
        return True

    def read(self, start: int, length: int) -> bytes:
        with self._lock:
            writer = self._writer
            if writer is not None and not writer.broken and writer.descriptor >= 0:
                return writer.read(start, length)  # it may have moved to another disk
            return os.pread(self._file, length, start) if self._file >= 0 else b""

    def finish(self) -> str:
        """Where it lies, empty when it has no name."""
        with self._lock:
            if self._writer is None:
                return ""
            os.close(self._file)
            self._file = os.dup(self._writer.descriptor) if self._writer.descriptor >= 0 else -1
            kept = self._writer.finish()
        return str(kept.path) if kept is not None else ""

    def close(self) -> None:
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1


def _nameless() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Job:
    """One command in the background, and how far the model has read its output."""

    def __init__(self, context: ToolContext, number: int, command: str, started: Started, log: Log) -> None:
        self.id = f"job-{number}"
        self.command = command
        self.begun = time.monotonic()
        self.code: int | None = None
        self.why_stopped = ""
        self.path = ""
        self.put_back: tuple[str, ...] = ()
        self._read_to = 0
        self._most = context.settings.runtime.tools.bash.max_output_bytes
        self._context = context
        self._started = started
        self._log = log
        self._thread = threading.Thread(target=self._follow, name=f"holdfast {self.id}", daemon=True)
        _all_jobs.add(self)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def wait(self, seconds: float) -> None:
        self._thread.join(seconds)

    def stop(self) -> None:
        self._started.running.close(grace=_GRACE)
        self._thread.join(5.0)

    def forget(self) -> None:
        self.stop()
        self._log.close()
        _all_jobs.discard(self)

    def news(self, limits: TruncationSettings) -> tuple[str, int]:
        """What came since the last look, only the end of it when it is much, and how many bytes were left out."""
        end = self._log.size
        room = max(64, limits.max_bytes - 1024)
        start = max(self._read_to, end - room)
        text = self._log.read(start, end - start).decode("utf-8", "replace")
        cut = cut_tail(text, max(1, limits.max_lines - 8), room) if text else ""
        left_out = start - self._read_to + len(text.encode()) - len(cut.encode())
        self._read_to = end
        return cut, left_out

    def state(self) -> str:
        seconds = time.monotonic() - self.begun
        if self.running:
            return f"running for {seconds:.0f} s, {self._log.size} bytes of output so far"
        kept = f"; full output: {self.path}" if self.path and self._log.size else ""
        return f"ended with exit code {self.code}{self.why_stopped}{kept}"

    def _follow(self) -> None:
        running = self._started.running
        try:
            while data := os.read(self._started.output, _CHUNK):
                if not self._log.write(data):
                    self.why_stopped = " (stopped: the disk is full)"
                    break
                if self._log.size > self._most:
                    self.why_stopped = " (stopped: it wrote more than tools.bash.maxOutputBytes)"
                    break
        finally:
            self.code = running.close()
            prepared = self._started.prepared
            with contextlib.suppress(OSError):
                self.put_back = tuple(prepared.guard.settle(self._context, prepared.sandbox.name))
            os.close(self._started.output)
            os.close(self._started.report)
            self.path = self._log.finish()


def jobs_of(memory: dict[str, Any]) -> dict[str, Job]:
    jobs: dict[str, Job] = memory.setdefault(_JOBS, {})
    return jobs


def job_of(context: ToolContext, job_id: str) -> Job:
    jobs = jobs_of(context.memory)
    if job_id not in jobs:
        known = ", ".join(jobs) or "none"
        raise ToolFailure(f"There is no job {job_id!r}; the jobs of this session: {known}.")
    return jobs[job_id]


def start_job(context: ToolContext, command: str, workdir: str | None) -> ToolOutput:
    jobs = jobs_of(context.memory)
    if sum(job.running for job in jobs.values()) >= MOST_JOBS:
        raise ToolFailure(f"{MOST_JOBS} jobs are running already. End one with bash_stop first.")
    log = Log(open_output(context))
    try:
        started = start_command(context, command, workdir)
    except BaseException:
        log.finish()
        log.close()
        raise
    number = len(jobs) + 1
    job = Job(context, number, command, started, log)
    jobs[job.id] = job
    job.wait(_FIRST_LOOK)
    return told(job, context.settings.runtime.truncation)


def told(job: Job, limits: TruncationSettings) -> ToolOutput:
    """A job's state and what is new of its output."""
    running = job.running  # before its output is taken, so that nothing of an ended job is missed
    text, left_out = job.news(limits)
    lines = [f"[{job.id}: {job.state()}]"]
    if job.put_back:
        lines.append(put_back_note(job.put_back))
    if left_out:
        lines.append(f"[{left_out} bytes before this are not shown]")
    if text:
        lines.append(text)
    elif running:
        lines.append("[nothing new]")
    failed = not running and bool(job.code)
    return ToolOutput(
        "\n".join(lines),
        failed=failed,
        exit_code=None if running else job.code,
        display={"job": job.id, "running": running, "command": job.command},
    )


def running_jobs(memory: dict[str, Any]) -> Iterator[Job]:
    yield from (job for job in jobs_of(memory).values() if job.running)


def end_session(context: ToolContext) -> int:
    """End every job of a session and remove its temporary folder; how many were still running."""
    jobs = jobs_of(context.memory)
    count = sum(job.running for job in jobs.values())
    for job in list(jobs.values()):
        job.forget()
    jobs.clear()
    with contextlib.suppress(ToolFailure, OSError):
        shutil.rmtree(outside_of(context).temp)
    return count


@atexit.register
def _end_all() -> None:
    """No command outlives Holdfast; should it be killed, the sandbox sees to that itself."""
    for job in list(_all_jobs):
        with contextlib.suppress(Exception):
            job.stop()
