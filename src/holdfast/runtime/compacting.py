"""Carries a planned compaction out: asks for the summary, applies it, keeps the history in step (CO5-CO9)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from holdfast.core.compaction_plan import CompactionResult, Plan, apply_summary
from holdfast.core.events import Compacted, Compacting, Trigger
from holdfast.core.history import Item
from holdfast.core.outcome import Outcome
from holdfast.core.summary import ApprovalFact
from holdfast.runtime.scene import Scene
from holdfast.runtime.transcript import Transcript
from holdfast.runtime.ui_events import Compaction, CompactionStarted
from holdfast.store.interface import Approval

Write = Callable[[str, str, str], Awaitable[str]]
"""`(model or "", instructions, text) -> summary`: one plain request without tools."""


async def compact(
    outcome: Outcome, history: Sequence[Item], scene: Scene, transcript: Transcript, write: Write
) -> tuple[list[Item], Outcome | None]:
    """The history to send instead, checkpointed before anything is sent, and what policies say to its being shorter.

    What they have to tell the model goes with this one request: the next one asks them again.
    """
    if outcome.summarise is None:
        return list(history), None
    plan: Plan = outcome.summarise.plan
    trigger: Trigger = "manual" if plan.trigger == "manual" else "auto"
    scene.emit(CompactionStarted())
    scene.tell_warnings(await scene.judge(Compacting(**scene.header(), trigger=trigger)))
    summary = await _summary(plan, write) if plan.asks_model else None
    facts = await scene.judge.do(_approvals, scene)
    result = apply_summary(plan, summary, facts)
    if result.record.method == "none":
        scene.keep(result.record.message())
        scene.emit(_shown(result, scene))
        return list(history), None
    header = scene.header()
    await scene.judge.do(lambda: transcript.replace(result.history, compacted=header["id"]))
    done = await scene.judge(
        Compacted(
            **header,
            trigger=trigger,
            summary=result.summary,
            before=result.record.before.tokens,
            after=result.record.after.tokens,
            record=result.record.to_dict(),
        )
    )
    scene.tell_warnings(done)
    scene.emit(_shown(result, scene))
    return list(result.history), done


async def _summary(plan: Plan, write: Write) -> str | None:
    """The model's words, or None: then the history is only pruned and the run goes on (CO7)."""
    try:
        return await asyncio.wait_for(write(plan.model, plan.prompt, plan.input), plan.timeout_seconds)
    except Exception:
        return None


def _approvals(scene: Scene) -> list[ApprovalFact]:
    """What the person has answered in this session, oldest first, from the records themselves (CO6)."""
    known = scene.control.store.approvals(status="answered", session=scene.where.session, limit=200)
    return [_fact(approval) for approval in reversed(known) if approval.answer is not None]


def _fact(approval: Approval) -> ApprovalFact:
    accesses: Any = approval.question.get("accesses") or ()
    targets = tuple(str(access["target"]) for access in accesses) or (approval.tool,)
    assert approval.answer is not None
    return ApprovalFact(targets, approval.answer, approval.answered_by)


def _shown(result: CompactionResult, scene: Scene) -> Compaction:
    record = result.record
    return Compaction(
        method=record.method,
        before=record.before.tokens,
        after=record.after.tokens,
        summary=result.summary,
        dropped_tools=dict(record.dropped_tools),
        message=record.message().text(scene.language),
    )
