"""The memory bank: its state, and what agents propose for it, settled by the service that every door uses (MB5)."""

from __future__ import annotations

from typing import Literal, TypedDict

from holdfast.core.messages import message_of
from holdfast.core.proposals import ProposalError
from holdfast.doors.memory_data import injected, memory_status
from holdfast.doors.web import setting_shapes as shapes
from holdfast.doors.web.chat import GONE_CURSOR
from holdfast.doors.web.records import Answer, Records
from holdfast.doors.web.routes import ApiError, Call, Route, not_found
from holdfast.memory_bank import Proposal

MOST_PROPOSALS = 200
MOST_FILES = 500
LONGEST_DIFF = 400_000
_MOST_SESSIONS = 2000


class SettleBody(TypedDict):
    answer: Literal["apply", "skip", "undo"]


def status(call: Call) -> Answer:
    """What is there and what is injected, for a project that the record knows."""
    records = call.server.records
    known = _vaults(records)
    vault = call.query["vault"] or records.vault or (known[0] if known else "")
    if vault not in known:
        raise not_found("project", vault)
    settings = records.control.settings.runtime.memory
    found = memory_status(vault, settings)
    return {
        **found,
        "files": found["files"][:MOST_FILES],
        "enabled": settings.enabled,
        "pending": sum(1 for one in _visible(records) if (one.vault, one.status) == (vault, "pending")),
        "injected": injected(vault, settings),
        "vaults": known,
    }


def _vaults(records: Records) -> list[str]:
    """Projects of this user: a page may look into no other folder."""
    rows = records.store.sessions(user=records.control.user, limit=_MOST_SESSIONS)
    return list(dict.fromkeys((*([records.vault] if records.vault else []), *(row.vault for row in rows if row.vault))))


def _visible(records: Records) -> list[Proposal]:
    return [one for one in records.control.memory_bank.all() if one.user in ("", records.control.user)]


def list_proposals(call: Call) -> Answer:
    """Newest first: what, by whom, why, and what became of it."""
    records, query = call.server.records, call.query
    limit = call.number("limit", 50, MOST_PROPOSALS, 1)
    found = [
        one
        for one in _visible(records)
        if query["vault"] in (None, one.vault) and query["status"] in (None, one.status)
    ]
    rest = found
    if query["cursor"] is not None:
        place = next((at for at, one in enumerate(found) if one.id == query["cursor"]), None)
        if place is None:
            raise ApiError(422, "bad_cursor", GONE_CURSOR())
        rest = found[place + 1 :]
    shown = rest[:limit]
    return {
        "proposals": [_row(one) for one in shown],
        "cursor": shown[-1].id if len(rest) > limit else None,
        "total": len(found),
    }


def _row(one: Proposal) -> Answer:
    return {
        "id": one.id,
        "vault": one.vault,
        "path": one.path,
        "why": one.why,
        "at": one.at,
        "by": one.by,
        "thread": one.thread,
        "session": one.session,
        "status": one.status,
        "settledAt": one.settled_at,
        "settledBy": one.settled_by,
    }


def show_proposal(call: Call) -> Answer:
    records = call.server.records
    return _detail(records, _proposal(records, call.path["proposal"]))


def _proposal(records: Records, name: str) -> Proposal:
    try:
        found = records.control.memory_bank.get(name)
    except ProposalError:
        raise not_found("proposal", name) from None
    if found.user not in ("", records.control.user):
        raise not_found("proposal", name)
    return found


def _detail(records: Records, one: Proposal) -> Answer:
    diff, problem = "", None
    if one.status == "pending":
        try:
            diff = records.control.memory_bank.diff(one)[:LONGEST_DIFF]
        except (ProposalError, OSError) as error:
            problem = message_of(error).to_dict()
    return {**_row(one), "diff": diff, "problem": problem}


def settle(call: Call) -> Answer:
    """Write it, leave it, or put the file back; refused when it was settled before or no longer fits."""
    records = call.server.records
    found = _proposal(records, call.path["proposal"])
    bank, by = records.control.memory_bank, records.control.user
    act = {"apply": bank.apply, "skip": bank.skip, "undo": bank.undo}[call.body["answer"]]
    try:
        return _detail(records, act(found.id, by=by))
    except (ProposalError, OSError) as error:
        raise ApiError(409, "cannot_settle", message_of(error), was=found.status) from None


ROUTES = (
    Route("GET", "/api/memory", status, "The memory bank", query={"vault": str}, returns=shapes.MemoryStatus),
    Route(
        "GET", "/api/memory/proposals", list_proposals, "Proposals for it",
        query={"vault": str, "status": Literal["pending", "applied", "skipped", "undone"], "cursor": str, "limit": int},
        returns=shapes.Proposals,
    ),
    Route("GET", "/api/memory/proposals/{proposal}", show_proposal, "One with its diff", returns=shapes.ProposalDetail),
    Route(
        "POST", "/api/memory/proposals/{proposal}", settle, "Write, leave or undo one",
        body=SettleBody, returns=shapes.ProposalDetail,
    ),
)  # fmt: skip
