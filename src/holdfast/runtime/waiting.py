"""Waiting for a person, for as long as it takes, without holding anything up (PE6).

The question lies in the store; whoever answers first decides, in this process or in any other. A run that is cut off
while it waits finds the question, or its answer, when it is taken up again.
"""

from __future__ import annotations

import asyncio

from holdfast.approvals import Approvals
from holdfast.runtime.judge import Judge
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


def answer_quietly(approvals: Approvals, approval_id: str, answer: str, *, by: str, message: str = "") -> None:
    """Answer, unless somebody else was first."""
    try:
        approvals.answer(approval_id, "deny" if answer == "deny" else "once", by=by, message=message)
    except AlreadyDecided:
        return
