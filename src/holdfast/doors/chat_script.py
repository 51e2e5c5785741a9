"""The own agent without a conversation at a terminal: one task (`holdfast run`), or lines from a pipe."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.core.messages import Language
from holdfast.doors.chat_card import card_of, key_line
from holdfast.doors.chat_view import PlainView
from holdfast.doors.chat_words import NOTHING_SAID
from holdfast.doors.lazy_group import EXIT_INTERRUPTED, EXIT_PROBLEM, EXIT_REFUSED, EXIT_WAITING

if TYPE_CHECKING:
    from holdfast.doors.chat_engine import Engine
    from holdfast.doors.chat_wanted import Wanted
    from holdfast.runtime.ui_events import TurnEnded
    from holdfast.store.interface import Approval

_ANSWERS = {"o": "once", "a": "always", "w": "for_a_while", "d": "deny"}


@dataclass(frozen=True, slots=True)
class Script:
    """One task and how its questions are met."""

    text: str
    as_json: bool = False
    yes_safe: bool = False
    park: bool = False
    ask: bool = False


def chat_from_lines(wanted: Wanted, lines: Iterable[str], language: Language) -> int:
    """Each line a message; the end of the input ends the chat."""

    async def sitting() -> int:
        engine: Engine | None = None
        worst, spoken = 0, False
        try:
            for line in lines:
                if not line.strip():
                    continue
                spoken = True
                if line.strip() in ("/quit", "/exit"):
                    break
                if engine is None:
                    from holdfast.doors.chat_engine import Engine

                    engine = Engine(wanted, view.show)
                    await engine.start()
                end = await engine.conversation.send(line.strip())
                if end is not None and end.reason == "failed":
                    worst = EXIT_PROBLEM
        finally:
            if engine is not None:
                await engine.close()
        if not spoken:
            view.say(NOTHING_SAID().text(language))
        return worst

    view = PlainView(language)
    return asyncio.run(sitting())


def run_script(wanted: Wanted, script: Script, language: Language) -> int:
    return asyncio.run(_Runner(wanted, script, language).run())


def _is_safe(question: Mapping[str, Any]) -> bool:
    """A command that changes nothing, asked about only because it is one: not for a file that it would read."""
    reading = question.get("reading") or {}
    asked = [finding.get("rule") or {} for finding in question.get("findings") or () if finding["decision"] == "ask"]
    proven = bool(reading.get("read_only")) and not reading.get("unknown")
    return proven and all(rule.get("domain") == "bash" for rule in asked)


class _Runner:
    def __init__(self, wanted: Wanted, script: Script, language: Language) -> None:
        self._wanted = wanted
        self._script = script
        self._language = language
        self._view = PlainView(language)
        self._engine: Engine | None = None
        self._refused = 0
        self._parked = False
        self._interrupted = False

    async def run(self) -> int:
        from holdfast.doors.chat_engine import Engine

        script = self._script
        engine = self._engine = Engine(
            self._wanted, self._see, answer_by_itself=self._by_itself if script.yes_safe else lambda approval: None
        )
        loop = asyncio.get_running_loop()
        try:
            await engine.start()
            loop.add_signal_handler(signal.SIGINT, self._interrupt)
            conversation = engine.conversation
            end = await (conversation.send(script.text) if script.text else conversation.resume())
        except asyncio.CancelledError:
            if not self._parked:
                raise
            end = None
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            await engine.close()
        return self._code(end)

    def _code(self, end: TurnEnded | None) -> int:
        if self._parked:
            return EXIT_WAITING
        if self._interrupted:
            return EXIT_INTERRUPTED
        if end is None:
            return EXIT_WAITING if self._script.text else 0  # queued behind a run elsewhere; nothing to resume
        if end.reason == "failed":
            return EXIT_PROBLEM
        return EXIT_REFUSED if self._refused else 0

    def _interrupt(self) -> None:
        self._interrupted = True
        if self._engine is not None:
            self._engine.conversation.stop()

    def _see(self, event: Any) -> None:
        if event.kind == "tool_denied":
            self._refused += 1
        from holdfast.runtime.ui_events import to_json

        if self._script.as_json:
            if event.kind not in ("text_delta", "reasoning_delta", "tool_progress"):
                print(json.dumps(to_json(event), ensure_ascii=False, default=str), flush=True)
        else:
            self._view.show(event)
        if event.kind == "tool_waiting":
            if self._script.park:
                if not self._script.as_json:
                    self._view.card(card_of(event.approval, self._language))
                self._parked = True
                asyncio.get_running_loop().call_soon(self._leave)
            elif self._script.ask:
                asyncio.get_running_loop().run_in_executor(None, self._ask, event.approval)

    def _leave(self) -> None:
        if self._engine is not None:
            self._engine.conversation.leave()

    def _by_itself(self, approval: Approval) -> str | None:
        """`--yes-safe`: only what is proven to change nothing; the rest is asked, or denied where nobody can be."""
        if approval.policy == "permission" and _is_safe(approval.question):
            return "once"
        return None if self._script.ask or self._script.park else "deny"

    def _ask(self, approval: Approval) -> None:
        """A question at the terminal, by letter and Enter."""
        card = card_of(approval, self._language)
        self._view.card(card)
        while True:
            print(f"{key_line(card, self._language)} ", end="", file=sys.stderr, flush=True)
            given = sys.stdin.readline()
            letter = given.strip().lower()[:1] if given else "d"
            if letter in card.keys and letter:
                break
        if self._engine is not None:
            problem = self._engine.answer(approval, _ANSWERS[letter])
            if problem:
                self._view.say(problem)
