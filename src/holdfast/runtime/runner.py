"""A conversation with the own agent: messages in, events out, and nothing lost however it ends.

One turn at a time, driven by whoever holds the session's claim. What a turn needs to know stands in the store, so a
turn that was stopped, killed or left waiting for an answer is taken up again by `resume`, here or in another process.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.chain.chain import Chain
from holdfast.control import Control
from holdfast.core.events import AssistantReplied, HistorySending, ModeChanged, SessionStarted
from holdfast.core.keys import SessionId
from holdfast.core.messages import Phrase
from holdfast.core.outcome import Outcome
from holdfast.core.settings import ModelParams
from holdfast.core.verdict import Mode
from holdfast.runtime.agent_run import AgentRun
from holdfast.runtime.agent_setup import AgentSetup
from holdfast.runtime.claim import Busy, FileClaim
from holdfast.runtime.compacting import compact
from holdfast.runtime.controlled_model import ControlledModel
from holdfast.runtime.judge import Judge
from holdfast.runtime.ledger import Ledger
from holdfast.runtime.marks import STOPPED_HERE
from holdfast.runtime.message_queue import MessageQueue
from holdfast.runtime.model_shelf import ModelShelf
from holdfast.runtime.scene import Scene, for_a_while
from holdfast.runtime.threads import next_session
from holdfast.runtime.tool import Tool, ToolContext
from holdfast.runtime.tools.bash_jobs import end_session, running_jobs
from holdfast.runtime.trouble import Trouble
from holdfast.runtime.ui_events import Notice, ToolAnswered, ToolWaiting, TurnEnded, Watch
from holdfast.runtime.waiting import answer_alone, decided
from holdfast.store.interface import SealedError, Session, StateConflict

LET_GO_SECONDS = 10.0
"""How long a stopped turn waits for its tools to end."""
TITLE_LENGTH = 80
TRIES = 5
QUEUED = Phrase(
    "runtime.queued",
    "A run is under way; your message is queued and will be taken next.",
    "当前有运行正在进行；你的消息已排队，随后处理。",
)
JOBS_ENDED = Phrase(
    "runtime.jobs_ended",
    "The session is over, and with it what still ran in the background: {commands}",
    "会话已结束，后台仍在运行的命令也随之结束：{commands}",
)


class Conversation:
    """One thread, as one door has it open."""

    def __init__(
        self,
        control: Control,
        session: Session,
        *,
        watch: Watch,
        tools: Sequence[Tool] | Callable[[], Sequence[Tool]],
        model: str = "",
        agent: str = "",
        interactive: bool = True,
        inline: ModelParams | None = None,
        answer_by_itself: Callable[[Any], str | None] = lambda approval: None,
        models: ModelShelf | None = None,
        in_thread: bool = False,
    ) -> None:
        self._control = control
        self._session = session
        self._watch = watch
        self.models = models or ModelShelf(control, model)
        self.setup = AgentSetup(control, self.models, tools, agent=agent, inline=inline)
        self.interactive = interactive
        self._answer_by_itself = answer_by_itself
        self._chain = Chain(control)
        self._judge = Judge(control.plane, heed=self._chain.heed, in_thread=in_thread)
        self._ledger = Ledger(control.store, session.id, self.models.choice)
        self._memory: dict[str, Any] = {}
        self._bootstrap = ""
        self._task: asyncio.Task[TurnEnded] | None = None
        self._stopping = False

    # what it is

    @property
    def where(self) -> SessionId:
        return self._session.id

    @property
    def session(self) -> Session:
        return self._control.store.session(self.where.session) or self._session

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def queue(self) -> MessageQueue:
        return MessageQueue(self._control.store, self.where.key, self._control.new_id)

    def unfinished(self) -> bool:
        """Whether the last run was cut off, failed or waits, and `resume` would take it up."""
        note = self._control.store.noted(self._run_note)
        return isinstance(note, dict) and note.get("state") != "done"

    def tool_context(self) -> ToolContext:
        """As a tool of this session would have it, for what a person does by hand (`/undo`)."""
        return self._scene().tool_context()

    # what is done with it

    async def start(self, source: str = "startup") -> None:
        """Announce the session; what policies inject then goes with every request of this process."""
        scene = self._scene()
        outcome = await self._judge(
            SessionStarted(
                **scene.header(),
                source="resume" if source == "resume" else "startup",
                vault=self._session.vault,
                cwd=self._session.cwd,
                model=self.models.choice().name,
                mode="full_access" if self._session.mode == "full_access" else "agent",
            )
        )
        packet = await self._judge.do(self._chain.packet, self._session)
        told = packet.text if packet is not None else ""
        self._bootstrap = "\n\n".join(text for text in (told, for_a_while(outcome)) if text)
        scene.tell_warnings(outcome)
        await self._judge.flush(self.where)

    async def send(self, text: str) -> TurnEnded | None:
        """A message from a person; None when it was queued because a run is under way, here or elsewhere."""
        if self.busy:
            await self._judge.do(self.queue.put, text, self._control.clock())
            self._watch(Notice(text=QUEUED().text(self._scene().language), message=QUEUED().to_dict()))
            return None
        await self._judge.do(self.queue.put, text, self._control.clock())
        return await self._drive(self._control.new_id())

    async def resume(self) -> TurnEnded | None:
        """Take up what was cut off; None when there is nothing."""
        if self.busy:
            return None
        note = self._control.store.noted(self._run_note)
        waiting = self.queue.waiting()
        if not self.unfinished() and not waiting:
            return None
        invocation = str(note["invocation"]) if self.unfinished() else self._control.new_id()
        return await self._drive(invocation)

    def stop(self) -> bool:
        """End the turn now; the history stays valid and the conversation goes on with the next message."""
        if not self.busy or self._task is None:
            return False
        self._stopping = True
        self._task.cancel()
        return True

    def leave(self) -> None:
        """Let go of a run that waits for an answer: its questions stay open, and whoever comes next takes it up."""
        if self.busy and self._task is not None:
            self._task.cancel()

    async def compact(self) -> bool:
        """What `/compact` does; False when a run is under way."""
        if self.busy:
            return False
        with self._claim():
            run = await asyncio.to_thread(self.setup.run, self._scene(self._control.new_id()))
            loaded = await self._judge.do(run.transcript.load)
            model = ControlledModel(run.scene, self.models.choice(), self.models, run.transcript, prompt=run.prompt)
            choice = self.models.choice()
            event = HistorySending(
                **run.scene.header(),
                history=loaded.items,
                model=choice.name,
                window=choice.window,
                managed=choice.managed,
                system=run.prompt.system,
                manual=True,
            )
            outcome = await self._judge(event)
            run.scene.tell_warnings(outcome)
            await compact(outcome, loaded.items, run.scene, run.transcript, model.write_summary)
            await self._judge.flush(self.where)
        return True

    async def set_mode(self, mode: Mode, *, by: str = "") -> Outcome:
        """Switch; whoever calls this has had full access confirmed (MO1)."""
        scene = self._scene()
        outcome = await self._judge(ModeChanged(**scene.header(), to=mode, by=by or self._control.user))
        scene.tell_warnings(outcome)
        await self._judge.flush(self.where)
        return outcome

    async def close(self) -> None:
        if self.busy and self._task is not None:
            self._stopping = True
            self._task.cancel()
            await asyncio.wait([self._task], timeout=10)
        await self._end_jobs()
        await self.models.close()
        self._judge.close()

    # a turn

    async def _drive(self, invocation: str) -> TurnEnded | None:
        self._stopping = False
        self._task = asyncio.ensure_future(self._turns(invocation))
        try:
            return await self._task
        except Busy as busy:
            self._watch(Notice(text=f"{busy}. {QUEUED().text(self._scene().language)}"))
            return None

    async def _turns(self, invocation: str) -> TurnEnded:
        """This turn, and one for each message that is queued by the time it ends."""
        while True:
            end = await self._claimed_turn(invocation)
            self._watch(end)
            waiting = await self._judge.do(self.queue.waiting)
            if end.reason != "done" or not waiting:
                return end
            invocation = self._control.new_id()

    async def _claimed_turn(self, invocation: str) -> TurnEnded:
        """One turn by whoever holds the session; no seal can cut it, and a wanted one follows it (SC3)."""
        for _ in range(TRIES):
            await self._renew_if_sealed()
            with self._claim():
                try:
                    await self._judge.do(lambda: self._chain.turn_opened(self.where, invocation, sole=True))
                except SealedError:
                    continue  # it was sealed a moment ago: the message belongs to the next session
                await self._judge.do(self._ledger.load)
                # In a thread: a tool file that was edited is loaded anew, and may take seconds over it.
                run = await asyncio.to_thread(self.setup.run, self._scene(invocation), self._bootstrap)
                try:
                    end = await self._turn(run)
                finally:
                    self._ledger.save()
                await self._end_turn(run.scene)
                return end
        raise SealedError(f"thread {self.where.thread!r} was sealed {TRIES} times in a row; try again")

    async def _end_turn(self, scene: Scene) -> None:
        # In a thread of its own: finalising may ask a model for minutes, for up to half a minute.
        sealing = await asyncio.to_thread(self._chain.end_turn, self.where, scene.invocation)
        for message in (sealing.message, sealing.warning) if sealing is not None else ():
            if message is not None:
                scene.tell(message)
        await self._judge.flush(self.where)  # a session that is sealed by now takes nothing more

    async def _turn(self, run: AgentRun) -> TurnEnded:
        scene = run.scene
        try:
            await self._mark(scene, "running")
            notes = await self._take_messages(run)
            await self._confirm_mode(scene)
            told = "\n\n".join(text for text in (run.bootstrap, *notes) if text)
            text = await replace(run, bootstrap=told).go_on()
        except Trouble as trouble:
            return await self._failed(scene, trouble)
        except asyncio.CancelledError:
            await self._let_go(scene)
            if not self._stopping:
                raise
            return self._stopped(scene)
        await self._mark(scene, "done")
        return TurnEnded(invocation=scene.invocation, reason="done", text=text)

    async def _take_messages(self, run: AgentRun) -> list[str]:
        """What is queued becomes part of the conversation; returns what policies tell the model about this turn."""
        notes: list[str] = []
        for queued in await self._judge.do(self.queue.waiting):
            if await self._judge.do(self._control.store.event, queued.id) is None:
                outcome = await run.submit(queued.text, event_id=queued.id)
                await self._judge.do(self._entitle, queued.text)
                notes.append(for_a_while(outcome))
                if outcome.decision == "deny" and outcome.deciding is not None:
                    await self._judge.do(self.queue.taken, queued)
                    raise Trouble("own", outcome.deciding.why, outcome.deciding.next_step or outcome.deciding.why)
            await self._judge.do(self.queue.taken, queued)
        return notes

    async def _confirm_mode(self, scene: Scene) -> None:
        """Full access by configuration is confirmed before anything is done about the first message (MO1)."""
        store = self._control.store
        for approval in await self._judge.do(lambda: store.approvals(status="pending", session=self.where.session)):
            if approval.policy != "modes":
                continue
            if not await self._judge.do(answer_alone, scene, approval):
                scene.emit(ToolWaiting(call_id=approval.call_id, tool=approval.tool, approval=approval))
            settled = await decided(approval.id, store, self._judge)
            scene.emit(ToolAnswered(call_id=approval.call_id, tool=approval.tool, approval=settled))

    def _entitle(self, text: str) -> None:
        """A thread is known to people by the words it began with."""
        current = self.session
        if not current.title:
            title = " ".join(text.split())[:TITLE_LENGTH]
            with contextlib.suppress(StateConflict):
                self._control.store.update_session(current.id.session, current.version, title=title)

    async def _failed(self, scene: Scene, trouble: Trouble) -> TurnEnded:
        await self._mark(scene, "failed")
        scene.tell_problem(trouble.code, trouble.why, trouble.next_step)
        await self._judge.flush(self.where)
        return TurnEnded(invocation=scene.invocation, reason="failed", problem=trouble.why.text(scene.language))

    async def _let_go(self, scene: Scene) -> None:
        """Wait until every tool has ended and is recorded; one that will not is asked about when it is next met."""
        for task in scene.in_flight:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):  # a second Ctrl-C does not wait
            if scene.in_flight:
                await asyncio.wait(scene.in_flight, timeout=LET_GO_SECONDS)

    def _stopped(self, scene: Scene) -> TurnEnded:
        """Synchronous throughout, so that a second Ctrl-C cannot leave it half done."""
        self._control.approvals.cancel(where=self.where)
        said = STOPPED_HERE().text(scene.language)
        self._judge.now(AssistantReplied(**scene.header(), text=said))
        self._control.store.note(self._run_note, {"invocation": scene.invocation, "state": "done"})
        return TurnEnded(invocation=scene.invocation, reason="stopped", text=said)

    async def _mark(self, scene: Scene, state: str) -> None:
        body = {"invocation": scene.invocation, "state": state}
        await self._judge.do(self._control.store.note, self._run_note, body)

    async def _renew_if_sealed(self) -> None:
        """After a seal the next message starts the thread's next session (SC10); a seal that waited comes first."""
        current = await self._judge.do(self._control.store.session, self.where.session)
        if current is not None and current.extra.get("seal_wanted") and not self.unfinished():
            current = (await asyncio.to_thread(self._chain.sealer.try_seal, self.where)).session
        if current is not None and current.state == "active":
            return
        vault, cwd = Path(self._session.vault), Path(self._session.cwd)
        name = self.models.choice().name
        opened = await self._judge.do(lambda: next_session(self._control, self.where.key, vault, cwd, model=name))
        ended = await self._end_jobs()  # while `where` is still the session that is over
        self._session = opened
        self._ledger = Ledger(self._control.store, self._session.id, self.models.choice)
        await self.start()
        self._bootstrap = "\n\n".join(text for text in (self._bootstrap, ended) if text)

    async def _end_jobs(self) -> str:
        """No command in the background outlives its session, and none ends unnoticed."""
        scene = self._scene()
        commands = [job.command for job in running_jobs(self._memory)]
        await asyncio.to_thread(end_session, scene.tool_context())
        if not commands:
            return ""
        ended = JOBS_ENDED(commands="; ".join(" ".join(command.split())[:80] for command in commands))
        scene.emit(Notice(text=ended.text(scene.language), message=ended.to_dict()))
        return ended.text(scene.language)

    # parts

    @property
    def _run_note(self) -> str:
        return f"run:{self.where.session}"

    def _claim(self) -> FileClaim:
        return FileClaim(self._control.home.run / "claims", self.where.session)

    def _scene(self, invocation: str = "") -> Scene:
        return Scene(
            control=self._control,
            judge=self._judge,
            where=self.where,
            vault=Path(self._session.vault),
            cwd=Path(self._session.cwd or self._session.vault),
            watch=self._watch,
            ledger=self._ledger,
            invocation=invocation,
            interactive=self.interactive,
            memory=self._memory,
            answer_by_itself=self._answer_by_itself,
            stopping=lambda: self._stopping,
        )
