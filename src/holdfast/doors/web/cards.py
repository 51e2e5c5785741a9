"""An approval as the page's card: what, why, by which rule from where, and which answers can be given (UI2)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from holdfast.core.messages import Phrase
from holdfast.doors.call_preview import Preview, preview, reader, shortened
from holdfast.doors.web.live_shapes import ApprovalCard, ProposalShape, ProposedRule, WhatShape
from holdfast.doors.web.readings import reading_data
from holdfast.doors.web.titles import title_of
from holdfast.store.interface import Approval, Store

ONLY_ONCE = Phrase(
    "proposals.only_once",
    "This can only be approved once: no rule would mean the same thing next time.",
    "此操作只能单次批准：没有规则能在下次表达同样的意思。",
)
_KEPT = 500


class Cards:
    """Makes cards. What was to happen is looked at once, while it waits: afterwards the file is another one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: OrderedDict[str, WhatShape] = OrderedDict()
        self._sessions: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._by_device: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def card(self, approval: Approval, device: str = "") -> ApprovalCard:
        question, where = approval.question, approval.where
        proposals = [_proposal(entry) for entry in question.get("proposals") or ()]
        given: dict[str, Any] = dict(question.get("input") or {})
        title, host = self._session(where.session)
        return {
            "id": approval.id,
            "status": approval.status,
            "policy": approval.policy,
            "tool": approval.tool,
            "callId": approval.call_id,
            "invocation": approval.invocation,
            "thread": where.thread,
            "session": where.session,
            "agent": where.agent,
            "subagent": where.subagent_name,
            "host": approval.host or host,
            "vault": approval.vault,
            "title": title,
            "createdAt": approval.created_at,
            "deadline": approval.deadline,
            "what": self._what(approval, given),
            "input": shortened(given),
            "findings": [_finding(entry) for entry in question.get("findings") or ()],
            "accesses": list(question.get("accesses") or ()),
            "proposals": proposals,
            "onlyOnce": _only_once(approval, proposals),
            "reading": reading_data(question.get("reading")),
            "answers": answers_of(approval),
            "answer": approval.answer,
            "answeredAt": approval.answered_at,
            "answeredBy": approval.answered_by,
            "answeredHere": bool(device) and self._by_device.get(approval.id) == device,
            "message": approval.message,
            "rules": list((approval.rule or {}).get("rules", ())),
        }

    def decided_by(self, approval_id: str, device: str) -> None:
        with self._lock:
            _put(self._by_device, approval_id, device)

    def _what(self, approval: Approval, given: dict[str, Any]) -> WhatShape:
        with self._lock:
            known = self._seen.get(approval.id)
        if known is not None:
            return known
        if approval.policy == "modes":
            shown = Preview("mode", "")
        elif approval.status == "pending":
            shown = preview(approval.tool, given, reader(approval.vault))
        else:
            shown = preview(approval.tool, given)
        what = what_shape(shown)
        with self._lock:
            _put(self._seen, approval.id, what)
        return what

    def _session(self, session: str) -> tuple[str, str]:
        """Its title and host; asked again while it has no title yet."""
        with self._lock:
            known = self._sessions.get(session)
        if known is not None and known[0]:
            return known
        row = self._store.session(session)
        found = (title_of(self._store, row), row.host) if row is not None else ("", "")
        with self._lock:
            _put(self._sessions, session, found)
        return found


def _put(kept: OrderedDict[str, Any], key: str, value: Any) -> None:
    kept[key] = value
    while len(kept) > _KEPT:
        kept.popitem(last=False)


def _only_once(approval: Approval, proposals: list[ProposalShape]) -> Any:
    """The reason that was found when it was asked; a question of an older version does not hold one."""
    if proposals or approval.policy in ("doom_loop", "modes"):
        return None
    kept = approval.question.get("onlyOnce")
    return kept if kept or approval.policy != "permission" else ONLY_ONCE().to_dict()


def what_shape(shown: Preview) -> WhatShape:
    return {"kind": shown.kind, "text": shown.text, "path": shown.path, "complete": shown.complete}


def answers_of(approval: Approval) -> list[Any]:
    """As the terminal offers them: what no rule stands for can only be answered once."""
    if approval.policy == "doom_loop":
        return ["once", "always", "for_a_while", "deny"]
    if approval.policy == "permission" and approval.question.get("proposals"):
        return ["once", "always", "for_a_while", "deny"]
    return ["once", "deny"]


def _finding(entry: dict[str, Any]) -> Any:
    """Findings of other makers than the plane leave things out."""
    blank = {"hard": False, "rule": None, "target": "", "domain": "", "next": None, "lifted": False}
    return {**blank, **entry}


def _proposal(entry: dict[str, Any]) -> ProposalShape:
    rules: list[ProposedRule] = [
        {"domain": rule["domain"], "pattern": rule["pattern"], "decision": rule["decision"]}
        for rule in entry.get("rules") or [entry]
    ]
    return {"rules": rules, "still": list(entry.get("still") or ())}
