"""The heavy half of the chat: control, session and conversation; imported and opened while the person is typing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.control import Control
from holdfast.core.events import Answer
from holdfast.core.settings import ModelParams
from holdfast.doors.chat_wanted import Wanted
from holdfast.doors.output import visible
from holdfast.doors.workbench import Workbench
from holdfast.runtime.runner import Conversation
from holdfast.runtime.threads import find_thread, new_thread, threads
from holdfast.runtime.tools.journal import undo_last
from holdfast.runtime.ui_events import Notice, Watch
from holdfast.store.config_file import ConfigError
from holdfast.store.interface import AlreadyDecided, Approval, Session


class Engine:
    """Opened once for a process; `conversation` may be exchanged for another thread."""

    def __init__(
        self,
        wanted: Wanted,
        watch: Watch,
        *,
        on_problem: Callable[[ConfigError], None] | None = None,
        answer_by_itself: Callable[[Any], str | None] = lambda approval: None,
        inline_params: ModelParams | None = None,
    ) -> None:
        self._wanted = wanted
        self._watch = watch
        self._answer_by_itself = answer_by_itself
        self._inline_params = inline_params
        self.control = Control.open(wanted.home, inline=wanted.inline, on_problem=on_problem)
        self._bench = Workbench(self.control, lambda problem: watch(Notice(text=problem)))
        try:
            session, self.resumed = self._session()
        except BaseException:
            self.control.close()
            raise
        self.conversation = self._open(session)

    def _session(self) -> tuple[Session, bool]:
        wanted = self._wanted
        if wanted.thread:
            return find_thread(self.control, wanted.thread), True
        if wanted.resume:
            known = threads(self.control, wanted.vault, limit=1)
            if known:
                return known[0], True
        agent = wanted.agent or self.control.settings.runtime.agent.id
        return new_thread(self.control, wanted.vault, wanted.cwd, agent=agent, model=wanted.model), False

    def _open(self, session: Session) -> Conversation:
        return self._bench.conversation(
            session,
            self._watch,
            model=self._wanted.model,
            agent=self._wanted.agent,
            interactive=self._wanted.interactive,
            inline=self._inline_params,
            answer_by_itself=self._answer_by_itself,
        )

    async def start(self) -> None:
        await self._bench.start()
        await self.conversation.start("resume" if self.resumed else "startup")

    async def switch(self, thread: str = "") -> None:
        """Another thread: the named one, or a new one."""
        before = self.conversation
        if thread:
            session, self.resumed = find_thread(self.control, thread), True
        else:
            wanted = self._wanted
            session = new_thread(
                self.control, wanted.vault, wanted.cwd, agent=before.setup.agent, model=before.models.name
            )
            self.resumed = False
        self.conversation = self._open(session)
        self.conversation.models.name, self.conversation.setup.agent = before.models.name, before.setup.agent
        await before.close()
        await self.start()

    def answer(self, approval: Approval, answer: str, message: str = "") -> str:
        """Answer a question as the person at this terminal; what went wrong with it, in words."""
        chosen: Answer = answer if answer in ("once", "always", "for_a_while") else "deny"  # type: ignore[assignment]
        try:
            answered = self.control.approvals.answer(approval.id, chosen, by=self.control.user, message=message)
        except AlreadyDecided as error:
            return str(error)
        return answered.problem.text(self.control.language("")) if answered.problem else ""

    def first_words(self, session: Session) -> str:
        """What a thread was opened with."""
        found = self.control.store.events(session.id.session, kinds=("prompt_submitted",), limit=1)
        return session.title or (" ".join(found[0].text.split()) if found else "")

    def last_words(self) -> list[tuple[str, str]]:
        """The last message of each side, in one line each."""
        kinds = {"prompt_submitted": "›", "assistant_replied": "‹"}
        found = self.control.store.events(
            self.conversation.where.session, kinds=tuple(kinds), limit=2, newest_first=True
        )
        return [(kinds[record.kind], visible(" ".join(record.text.split()), 160)) for record in reversed(found)]

    def undo(self) -> str:
        """Take back the last change to a file that this thread's tools made; what it was, or nothing."""
        undone = undo_last(self.conversation.tool_context())
        return undone.text if undone is not None else ""

    async def close(self) -> None:
        await self.conversation.close()
        await self._bench.close()
        self.control.close()
