"""`holdfast tour`: a guided run in a throw-away workspace, with the offline model and everything else for real."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.core.messages import Language
from holdfast.doors import tour_words as say
from holdfast.doors.chat_card import card_of, key_line
from holdfast.doors.chat_view import PlainView, View
from holdfast.doors.chat_wanted import Wanted
from holdfast.doors.output import table, visible
from holdfast.store.config_file import Inline
from holdfast.store.home import Home

if TYPE_CHECKING:
    from holdfast.doors.chat_engine import Engine
    from holdfast.doors.chat_prompts import Prompts
    from holdfast.store.interface import Approval

_ANSWERS = {"o": "once", "a": "always", "w": "for_a_while", "d": "deny"}
_FOR_YOU = {"permission": "o", "doom_loop": "d"}
_RULE = {"domain": "bash", "pattern": "shell:cat *", "decision": "allow"}
_SETTINGS: Mapping[str, Any] = {
    # Few protected turns, so that a short tour has something to compact.
    "agents": {"runtime": {"model": "", "compaction": {"protectedTurns": 1}, "permission": {"rules": [_RULE]}}},
}


def run_tour(language: Language, *, fast: bool) -> int:
    interactive = sys.stdin.isatty() and sys.stdout.isatty() and not fast
    with tempfile.TemporaryDirectory(prefix="holdfast-tour-") as folder:
        return asyncio.run(_Tour(Path(folder), language, interactive).run())


class _Tour:
    def __init__(self, folder: Path, language: Language, interactive: bool) -> None:
        self._language = language
        self._home = Home(folder / "home")
        self._vault = folder / "workspace"
        self._view, self._prompts = _surface(language, interactive)
        self._waiting: asyncio.Queue[Approval] = asyncio.Queue()
        self._actions: Mapping[str, Callable[[Engine], Any]] = {
            "ask": lambda engine: self._message(engine, "run `echo hello from the tour > greeting.txt`"),
            "cut": lambda engine: self._message(engine, "run `cat server.log`"),
            "loop": lambda engine: self._message(engine, "keep reading status.txt until it says done"),
            "compact": lambda engine: engine.conversation.compact(),
            "audit": self._audit,
        }

    async def run(self) -> int:
        from holdfast.doors.chat_engine import Engine

        self._lay_out()
        self._say(say.INTRO(vault=self._vault))
        wanted = Wanted(self._home, Inline(environ={}, mapping=_SETTINGS), self._vault, self._vault)
        engine = Engine(wanted, self._see)
        asker = asyncio.create_task(self._answer_questions(engine))
        try:
            await engine.start()
            for name, title, text in say.STEPS:
                await self._pause()
                self._view.say("")
                self._view.say(title().text(self._language), "bold cyan")
                self._say(text())
                await self._actions[name](engine)
                self._view.settle()
        finally:
            asker.cancel()
            await asyncio.wait([asker])
            await engine.close()
        self._view.say("")
        self._say(say.END())
        return 0

    def _lay_out(self) -> None:
        self._vault.mkdir()
        (self._vault / "README.md").write_text("# A workspace for the tour\n\nNothing in it matters.\n")
        log = "".join(f"{number:05d} request served in {number % 97} ms\n" for number in range(6000))
        (self._vault / "server.log").write_text(log)
        (self._vault / "status.txt").write_text("still waiting\n")

    # the steps

    async def _message(self, engine: Engine, text: str) -> None:
        self._view.say(say.TYPES(text=text).text(self._language), "bold")
        await engine.conversation.send(text)

    async def _audit(self, engine: Engine) -> None:
        store, session = engine.control.store, engine.conversation.where.session
        rows = []
        for entry in store.audit(session=session):
            what = f"{entry.get('tool') or entry.get('what') or 'answer'}"
            target = visible("; ".join(entry.get("targets") or ()) or str(entry.get("answer") or ""), 60)
            rows.append((entry["decision"], entry["decidedBy"], what, target))
        self._view.say("\n".join(table(rows)))
        report = store.verify_audit(session=session)
        if report.ok:
            self._say(say.VERIFIED(count=report.entries))
        else:
            self._say(say.ALTERED(problem=report.problems[0]))

    # the person

    def _see(self, event: Any) -> None:
        self._view.show(event)
        if event.kind == "tool_waiting":
            self._waiting.put_nowait(event.approval)

    async def _answer_questions(self, engine: Engine) -> None:
        while True:
            approval = await self._waiting.get()
            card = card_of(approval, self._language)
            self._view.card(card)
            key = _FOR_YOU.get(approval.policy, "d")
            if self._prompts is not None:
                key = await self._prompts.key(key_line(card, self._language), card.keys)
            else:
                self._say(say.ANSWERED(answer=_ANSWERS[key]))
            engine.answer(approval, _ANSWERS[key])

    async def _pause(self) -> None:
        if self._prompts is not None:
            await self._prompts.word(say.GO_ON().text(self._language))

    def _say(self, message: Any) -> None:
        self._view.say(message.text(self._language))


def _surface(language: Language, interactive: bool) -> tuple[View, Prompts | None]:
    if not sys.stdout.isatty():
        return PlainView(language, err=sys.stdout), None
    from holdfast.doors.chat_rich import RichView

    if not interactive:
        return RichView(language), None
    from holdfast.doors.chat_prompts import Prompts

    return RichView(language), Prompts(None, [], lambda: "")
