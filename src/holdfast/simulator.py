"""Past decisions against edited rules: what would have been different (AU3).

Only permission is judged anew; what the other policies found at the time is taken from the record, so a decision that
a gate made stays made. A record whose targets were redacted cannot be judged again, and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.core.events import ToolCall, ToolCalling
from holdfast.core.keys import SessionId, SessionKey
from holdfast.core.patterns import Matcher
from holdfast.core.policy import EMPTY
from holdfast.core.targets import Access
from holdfast.core.verdict import Decision, Finding, Merged, Verdict, merge
from holdfast.policies.permission import NAME as PERMISSION
from holdfast.policies.permission import PermissionPolicy
from holdfast.shell.reading import CommandReading

_MARK = "[redacted:"
_PROGRESS_EVERY = 1000
_READ_ONLY = CommandReading("", "safe", "", "read_only", read_only=True)
_WHERE = SessionId(SessionKey("simulated", "simulated", "simulated"), "simulated")

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Change:
    """One past decision that the edited rules would make differently."""

    event_id: str
    session: str
    at: float
    tool: str
    target: str
    before: Decision
    after: Decision
    rule_before: str
    rule_after: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "eventId": self.event_id,
            "sessionId": self.session,
            "timestamp": self.at,
            "tool": self.tool,
            "target": self.target,
            "before": self.before,
            "after": self.after,
            "ruleBefore": self.rule_before,
            "ruleAfter": self.rule_after,
        }


@dataclass(slots=True)
class Simulation:
    """The sum of a replay."""

    replayed: int = 0
    changes: list[Change] = field(default_factory=list)
    redacted: list[str] = field(default_factory=list)
    """Events that cannot be judged again because their targets were taken out of the record."""
    unreadable: list[str] = field(default_factory=list)
    """Events whose record is of a form that is not known."""

    def totals(self) -> Counter[tuple[Decision, Decision]]:
        return Counter((change.before, change.after) for change in self.changes)

    def grouped(self) -> list[tuple[int, Change]]:
        """Equal changes counted together, the most frequent first; the newest stands for its group."""
        groups: dict[tuple[str, ...], list[Change]] = {}
        for change in self.changes:
            key = (change.tool, change.target, change.before, change.after, change.rule_after)
            groups.setdefault(key, []).append(change)
        return sorted(((len(same), same[-1]) for same in groups.values()), key=lambda group: -group[0])

    def to_dict(self) -> dict[str, Any]:
        return {
            "replayed": self.replayed,
            "changed": len(self.changes),
            "totals": [{"before": b, "after": a, "count": n} for (b, a), n in sorted(self.totals().items())],
            "changes": [change.to_dict() for change in self.changes],
            "redacted": self.redacted,
            "unreadable": self.unreadable,
        }


def simulate(
    entries: Iterable[Mapping[str, Any]],
    rules: Matcher,
    *,
    fold_case: bool = False,
    since: float | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Judge every recorded tool call again."""
    policy = PermissionPolicy(rules, fold_case=fold_case)
    result = Simulation()
    for entry in _decisions(entries, since):
        event_id = str(entry.get("eventId", ""))
        kind = _can_replay(entry)
        if kind == "redacted":
            result.redacted.append(event_id)
            continue
        try:
            change = _replay(entry, policy)
        except (KeyError, TypeError, ValueError, AttributeError):
            result.unreadable.append(event_id)
            continue
        result.replayed += 1
        if change is not None:
            result.changes.append(change)
        if progress is not None and result.replayed % _PROGRESS_EVERY == 0:
            progress(result.replayed)
    if progress is not None:
        progress(result.replayed)
    return result


def _decisions(entries: Iterable[Mapping[str, Any]], since: float | None) -> Iterator[Mapping[str, Any]]:
    for entry in entries:
        if "tool" in entry and "accesses" in entry and (since is None or entry.get("timestamp", 0) >= since):
            yield entry


def _can_replay(entry: Mapping[str, Any]) -> Literal["redacted", "yes"]:
    if not entry.get("redacted"):
        return "yes"
    texts = (text for access in entry["accesses"] for text in (access["target"], *access.get("also", ())))
    return "redacted" if any(_MARK in text for text in texts) else "yes"


def _replay(entry: Mapping[str, Any], policy: PermissionPolicy) -> Change | None:
    call = ToolCall(
        id=str(entry.get("callId", "")),
        tool=entry["tool"],
        domain=entry["permissionDomain"],
        accesses=tuple(Access.from_dict(access) for access in entry["accesses"]),
        reading=_READ_ONLY if entry.get("readOnly") else None,
    )
    mode = entry["mode"]
    interactive = entry.get("interactive", True)
    event = ToolCalling(
        id=entry["eventId"], at=entry["timestamp"], where=_WHERE, mode=mode, interactive=interactive, call=call
    )
    found = entry.get("findings", ())
    others = Verdict(tuple(Finding.from_dict(one) for one in found if one["policy"] != PERMISSION))
    after = merge([others, policy.decide(event, EMPTY)[0]], mode, interactive=interactive)
    before = _before(entry, found)
    if before == after.decision:
        return None
    return Change(
        event_id=entry["eventId"],
        session=entry["sessionId"],
        at=entry["timestamp"],
        tool=entry["tool"],
        target=_target(after, entry),
        before=before,
        after=after.decision,
        rule_before=str(entry.get("rulePattern", "")),
        rule_after=after.deciding.rule.pattern if after.deciding and after.deciding.rule else "",
    )


def _before(entry: Mapping[str, Any], findings: Iterable[Mapping[str, Any]]) -> Decision:
    """The decision of the rules at the time: what a person granted for half an hour was an ask to them."""
    decision: Decision = entry["decision"]
    granted = any(f["policy"] == PERMISSION and (f.get("rule") or {}).get("source") == "approval" for f in findings)
    return "ask" if decision == "allow" and granted else decision


def _target(merged: Merged, entry: Mapping[str, Any]) -> str:
    if merged.deciding is not None and merged.deciding.target:
        return merged.deciding.target
    targets = entry.get("targets") or [""]
    return str(targets[0])
