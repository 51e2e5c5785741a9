"""The one way from a model's call to a tool: judged, asked about, run once, recorded, cut.

There is no other path to a tool's `run`. A call that may or may not have run is never run again without a person's
word; a result that is recorded is handed out again instead of being made anew.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.core.events import ToolCall, ToolCalled, ToolCalling, ToolResult
from holdfast.core.messages import Phrase
from holdfast.core.outcome import Outcome
from holdfast.runtime.dialect import arguments_of
from holdfast.runtime.marks import DENIED, FAILED, INTERRUPTED
from holdfast.runtime.scene import Scene, for_the_model
from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.transcript import OpenCall, Transcript, started_note
from holdfast.runtime.ui_events import (
    ToolAnswered,
    ToolDenied,
    ToolDone,
    ToolPreparing,
    ToolProgress,
    ToolRunning,
    ToolWaiting,
)
from holdfast.runtime.waiting import answer_alone, decided
from holdfast.store.interface import Approval, Change

UNCERTAIN_POLICY = "interrupted"
REENTRANT = frozenset(("task",))
"""Their own calls are guarded one by one, so that going on with them repeats nothing."""

NOT_JSON = Phrase(
    "runtime.not_json",
    "The arguments of {tool} are no JSON object (they may have been cut off at the output limit), so nothing was run. "
    "Send them whole; write large contents in several smaller steps.",
    "{tool} 的参数不是 JSON 对象（可能因输出上限被截断），因此没有执行。请完整发送；较大的内容请分几步写入。",
)
STOPPED = Phrase(
    "runtime.stopped",
    "Stopped by the user while it ran. It may have had an effect: look before you repeat it.",
    "运行中被用户停止。它可能已产生影响：重复之前请先查看。",
)
LOST_READ = Phrase(
    "runtime.lost_read",
    "The process ended while this ran, and its result is lost. It changes nothing: call it again if you need it.",
    "进程在运行期间终止，结果已丢失。它不改变任何东西：如有需要请再次调用。",
)
NOT_REPEATED = Phrase(
    "runtime.not_repeated",
    "The process ended while this ran: it may or may not have had its effect, and it was not repeated. Look before you "
    "do anything about it. {message}",
    "进程在运行期间终止：它可能已经生效，也可能没有；未重复执行。处理之前请先查看。{message}",
)
MAY_HAVE_RUN = Phrase(
    "runtime.may_have_run",
    "The process ended while {tool} ran, so it may or may not have had its effect. Run it again?",
    "进程在 {tool} 运行期间终止，它可能已经生效，也可能没有。要再运行一次吗？",
)


@dataclass(frozen=True, slots=True)
class GuardedTools:
    """The tools of one run."""

    scene: Scene
    tools: Mapping[str, Tool]
    transcript: Transcript

    async def invoke(self, tool: Tool, call_id: str, arguments: str, batch: str = "") -> str:
        """One call as the model made it; what comes back is what the model sees."""
        given = arguments_of(arguments)
        if given is None:
            return await self._unreadable(tool, call_id, batch)
        call = ToolCall(call_id, tool.name, given, cwd=str(self.scene.cwd), batch=batch)
        self.scene.emit(ToolPreparing(call_id=call_id, tool=tool.name, input=given))
        outcome = await self.scene.judge(ToolCalling(**self.scene.header(), call=call))
        self.scene.tell_warnings(outcome)
        if outcome.again and outcome.decision == "allow":
            known = await self.scene.judge.do(self.transcript.result_of, call_id)
            if known is not None:
                return known
        if outcome.decision == "ask":
            outcome = await self._ask(call, outcome)
        if outcome.decision != "allow":
            return self._refused(call, outcome)
        return await self._run(tool, replace(call, input=_to_run(outcome, given)))

    async def settle(self, open_call: OpenCall) -> None:
        """Bring a call that a crash left open to its end: wait, run, or ask whether to run it again."""
        tool = self.tools.get(open_call.tool)
        call = ToolCall(open_call.id, open_call.tool, open_call.input, cwd=str(self.scene.cwd), batch=open_call.batch)
        standing = open_call.standing
        if standing == "waiting":
            approval = await self._decided(call, open_call.approval)
            allowed = approval.status == "answered" and approval.answer != "deny"
            standing = "approved" if allowed else "denied"
        if standing == "denied":
            self.scene.emit(ToolDenied(call_id=call.id, tool=call.tool, reason=open_call.reason))
        elif tool is None:
            await self._record(call, _failed(f"There is no tool {call.tool!r} any more."))
        elif standing == "approved":
            await self._begin(call)
            await self._run(tool, call)
        elif call.tool in REENTRANT:
            await self._run(tool, call)
        elif open_call.read_only:
            text = LOST_READ().text(self.scene.language)
            await self._record(call, ToolResult(INTERRUPTED + text, failed=True, error=text))
        else:
            await self._settle_uncertain(tool, call)

    # asking

    async def _ask(self, call: ToolCall, outcome: Outcome) -> Outcome:
        approval = await self._decided(call, outcome.approval)
        answered = self.scene.control.plane.after_answer(outcome, approval)
        if answered.decision == "allow":
            await self._begin(call)
        return answered

    async def _decided(self, call: ToolCall, approval_id: str) -> Approval:
        scene = self.scene
        store = scene.control.store
        approval = await scene.judge.do(store.approval, approval_id)
        if (
            approval is not None
            and approval.status == "pending"
            and not await scene.judge.do(answer_alone, scene, approval)
        ):
            scene.emit(ToolWaiting(call_id=call.id, tool=call.tool, approval=approval))
        settled = await decided(approval_id, store, scene.judge)
        scene.emit(ToolAnswered(call_id=call.id, tool=call.tool, approval=settled))
        return settled

    async def _begin(self, call: ToolCall) -> None:
        """Durable before the tool starts: from here on it may or may not have run."""
        name = started_note(self.scene.where, call.id)
        await self.scene.judge.do(self.scene.control.store.note, name, self.scene.control.clock())

    async def _settle_uncertain(self, tool: Tool, call: ToolCall) -> None:
        message = ""
        if self.scene.interactive:
            approval_id = await self.scene.judge.do(self._question, call)
            approval = await self._decided(call, approval_id)
            if approval.status == "answered" and approval.answer != "deny":
                await self._begin(call)
                await self._run(tool, call)
                return
            message = approval.message
        why = NOT_REPEATED(message=message)
        text = why.text(self.scene.language).strip()
        await self._record(call, ToolResult(INTERRUPTED + text, failed=True, error=text))
        self.scene.emit(ToolDenied(call_id=call.id, tool=call.tool, reason=text, message=why.to_dict()))

    def _question(self, call: ToolCall) -> str:
        """The open question about a call that may have run; a second crash finds it again."""
        store = self.scene.control.store
        for known in store.approvals(status="pending", session=self.scene.where.session):
            if known.call_id == call.id and known.policy == UNCERTAIN_POLICY:
                return known.id
        why = MAY_HAVE_RUN(tool=call.tool)
        finding = {"policy": UNCERTAIN_POLICY, "decision": "ask", "why": why.to_dict()}
        question = {"input": dict(call.input), "findings": [finding], "accesses": [], "proposals": [], "reading": None}
        approval = Approval(
            id=self.scene.control.new_id(),
            where=self.scene.where,
            call_id=call.id,
            created_at=self.scene.control.clock(),
            tool=call.tool,
            question=question,
            policy=UNCERTAIN_POLICY,
            invocation=self.scene.invocation,
            vault=str(self.scene.vault),
        )
        store.commit(Change(self.scene.where, approvals=(approval,)))
        return approval.id

    # running

    async def _run(self, tool: Tool, call: ToolCall) -> str:
        """In a task of its own, so that whoever stops the turn can wait until it has let go and is recorded."""
        task = asyncio.create_task(self._run_and_record(tool, call))
        self.scene.in_flight.add(task)
        task.add_done_callback(self.scene.in_flight.discard)
        return await task

    async def _run_and_record(self, tool: Tool, call: ToolCall) -> str:
        scene = self.scene
        scene.emit(ToolRunning(call_id=call.id, tool=call.tool, input=call.input))
        started = time.monotonic()
        try:
            output = await tool.run(self._context(call), call.input)
            result = _result(output)
        except ToolFailure as failure:
            output = ToolOutput(str(failure), failed=True)
            result = _failed(str(failure))
        except asyncio.CancelledError:
            if not _is_cancelled():  # something inside the tool was, and that is its own affair
                output = ToolOutput("", failed=True)
                result = _failed(f"{call.tool} was cancelled from within")
            else:
                if scene.stopping():
                    text = STOPPED().text(scene.language)
                    result = ToolResult(INTERRUPTED + text, failed=True, error=text)
                    scene.judge.now(ToolCalled(**scene.header(), call=call, result=result))
                raise
        except Exception as error:  # a tool's own bug is the model's to read, never the end of the run
            output = ToolOutput("", failed=True)
            result = _failed(f"{call.tool} itself failed: {type(error).__name__}: {error}")
        took = (time.monotonic() - started) * 1000
        return await self._record(call, replace(result, duration_ms=took), output)

    async def _record(self, call: ToolCall, result: ToolResult, output: ToolOutput | None = None) -> str:
        scene = self.scene
        outcome = await scene.judge(ToolCalled(**scene.header(), call=call, result=result))
        text = outcome.output if outcome.output is not None else result.output
        scene.tell_warnings(outcome)
        scene.emit(
            ToolDone(
                call_id=call.id,
                tool=call.tool,
                output=text,
                failed=result.failed,
                exit_code=result.exit_code,
                duration_ms=result.duration_ms or 0.0,
                full_output=outcome.full_output or (output.full_output if output else ""),
                display=output.display if output else {},
            )
        )
        hints = for_the_model(outcome, text)
        return f"{text}\n\n{hints}" if hints else text

    def _context(self, call: ToolCall) -> ToolContext:
        scene = self.scene

        def say(text: str) -> None:
            scene.emit(ToolProgress(call_id=call.id, tool=call.tool, text=text))

        return scene.tool_context(call.id, say)

    def _refused(self, call: ToolCall, outcome: Outcome) -> str:
        why = outcome.explained()
        reason = why.text(self.scene.language)
        self.scene.emit(ToolDenied(call_id=call.id, tool=call.tool, reason=reason, message=why.to_dict()))
        return f"{DENIED}{reason}"

    async def _unreadable(self, tool: Tool, call_id: str, batch: str) -> str:
        """It never passed the judges, so it is told to them as a call that went by (DL3)."""
        text = NOT_JSON(tool=tool.name).text(self.scene.language)
        call = ToolCall(call_id, tool.name, {}, cwd=str(self.scene.cwd), batch=batch)
        result = ToolResult(FAILED + text, failed=True, error=text)
        await self.scene.judge(ToolCalled(**self.scene.header(), call=call, result=result, hooked=False))
        self.scene.emit(ToolDone(call_id=call_id, tool=tool.name, output=text, failed=True))
        return FAILED + text


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _to_run(outcome: Outcome, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was judged is what runs."""
    return outcome.input if outcome.input is not None else given


def _result(output: ToolOutput) -> ToolResult:
    return ToolResult(output.text, output.failed, output.exit_code, structured=output.structured)


def _failed(text: str) -> ToolResult:
    return ToolResult(FAILED + text, failed=True, error=text)
