"""One command from its start to its end: output to disk as it comes, a deadline, and nothing left behind (TR7)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.runtime.sandbox_processes import Running, start
from holdfast.runtime.tool import ToolContext, ToolFailure
from holdfast.runtime.tools.bash_setup import Prepared, outputs_of, prepare
from holdfast.store.output_writer import OutputWriter
from holdfast.store.streaming_capture import CapturedOutput, StreamingCapture

_LIVE_BYTES = 256 << 10
"""What whoever watches gets to see as it comes; beyond that only how much it is."""
_LIVE_SECONDS = 0.1
_STEP_SECONDS = 0.25
_LAST_WORDS_SECONDS = 2.0
"""How long the pipe may stay open after everything was killed."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended."""

    output: CapturedOutput
    code: int
    seconds: float
    prepared: Prepared
    ended_in: str = ""
    """Its last working directory, empty when not known."""
    late: bool = False
    flooded: bool = False
    put_back: tuple[str, ...] = ()
    """Guarded files of the vault that it changed; they are as they were."""


@dataclass(frozen=True, slots=True)
class Started:
    """A command that is running."""

    running: Running
    prepared: Prepared
    output: int
    report: int
    """Read ends of its two pipes."""


def start_command(context: ToolContext, command: str, workdir: str | None) -> Started:
    """Start a command in the sandbox; blocks for the few milliseconds that takes."""
    if "\x00" in command:
        raise ToolFailure("The command holds a NUL character, which no shell takes. Send it without.")
    output, output_end = os.pipe()
    report, report_end = os.pipe()
    prepared: Prepared | None = None
    try:
        prepared = prepare(context, command, workdir, report_end)
        running = start(
            prepared.wrapped.argv,
            env=prepared.wrapped.env,
            cwd=prepared.wrapped.cwd,
            output=output_end,
            pass_fds=(report_end, *prepared.wrapped.fds),
            most_processes=context.settings.runtime.tools.bash.max_processes,
        )
    except BaseException as error:
        os.close(output)
        os.close(report)
        if isinstance(error, OSError):
            raise ToolFailure(f"The command could not be started: {error}. Shorten it, or tell the user.") from None
        raise
    finally:
        for descriptor in (output_end, report_end, *(prepared.wrapped.fds if prepared is not None else ())):
            os.close(descriptor)
    return Started(running, prepared, output, report)


async def run_command(context: ToolContext, command: str, workdir: str | None, seconds: float) -> Ran:
    """Run to the end or the deadline. Cancelling ends the command before it is passed on."""
    starting = asyncio.ensure_future(asyncio.to_thread(start_command, context, command, workdir))
    try:
        started = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await _ended(starting)
        if starting.exception() is None:
            await _ended(asyncio.ensure_future(asyncio.to_thread(_give_up, starting.result())))
        raise
    stop = threading.Event()
    loop = asyncio.get_running_loop()

    def say(text: str) -> None:  # whoever watches lives in the loop's thread
        loop.call_soon_threadsafe(context.say, text)

    work = asyncio.ensure_future(asyncio.to_thread(_follow, context, started, seconds, stop, say))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop.set()
        await _ended(work)
        raise


async def _ended(work: asyncio.Future[Any]) -> None:
    """Wait for its end, however often we are cancelled meanwhile: a turn that is stopped cancels its tools twice, and a
    command that nobody waits for any more would run on."""
    while not work.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([work])
    if not work.cancelled():
        work.exception()  # looked at, so that nobody is told of it


def _give_up(started: Started) -> None:
    """It was not wanted any more before it had begun."""
    started.running.close()
    os.close(started.output)
    os.close(started.report)


def _follow(
    context: ToolContext, started: Started, seconds: float, stop: threading.Event, say: Callable[[str], None]
) -> Ran:
    limits = context.settings.runtime.truncation
    capture = StreamingCapture(lambda: open_output(context), max_bytes=limits.max_bytes, max_lines=limits.max_lines)
    begun = time.monotonic()
    late = flooded = False
    most = context.settings.runtime.tools.bash.max_output_bytes
    try:
        pump = _Pump(capture, started.output, say)
        while not pump.step() and not started.running.ended:
            late = time.monotonic() - begun >= seconds
            flooded = capture.size > most
            if late or flooded or stop.is_set():
                break
        code = started.running.close(grace=0.5 if late else 0.0)
        pump.rest(_LAST_WORDS_SECONDS)
        ended_in = _reported(started.report)
        put_back = tuple(started.prepared.guard.settle(context, started.prepared.sandbox.name))
        output = capture.finish()
    except BaseException:
        started.running.close()
        capture.abandon()
        raise
    finally:
        os.close(started.output)
        os.close(started.report)
    return Ran(output, code, time.monotonic() - begun, started.prepared, ended_in, late, flooded, put_back)


def open_output(context: ToolContext) -> OutputWriter | None:
    date = time.strftime("%Y-%m-%d", time.gmtime())
    return outputs_of(context).open_stream(context.vault, date, "bash", context.call_id)


class _Pump:
    """Moves output on: the first part through our hands for those who watch, the rest inside the kernel."""

    def __init__(self, capture: StreamingCapture, pipe: int, say: Callable[[str], None]) -> None:
        self._capture = capture
        self._pipe = pipe
        self._say = say
        self._unsaid = bytearray()
        self._said_at = 0.0
        self._ready = select.poll()
        self._ready.register(pipe, select.POLLIN)
        self._ended = False

    def step(self) -> bool:
        """A moment's work; True at the end of the output."""
        if self._capture.size >= _LIVE_BYTES:
            self._tell(f"\r[{self._capture.size >> 20} MB of output]".encode(), last=False)
            self._ended = self._capture.drain(self._pipe, seconds=_STEP_SECONDS)
            return self._ended
        if self._ready.poll(_STEP_SECONDS * 1000):
            data = os.read(self._pipe, 65536)
            self._capture.feed(data)
            self._tell(data, last=not data)
            self._ended = not data
        else:
            self._tell(b"", last=True)
        return self._ended

    def rest(self, seconds: float) -> None:
        """What still lies in the pipe."""
        end = time.monotonic() + seconds
        while not self._ended and time.monotonic() < end:
            self.step()
        self._tell(b"", last=True)

    def _tell(self, data: bytes, *, last: bool) -> None:
        self._unsaid += data
        now = time.monotonic()
        if self._unsaid and (last or now - self._said_at >= _LIVE_SECONDS):
            self._say(bytes(self._unsaid).decode("utf-8", "replace"))
            self._unsaid.clear()
            self._said_at = now


def _reported(pipe: int) -> str:
    """The working directory that the shell told at its end, if it came to tell."""
    os.set_blocking(pipe, False)
    try:
        return os.read(pipe, 8192).decode("utf-8", "replace").strip()
    except OSError:
        return ""
