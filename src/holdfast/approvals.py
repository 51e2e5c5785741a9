"""Questions to a person: one service for the page, the terminal, the phone and every waiting hook (PE6).

The store decides who answered first; everybody else gets "already decided". Waiting is polling a revision number that
any process's commit changes, so a hook, a page and a terminal can wait on the same question.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from holdfast.audit_entries import audit_entries
from holdfast.core.events import Answer, ApprovalAnswered, ModeChanged
from holdfast.core.keys import SessionId
from holdfast.core.messages import Message, Phrase, message_of
from holdfast.core.outcome import Outcome
from holdfast.core.patterns import PatternError, Rule
from holdfast.core.targets import Domain
from holdfast.plane import Plane
from holdfast.rule_index import RuleIndex
from holdfast.store.interface import AlreadyDecided, Approval, Change, StoreError

A_WHILE = 30 * 60.0
_POLL_SECONDS = 0.02

_NOT_WRITTEN = Phrase(
    "approval.not_written", "approved once; the rule was not written: {error}", "仅批准一次；规则未写入：{error}"
)
_ONLY_ONCE = Phrase(
    "approval.only_once",
    "approval {id} can only be answered once: the command is compound or cannot be known before it runs, so no rule "
    "would mean the same thing next time",
    "审批 {id} 只能单次批准：命令是复合的，或在运行之前无法得知，没有规则能在下次表达同样的意思",
)
_NO_APPROVAL = Phrase(
    "approval.unknown",
    "no approval {id}; `holdfast approvals list` shows the open ones",
    "没有审批 {id}；`holdfast approvals list` 会列出待处理的",
)
_NOT_ABOUT = Phrase(
    "approval.not_about",
    "the rule {domain} {pattern} is not about what was asked ({asked})",
    "规则 {domain} {pattern} 与所问的内容（{asked}）无关",
)
_BAD_RULE = Phrase("approval.bad_rule", "the rule cannot be used: {error}", "此规则无法使用：{error}")


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of an answer."""

    approval: Approval
    problem: Message | None = None
    """Why `always` counted only once: the rule could not be written."""


class Approvals:
    """List, answer, expire, cancel and wait."""

    def __init__(
        self,
        plane: Plane,
        *,
        clock: Callable[[], float],
        new_id: Callable[[], str],
        write_rule: Callable[[Rule], Rule],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._plane = plane
        self._store = plane.store
        self._clock = clock
        self._new_id = new_id
        self._write_rule = write_rule
        self._sleep = sleep

    def pending(self, *, user: str | None = None, session: str | None = None) -> Sequence[Approval]:
        """What waits for an answer, newest first; what is past its deadline is settled on the way."""
        self.expire_due()
        return self._store.approvals(status="pending", user=user, session=session)

    def get(self, approval_id: str) -> Approval | None:
        return self._store.approval(approval_id)

    def answer(
        self,
        approval_id: str,
        answer: Answer,
        *,
        by: str,
        message: str = "",
        rule: Mapping[str, Any] | None = None,
    ) -> Answered:
        """Answer exactly once; raises `AlreadyDecided`. `rule` is the proposal the person saw and chose."""
        approval = self._existing(approval_id)
        now = self._clock()
        if approval.status != "pending":
            raise AlreadyDecided(approval)
        if approval.deadline is not None and now > approval.deadline:
            raise AlreadyDecided(self._store.settle_approval(approval_id, status="expired", at=now))
        chosen = self._chosen(approval, answer, rule, now)
        settled = replace(
            approval,
            status="answered",
            answer=answer,
            answered_at=now,
            answered_by=by,
            message=message,
            rule={"rules": [_plain(one) for one in chosen]} if chosen else None,
        )
        event = ApprovalAnswered(
            id=self._new_id(),
            at=now,
            where=approval.where,
            invocation=approval.invocation,
            approval=approval_id,
            call_id=approval.call_id,
            answer=answer,
            by=by,
            message=message,
            policy=approval.policy,
            rules=chosen,
        )
        self._plane.record_answer(event, settled)
        # Only now: a rule that nobody is on record for would be worse than one that is asked about again.
        problem = self._made_permanent(event) if answer == "always" else None
        if approval.policy == "modes" and answer == "deny":
            self._back_to_agent(approval, by, now)
        return Answered(settled, problem)

    def _made_permanent(self, event: ApprovalAnswered) -> Message | None:
        """Write the rules of an `always`; why it counted only once, in words and in the audit."""
        try:
            for rule in event.rules:
                self._write_rule(rule)
        except Exception as error:
            why = _NOT_WRITTEN(error=message_of(error))
            entry = {
                **audit_entries(replace(event, rules=()), Outcome("allow", event.id))[0],
                "what": "rule_not_written",
                "message": why.text(),
            }
            self._store.commit(Change(event.where, audit=(entry,)))
            return why
        return None

    def _back_to_agent(self, approval: Approval, by: str, now: float) -> None:
        """Full access that nobody confirmed is no full access (MO1)."""
        self._plane.handle(ModeChanged(id=self._new_id(), at=now, where=approval.where.main(), to="agent", by=by))

    def _chosen(
        self, approval: Approval, answer: Answer, rule: Mapping[str, Any] | None, now: float
    ) -> tuple[Rule, ...]:
        if answer not in ("always", "for_a_while") or approval.policy != "permission":
            return ()
        proposals = approval.question.get("proposals") or []
        if not proposals:
            raise StoreError(_ONLY_ONCE(id=repr(approval.id)))
        picked = rule or proposals[0]
        expires = now + A_WHILE if answer == "for_a_while" else None
        rules = picked.get("rules") or [picked]
        asked = {entry["domain"] for proposal in proposals for entry in proposal.get("rules") or [proposal]}
        return tuple(_checked(entry, asked, expires) for entry in rules)

    def expire_due(self) -> int:
        """Settle what is past its deadline; returns how many."""
        now = self._clock()
        count = 0
        for approval in self._store.approvals(status="pending", limit=1000):
            if approval.deadline is not None and now > approval.deadline:
                count += self._settle(approval.id, "expired", now)
        return count

    def expire(self, approval_id: str) -> None:
        """The one who waited gives up: it is denied for everybody."""
        self._settle(approval_id, "expired", self._clock())

    def cancel(self, *, where: SessionId | None = None, approval_id: str | None = None) -> int:
        """Stop or Cancel: the questions of a session, or one question, end without an answer."""
        now = self._clock()
        if approval_id is not None:
            return self._settle(approval_id, "cancelled", now)
        session = where.session if where else None
        open_ones = self._store.approvals(status="pending", session=session, limit=1000)
        return sum(self._settle(approval.id, "cancelled", now) for approval in open_ones)

    def _settle(self, approval_id: str, status: Any, now: float) -> int:
        try:
            self._store.settle_approval(approval_id, status=status, at=now)
        except AlreadyDecided:
            return 0
        return 1

    def wait(self, approval_id: str, *, seconds: float) -> Approval:
        """Wait until it is decided or the time is up; at its own deadline it expires."""
        end = self._clock() + seconds
        revision = self._store.revision()  # before the first look, so that no answer slips in between
        approval = self._existing(approval_id)
        while approval.status == "pending":
            now = self._clock()
            if approval.deadline is not None and now > approval.deadline:
                self._settle(approval_id, "expired", now)
                return self._existing(approval_id)
            if now >= end:
                break
            self._sleep(_POLL_SECONDS)
            latest = self._store.revision()
            if latest != revision:
                revision = latest
                approval = self._existing(approval_id)
        return approval

    def _existing(self, approval_id: str) -> Approval:
        approval = self._store.approval(approval_id)
        if approval is None:
            raise StoreError(_NO_APPROVAL(id=repr(approval_id)))
        return approval


def _checked(entry: Mapping[str, Any], asked: set[str], expires: float | None) -> Rule:
    """A rule a person may have edited: about what was asked, and one that can match at all."""
    domain, pattern = str(entry.get("domain", "")), str(entry.get("pattern", ""))
    if domain not in asked or not pattern.strip():
        raise StoreError(_NOT_ABOUT(domain=repr(domain), pattern=repr(pattern), asked=", ".join(sorted(asked))))
    rule = Rule(cast("Domain", domain), pattern, "allow", source="approval", expires=expires)
    try:
        RuleIndex([rule])
    except PatternError as error:
        raise StoreError(_BAD_RULE(error=error.message)) from None
    return rule


def _plain(rule: Rule) -> dict[str, Any]:
    return {"domain": rule.domain, "pattern": rule.pattern, "decision": rule.decision, "expires": rule.expires}
