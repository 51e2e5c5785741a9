"""The own agent's conversations in this server: many threads, on an event loop of their own.

A run judges, asks and reads files on the loop that drives it. The pages are served by another loop, in another thread,
so that whatever an agent does holds up nobody's page.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.core.keys import SessionKey
from holdfast.core.messages import Message, Phrase, plain
from holdfast.core.strategy import OWN_HOST
from holdfast.doors.web.items import superseded_note
from holdfast.doors.web.live_shapes import LiveTurnShape
from holdfast.doors.web.live_turn import LiveTurn, turn_event
from holdfast.doors.web.routes import ApiError
from holdfast.runtime.claim import Busy, FileClaim, driver_of
from holdfast.runtime.ui_events import Notice, Problem, UiEvent
from holdfast.store.agent_files import load_agents
from holdfast.store.interface import EventRecord, Session, Store

if TYPE_CHECKING:
    from holdfast.doors.web.server import Server
    from holdfast.doors.workbench import Workbench
    from holdfast.runtime.runner import Conversation

_RUNNING = Phrase("chat.running", "a run is under way; stop it or wait for its end", "正在运行；请停止它或等待结束")
_OWN_FAILURE = Phrase("chat.own_failure", "Holdfast itself failed: {error}", "Holdfast 自身出错：{error}")
NOT_OWN = Phrase(
    "chat.not_own", "this thread belongs to another program; talk to it there", "此对话属于另一个程序；请在那里继续"
)
_SEALED = Phrase("chat.sealed_edit", "this session is sealed; send a new message instead", "此会话已封存；请发送新消息")
_NOT_LIVE = Phrase("chat.not_live", "only a message of the live session can be edited", "只能编辑当前会话中的消息")
_COMPACTED = Phrase(
    "chat.compacted", "this message was compacted meanwhile; send a new one instead", "此消息已被压缩；请发送新消息"
)

T = TypeVar("T")
SECONDS = 55.0
"""How long a request waits for the agents' loop; runs themselves go on without one."""
END_SECONDS = 12.0
AGAIN_SECONDS = 0.5
_CLAIMS = "claims"


@dataclass(slots=True)
class Seat:
    """One thread that is open here."""

    conversation: Conversation
    started: bool = False
    live: LiveTurn = field(default_factory=LiveTurn)
    lock: threading.Lock = field(default_factory=threading.Lock)
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def busy(self) -> bool:
        return self.conversation.busy


class Desk:
    """Everything here may be called from any thread."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._seats: dict[SessionKey, Seat] = {}
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._bench: Workbench | None = None
        self._opening: asyncio.Lock | None = None

    # looking

    def is_busy(self, key: SessionKey) -> bool:
        seat = self._seats.get(key)
        return seat is not None and seat.busy

    def is_driven(self, session: str) -> bool:
        """Whether a call without a result may still be running: only of the own agent it is known."""
        row = self._server.control.store.session(session)
        return row is None or row.host != OWN_HOST or self.driver(session) is not None

    def driver(self, session: str) -> int | None:
        return driver_of(self._claims, session)

    def live(self, key: SessionKey) -> tuple[LiveTurnShape | None, int]:
        """What is being written, and the stream's number up to which it counts."""
        seat = self._seats.get(key)
        if seat is None or not seat.busy:
            return None, self._server.hub.last
        with seat.lock:
            return seat.live.shape(), self._server.hub.last

    # doing

    def warm_up(self) -> None:
        """Load the model libraries beside everything else, so that the first message does not wait for them."""
        threading.Thread(target=import_module, args=("holdfast.doors.workbench",), daemon=True).start()

    def send(self, row: Session, text: str) -> tuple[str, bool]:
        """The message's id, and whether it waits behind a run that is under way."""
        return self._do(lambda: self._send(row, text))

    def stop(self, row: Session) -> bool:
        seat = self._seats.get(row.id.key)
        return False if seat is None else self._do(lambda: _later(seat.conversation.stop))

    def resume(self, row: Session) -> bool:
        return self._do(lambda: self._resume(row))

    def compact(self, row: Session) -> bool:
        return self._do(lambda: self._compact(row))

    def choose_model(self, row: Session, model: str) -> None:
        seat = self._seats.get(row.id.key)
        if seat is not None:
            seat.conversation.models.name = model

    def edit(self, row: Session, event_id: str, text: str) -> tuple[str, bool]:
        return self._do(lambda: self._edit(row, event_id, text))

    def unqueue(self, row: Session, message_id: str) -> bool:
        """Take back a message that waits; too late once it is part of the conversation."""
        return self._do(lambda: self._unqueue(row, message_id))

    # on the agents' loop

    async def _send(self, row: Session, text: str) -> tuple[str, bool]:
        seat = await self._seat(row)
        conversation = seat.conversation
        owner = self.driver(conversation.where.session)
        waits = seat.busy or owner not in (None, os.getpid())
        known = {queued.id for queued in conversation.queue.waiting()}
        self._run(seat, conversation.send(text))
        await asyncio.sleep(0)  # its first step puts the message down, durably
        new = [queued.id for queued in conversation.queue.waiting() if queued.id not in known]
        return (new[-1] if new else ""), waits

    async def _resume(self, row: Session) -> bool:
        seat = await self._seat(row)
        if seat.busy or not (seat.conversation.unfinished() or seat.conversation.queue.waiting()):
            return False
        self._run(seat, seat.conversation.resume())
        return True

    async def _compact(self, row: Session) -> bool:
        seat = await self._seat(row)
        if seat.busy or self.driver(seat.conversation.where.session) is not None:
            raise ApiError(409, "busy", _RUNNING())
        self._run(seat, seat.conversation.compact())
        return True

    async def _edit(self, row: Session, event_id: str, text: str) -> tuple[str, bool]:
        seat = await self._seat(row)
        if seat.busy:
            raise ApiError(409, "busy", _RUNNING())
        try:
            with FileClaim(self._claims, row.id.session):
                take_back(self._server, row, event_id)
        except Busy as busy:
            raise ApiError(409, "busy", busy.message) from None
        return await self._send(row, text)

    async def _unqueue(self, row: Session, message_id: str) -> bool:
        queue = (await self._seat(row, start=False)).conversation.queue
        waiting = next((queued for queued in queue.waiting() if queued.id == message_id), None)
        if waiting is None:
            return False
        queue.taken(waiting)
        return True

    async def _seat(self, row: Session, *, start: bool = True) -> Seat:
        if row.host != OWN_HOST:
            raise ApiError(409, "not_own", NOT_OWN(), host=row.host)
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:  # two tabs that open a thread at once share one conversation
            seat = self._seats.get(row.id.key)
            if seat is None:
                seat = self._opened(row)
                self._seats[row.id.key] = seat
            if start and not seat.started:
                await self._workbench().start()
                begun = self._server.control.store.events(row.id.session, limit=1)
                await seat.conversation.start("resume" if begun else "startup")
                seat.started = True
        return seat

    def _opened(self, row: Session) -> Seat:
        control = self._server.control
        agents = load_agents(control.home.agents).agents
        seat: Seat

        def watch(event: UiEvent) -> None:
            self._see(seat, event)

        conversation = self._workbench().conversation(
            row,
            watch,
            model=row.model,
            agent=row.id.agent if row.id.agent in agents else "",
            interactive=not control.settings.runtime.permission.unattended,
        )
        seat = Seat(conversation)
        return seat

    def _see(self, seat: Seat, event: UiEvent) -> None:
        where = seat.conversation.where
        place = {"thread": where.thread, "agent": where.agent, "session": where.session}
        with seat.lock:
            seat.live.see(event, self._server.control.clock())
            self._server.hub.publish("turn", {**place, **turn_event(event)})

    def _run(self, seat: Seat, work: Coroutine[Any, Any, Any]) -> None:
        async def watched() -> None:
            try:
                if await work is None:
                    await self._when_free(seat)
            except Busy as busy:
                self._see(seat, Notice(text=str(busy)))
            except Exception as error:
                self._see(seat, self._problem(error))
            finally:
                self._server.watch.touch(seat.conversation.where.session)

        task = asyncio.get_running_loop().create_task(watched())
        seat.tasks.add(task)
        task.add_done_callback(seat.tasks.discard)
        self._server.watch.touch(seat.conversation.where.session)

    async def _when_free(self, seat: Seat) -> None:
        """A message that was queued behind another process: that one takes it, or we do once it has let go."""
        conversation = seat.conversation
        while not seat.busy and conversation.queue.waiting():
            if self.driver(conversation.where.session) is None and await conversation.resume() is not None:
                return
            await asyncio.sleep(AGAIN_SECONDS)

    def _problem(self, error: Exception) -> Problem:
        from holdfast.runtime.trouble import Trouble  # loads the model libraries, as the run has by now

        if isinstance(error, Trouble):
            return self._told(error.code, error.why, error.next_step)
        traceback.print_exception(error, file=sys.stderr)
        return self._told("own", _OWN_FAILURE(error=f"{type(error).__name__}: {error}"))

    def _told(self, code: str, why: Message, next_step: Message | None = None) -> Problem:
        language = self._server.control.language("")
        return Problem(
            code=code,
            text=why.text(language),
            message=why.to_dict(),
            next_step=next_step.text(language) if next_step else "",
            next_message=next_step.to_dict() if next_step else {},
        )

    def _workbench(self) -> Workbench:
        if self._bench is None:
            from holdfast.doors.workbench import Workbench

            def say(problem: str) -> None:
                self._server.hub.publish("config", {"problems": [plain(problem).to_dict()]})

            self._bench = Workbench(self._server.control, say)
        return self._bench

    @property
    def _claims(self) -> Path:
        return self._server.home.run / _CLAIMS

    # the loop

    def _do(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """From a page's thread: hand work to the agents' loop, and wait for it with a deadline."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work(), self._running())
        return future.result(SECONDS)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="holdfast-agents", daemon=True)
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """A run that waits for an answer is left for whoever takes it up; one whose tool is at work is stopped."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        with contextlib.suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._end(), loop).result(END_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=END_SECONDS)
        if not thread.is_alive():
            loop.close()
        self._loop = None

    async def _end(self) -> None:
        await asyncio.gather(*(self._end_seat(seat) for seat in self._seats.values()), return_exceptions=True)
        if self._bench is not None:
            await self._bench.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=3)

    async def _end_seat(self, seat: Seat) -> None:
        if seat.busy and not seat.live.runs_a_tool:
            seat.conversation.leave()
            if seat.tasks:
                await asyncio.wait(seat.tasks, timeout=3)
        await seat.conversation.close()


async def _later(work: Callable[[], T]) -> T:
    return work()


def take_back(server: Server, row: Session, event_id: str) -> None:
    """The conversation as it was before a person's message; what came after stays on record, marked as taken back."""
    from holdfast.runtime.transcript import Transcript

    control = server.control
    store = control.store
    if row.state != "active":
        raise ApiError(409, "cannot_edit", _SEALED())
    event = store.event(event_id)
    if event is None or event.kind != "prompt_submitted" or event.where.main() != row.id or event.where.subagent:
        raise ApiError(409, "cannot_edit", _NOT_LIVE())
    transcript = Transcript(control.plane, row.id)
    items = transcript.load().items
    place = _place_of(store, event, [at for at, item in enumerate(items) if item.kind == "user"])
    if place is None or items[place].text != event.data["text"]:
        raise ApiError(409, "cannot_edit", _COMPACTED())
    control.approvals.cancel(where=row.id)
    last = store.events(row.id.session, limit=1, newest_first=True)
    transcript.replace(items[:place], compacted=event.id)
    kept: Any = store.noted(superseded_note(row.id.session)) or []
    until = last[0].no if last else event.no
    store.note(superseded_note(row.id.session), [*kept, [event.no, until]])
    place_of = {"thread": row.id.key.thread, "agent": row.id.key.agent, "session": row.id.session}
    server.hub.publish("taken_back", {**place_of, "first": event.no, "last": until})


def _place_of(store: Store, event: EventRecord, users: list[int]) -> int | None:
    """Where the message stands among the items: as many messages follow it there as in the record."""
    later = store.events(event.where.session, after=event.no, kinds=("prompt_submitted",), limit=10_000)
    following = sum(1 for record in later if not record.where.subagent)
    return users[-1 - following] if following < len(users) else None
