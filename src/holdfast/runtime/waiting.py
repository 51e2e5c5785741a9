"""Waiting for a person, for as long as it takes, without holding anything up (PE6).

The question lies in the store; whoever answers first decides, in this process or in any other. A run that is cut off
while it waits finds the question, or its answer, when it is taken up again.
"""

from __future__ import annotations

import asyncio
import contextlib

from holdfast.core.events import Answer
from holdfast.core.verdict import UNATTENDED
from holdfast.runtime.judge import Judge
from holdfast.runtime.scene import Scene
from holdfast.store.interface import AlreadyDecided, Approval, Store, StoreError

POLL_SECONDS = 0.05


async def decided(approval_id: str, store: Store, judge: Judge) -> Approval:
    """The approval, once it is no longer pending."""
    revision = -1
    while True:
        latest = await judge.do(store.revision)
        if latest != revision:
            revision = latest
            approval = await judge.do(store.approval, approval_id)
            if approval is None:
                raise StoreError(f"approval {approval_id!r} is gone; its session was deleted")
            if approval.status != "pending":
                return approval
        await asyncio.sleep(POLL_SECONDS)


def answer_alone(scene: Scene, approval: Approval) -> bool:
    """Answer what a script may answer by itself; False when a person is to be asked."""
    answer = scene.answer_by_itself(approval)
    if answer is None:
        return False
    message = UNATTENDED().text(scene.language) if answer == "deny" else ""
    with contextlib.suppress(AlreadyDecided):  # somebody else was first
        chosen: Answer = "deny" if answer == "deny" else "once"
        scene.control.approvals.answer(approval.id, chosen, by="command line", message=message)
    return True
