"""What the audit says about an event and what became of it (AU1): one entry for every decision, ready to be chained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.core import events as ev
from holdfast.core.events import Event, ToolCalling
from holdfast.core.outcome import Outcome


def audit_entries(event: Event, outcome: Outcome) -> tuple[Mapping[str, Any], ...]:
    """One entry for every decision, also for what was allowed by itself (AU1)."""
    if isinstance(event, ToolCalling):
        return (_tool_entry(event, outcome),)
    if isinstance(event, ev.ApprovalAnswered):
        decision = "deny" if event.answer == "deny" else "allow"
        entry = _entry(event, decision, event.by)
        entry.update(approval=event.approval, callId=event.call_id, answer=event.answer, message=event.message)
        entry["rules"] = [rule.ref().to_dict() for rule in event.rules]
        return (entry,)
    if isinstance(event, ev.ModeChanged):
        entry = _entry(event, "allow", event.by)
        entry.update(what="mode_changed", to=event.to)
        return (entry,)
    if outcome.findings or outcome.seal is not None:
        entry = _entry(event, outcome.decision, "policy")
        entry.update(what=event.kind, findings=[finding.to_dict() for finding in outcome.findings])
        if outcome.seal is not None:
            entry["seal"] = outcome.seal.reason
        return (entry,)
    return ()


def _entry(event: Event, decision: str, by: str) -> dict[str, Any]:
    where = event.where
    return {
        "eventId": event.id,
        "sessionId": where.session,
        "user": where.user,
        "agent": where.agent,
        "thread": where.thread,
        "subagent": where.subagent,
        "invocation": event.invocation,
        "mode": event.mode,
        "decision": decision,
        "permissionDomain": "",
        "targets": [],
        "rulePattern": "",
        "timestamp": event.at,
        "decidedBy": by,
    }


def _tool_entry(event: ToolCalling, outcome: Outcome) -> Mapping[str, Any]:
    call = event.call
    deciding = outcome.deciding
    by = "pending" if outcome.decision == "ask" else "policy"
    entry = _entry(event, outcome.decision, by)
    entry["permissionDomain"] = call.domain
    entry["targets"] = [str(access.target) for access in call.accesses]
    entry["accesses"] = [access.to_dict() for access in call.accesses]
    entry["readOnly"] = call.reading is not None and call.reading.read_only
    entry["interactive"] = event.interactive
    if event.orders:
        entry["orders"] = event.orders
    if deciding is not None:
        entry["policy"] = deciding.policy
        entry["reason"] = deciding.why.text()
        if deciding.rule is not None:
            entry["rulePattern"] = deciding.rule.pattern
            entry["rule"] = deciding.rule.to_dict()
    entry["lifted"] = any(finding.lifted for finding in outcome.findings)
    entry["findings"] = [finding.to_dict() for finding in outcome.findings]
    entry["callId"] = call.id
    entry["tool"] = call.tool
    entry["approval"] = outcome.approval
    return entry
