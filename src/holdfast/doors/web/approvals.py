"""Approvals of every host and agent: the list, one card, and the answer, which counts once wherever it is given."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict, cast

from holdfast.doors.web.live_shapes import Answer, ApprovalCard, MessageShape, ProposedRule
from holdfast.doors.web.routes import ApiError, Call, Route, not_found
from holdfast.store.interface import AlreadyDecided, StoreError

MOST = 500


class ApprovalList(TypedDict):
    approvals: list[ApprovalCard]
    eventNo: int


class AnswerBody(TypedDict):
    answer: Answer
    message: NotRequired[str]
    rules: NotRequired[list[ProposedRule]]


class Answered(TypedDict):
    approval: ApprovalCard
    problem: MessageShape | None


def list_approvals(call: Call) -> ApprovalList:
    server = call.server
    number = server.hub.last
    control = server.control
    status = call.text("status", "pending")
    limit = call.number("limit", 100, MOST, 1)
    if status == "pending":
        found = control.approvals.pending()[:limit]
    else:
        control.approvals.expire_due()
        found = control.store.approvals(status=None if status == "all" else status, limit=limit)  # type: ignore[arg-type]
    return {"approvals": [server.cards.card(one, call.device.id) for one in found], "eventNo": number}


def show(call: Call) -> ApprovalCard:
    approval = call.server.control.approvals.get(call.path["id"])
    if approval is None:
        raise not_found("approval", call.path["id"])
    return call.server.cards.card(approval, call.device.id)


def answer(call: Call) -> Answered:
    """The store decides who was first; everybody else gets the card as it is now."""
    server, body = call.server, call.body
    approval_id, chosen = call.path["id"], body["answer"]
    approvals = server.control.approvals
    if approvals.get(approval_id) is None:
        raise not_found("approval", approval_id)
    rules = body.get("rules")
    try:
        done = approvals.answer(
            approval_id,
            chosen,
            by=f"{server.control.user} ({call.device.name})",
            message=body.get("message", "")[:10_000],
            rule={"rules": list(rules)} if rules else None,
        )
    except AlreadyDecided as decided:
        card = server.cards.card(decided.approval, call.device.id)
        server.watch.look()
        raise ApiError(409, "already_decided", decided.message, body={"approval": card}) from None
    except StoreError as error:
        if chosen not in ("always", "for_a_while"):
            raise
        # Nothing was settled: the rule is about something else, cannot be read, or none can stand for this.
        raise ApiError(422, "bad_rule", error.message) from None
    server.cards.decided_by(approval_id, call.device.id)
    server.watch.look()
    problem = cast("MessageShape", done.problem.to_dict()) if done.problem else None
    return {"approval": server.cards.card(done.approval, call.device.id), "problem": problem}


ROUTES = (
    Route(
        "GET",
        "/api/approvals",
        list_approvals,
        "What waits for an answer, newest first; `status` shows what is decided too.",
        query={"status": Literal["pending", "answered", "expired", "cancelled", "all"], "limit": int},
        returns=ApprovalList,
    ),
    Route("GET", "/api/approvals/{id}", show, "One card.", returns=ApprovalCard),
    Route(
        "POST",
        "/api/approvals/{id}/answer",
        answer,
        "Answer, exactly once; 409 `already_decided` carries the card.",
        body=AnswerBody,
        returns=Answered,
    ),
)
