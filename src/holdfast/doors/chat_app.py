"""`holdfast chat`: a prompt, a conversation, questions in between, and nothing lost however it ends.

The prompt stands there at once; the heavy libraries are loaded by a thread while the first message is being typed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prompt_toolkit.patch_stdout import patch_stdout

from holdfast.core.messages import Language, Message
from holdfast.doors import chat_words as say
from holdfast.doors.chat_card import Card, card_of, key_line
from holdfast.doors.chat_commands import COMMANDS, run_command
from holdfast.doors.chat_prompts import Prompts, Stopped, refresh
from holdfast.doors.chat_status import Status
from holdfast.doors.chat_view import View

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.doors.chat_engine import Engine
    from holdfast.store.interface import Approval

QUIT_SECONDS = 15.0
GIVE_UP_SECONDS = 5.0
_ANSWERS = {"o": "once", "a": "always", "w": "for_a_while", "d": "deny"}


class ChatApp:
    """One sitting at the terminal."""

    def __init__(
        self,
        load: Callable[[Callable[[Any], None]], Engine],
        view: View,
        *,
        history: Path | None,
        status: Status,
        language: Language = "en",
    ) -> None:
        self._load = load
        self.view = view
        self.status = status
        self.language = language
        self._prompts = Prompts(history, list(COMMANDS), self.status.bar)
        self._loading: asyncio.Future[Engine] | None = None
        self._engine: Engine | None = None
        self._questions: asyncio.Queue[Approval] = asyncio.Queue()
        self._decided: dict[str, asyncio.Future[Approval]] = {}
        self._interrupts = 0
        self._last_interrupt = 0.0
        self._main: asyncio.Task[Any] | None = None
        self.quitting = False

    def say(self, message: Message, style: str = "dim") -> None:
        self.view.say(message.text(self.language), style)

    # the sitting

    async def run(self) -> int:
        self._main = asyncio.current_task()
        self._loading = asyncio.get_running_loop().run_in_executor(None, self._load, self._watch_from_anywhere())
        self._loading.add_done_callback(self._loaded)
        try:
            while not self.quitting:
                line = await self._next_line()
                if line is None:
                    break
                if line.startswith("/"):
                    await run_command(self, line)
                elif line:
                    await self.turn(line)
                await asyncio.sleep(0)  # what was still to be shown comes before the next prompt
        except asyncio.CancelledError:
            return 130
        finally:
            await self._close()
        return 0

    async def _next_line(self) -> str | None:
        try:
            with patch_stdout(raw=True):
                return (await self._prompts.line()).strip()
        except EOFError:
            return None
        except KeyboardInterrupt:
            now = time.monotonic()
            if now - self._last_interrupt < QUIT_SECONDS:
                return None
            self._last_interrupt = now
            self.say(say.AGAIN_TO_QUIT())
            return ""

    async def engine(self) -> Engine:
        """The heavy half, waited for when it is needed; an error of its opening ends the chat with its own words."""
        if self._engine is None:
            assert self._loading is not None
            if not self._loading.done():
                self.say(say.LOADING())
            engine = await self._loading
            await engine.start()
            self._engine = engine
            self.status.follow(engine)
            self._recall(engine)
        return self._engine

    def _recall(self, engine: Engine) -> None:
        """Where the thread was left."""
        if engine.resumed:
            for who, text in engine.last_words():
                self.view.say(f"{who} {text}", "dim")
            if engine.conversation.unfinished():
                self.say(say.UNFINISHED(), "yellow")

    def _loaded(self, loading: asyncio.Future[Engine]) -> None:
        if not loading.cancelled() and loading.exception() is None:
            self.status.follow(loading.result())
            refresh()

    async def _close(self) -> None:
        if self._loading is None:
            return
        with contextlib.suppress(Exception):
            engine = await self._loading
            thread = engine.conversation.where.thread
            used = bool(engine.control.store.events(engine.conversation.where.session, limit=2))
            await engine.close()
            if used:
                self.say(say.BYE(thread=thread))

    # a turn

    async def turn(self, text: str) -> None:
        engine = await self.engine()
        await self._watched(lambda: engine.conversation.send(text))
        self.status.follow(engine)

    async def resume(self) -> bool:
        engine = await self.engine()
        end = await self._watched(engine.conversation.resume)
        self.status.follow(engine)
        return end is not None

    async def _watched(self, start: Callable[[], Any]) -> Any:
        """Run a turn with somebody there to answer questions and to stop it."""
        loop = asyncio.get_running_loop()
        self._interrupts = 0
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        asker = asyncio.create_task(self._ask_people())
        try:
            end = await start()
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            asker.cancel()
            await asyncio.wait([asker])
            await asyncio.sleep(0)  # the last events are on their way to the view
            self.view.settle()
        if end is not None and end.reason == "stopped":
            self.say(say.STOPPED())
        return end

    def _interrupt(self) -> None:
        """Once stops the turn, twice quits."""
        self._interrupts += 1
        engine = self._engine
        if self._interrupts == 1 and engine is not None and engine.conversation.stop():
            self.say(say.STOPPING())
            return
        self.quitting = True
        # A tool that will not let go must not hold the terminal: what is durable is durable.
        asyncio.get_running_loop().call_later(GIVE_UP_SECONDS, os._exit, 130)
        if self._main is not None:
            self._main.cancel()

    # questions

    def _watch_from_anywhere(self) -> Callable[[Any], None]:
        loop = asyncio.get_running_loop()

        def watch(event: Any) -> None:
            loop.call_soon_threadsafe(self._see, event)

        return watch

    def _see(self, event: Any) -> None:
        if event.kind == "tool_waiting":
            self._decided.setdefault(event.approval.id, asyncio.get_running_loop().create_future())
            self._questions.put_nowait(event.approval)
        elif event.kind == "tool_answered":
            decided = self._decided.get(event.approval.id)
            if decided is not None and not decided.done():
                decided.set_result(event.approval)
        elif event.kind == "usage" and not event.subagent:
            self.status.measured(event)
        self.view.show(event)

    async def _ask_people(self) -> None:
        while True:
            approval = await self._questions.get()
            decided = self._decided[approval.id]
            if decided.done():
                continue
            card = card_of(approval, self.language)
            self.view.hold(True)
            try:
                self.view.card(card)
                await self._ask(approval, card, decided)
            finally:
                self.view.hold(False)

    async def _ask(self, approval: Approval, card: Card, decided: asyncio.Future[Approval]) -> None:
        engine = await self.engine()
        asking = asyncio.create_task(self._answer(card))
        either: list[asyncio.Future[Any]] = [asking, decided]
        with patch_stdout(raw=True):
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                asking.cancel()
                await asyncio.wait([asking])
        # The prompt has put its own handler in place of ours, and took it away with itself.
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)
        if decided.done():
            settled = decided.result()
            self.say(say.DECIDED_ELSEWHERE(status=settled.answer or settled.status, by=settled.answered_by))
            return
        try:
            answer, message = asking.result()
        except Stopped:
            self._interrupt()
            return
        problem = engine.answer(approval, answer, message)
        if problem:
            self.view.say(problem, "yellow")

    async def _answer(self, card: Card) -> tuple[str, str]:
        key = await self._prompts.key(key_line(card, self.language), card.keys)
        message = await self._prompts.word(say.DENY_WHY().text(self.language)) if key == "d" else ""
        return _ANSWERS[key], message

    async def confirm(self, question: str) -> bool:
        """Yes or no; anything but a clear yes is a no."""
        self.view.say(question, "bold yellow")
        try:
            return await self._prompts.key(say.YES_NO().text(self.language), "yn") == "y"
        except Stopped:
            return False
