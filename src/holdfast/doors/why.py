"""The story of one recorded decision, and the command that would change it (AU3)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.core.patterns import Rule, escaped
from holdfast.core.targets import Target
from holdfast.doors.output import moment, visible

_REDACTED = "[redacted:"


@dataclass(frozen=True, slots=True)
class Explanation:
    event_id: str
    decision: str
    who: str
    reason: str
    rule: str
    """The deciding rule and where it stands; empty when no rule decided."""
    what: str
    at: float
    others: tuple[str, ...]
    """What else was found, stricter or not."""
    change: tuple[str, ...]
    """Commands that would change it, each with a word on what it does."""

    def lines(self) -> Iterator[str]:
        yield f"{self.event_id}  {moment(self.at)}  {self.decision or 'no decision'}: {visible(self.what, 100)}"
        yield f"  decided by {self.who}"
        if self.reason:
            yield f"  because {visible(self.reason)}"
        if self.rule:
            yield f"  rule {self.rule}"
        for other in self.others:
            yield f"  also {visible(other)}"
        for change in self.change:
            yield f"  to change it: {change}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "eventId": self.event_id,
            "decision": self.decision,
            "decidedBy": self.who,
            "reason": self.reason,
            "rule": self.rule,
            "what": self.what,
            "timestamp": self.at,
            "others": list(self.others),
            "change": list(self.change),
        }


def explanation(entry: Mapping[str, Any], own: Sequence[Rule]) -> Explanation:
    """`own` are the rules of the user's file as it is now: the record may name a place that has changed since."""
    findings = [f for f in entry.get("findings", ()) if isinstance(f, Mapping)]
    rule = entry.get("rule") or {}
    place = f"{rule['source']}:{rule['line']}" if rule.get("line") else rule.get("source", "")
    reason = str(entry.get("reason", ""))
    return Explanation(
        event_id=str(entry.get("eventId", "")),
        decision=str(entry.get("decision", "")),
        who=_who(entry),
        reason=reason,
        rule=f"{rule.get('decision')} {rule.get('domain')} {visible(str(rule.get('pattern')))} ({place})"
        if rule
        else "",
        what=_what(entry),
        at=float(entry.get("timestamp") or 0),
        others=tuple(
            f"{f.get('policy')}: {f.get('decision')}, {_text(f)}" for f in findings if _text(f) != reason and _text(f)
        ),
        change=tuple(dict.fromkeys(_changes(entry, own))),
    )


def _who(entry: Mapping[str, Any]) -> str:
    who = str(entry.get("decidedBy") or "?")
    if entry.get("answer"):
        return f"{who}, who answered {entry['answer']!r} to approval {entry.get('approval')}"
    if who == "pending":
        return f"nobody yet: approval {entry.get('approval')} was opened"
    policy = entry.get("policy")
    lifted = ", lifted by full access" if entry.get("lifted") else ""
    return f"{policy or 'no policy objected'}{lifted}" if who == "policy" else who


def _what(entry: Mapping[str, Any]) -> str:
    targets = ", ".join(str(target) for target in entry.get("targets") or ())
    return targets or str(entry.get("what") or entry.get("tool") or entry.get("approval") or "")


def _text(finding: Mapping[str, Any]) -> str:
    why = finding.get("why")
    return str(why.get("en", "")) if isinstance(why, Mapping) else ""


def _changes(entry: Mapping[str, Any], own: Sequence[Rule]) -> Iterator[str]:
    if entry.get("answer") or "tool" not in entry:
        return
    deciding = [
        finding
        for finding in entry.get("findings", ())
        if finding.get("decision") == entry.get("decision") or finding.get("lifted")
    ]
    if any(finding.get("hard") for finding in deciding):
        yield "nothing does; this limit holds in every mode and under every rule"
        return
    for finding in deciding:
        yield from _change(finding, own)


def _change(finding: Mapping[str, Any], own: Sequence[Rule]) -> Iterator[str]:
    if finding.get("policy") != "permission":
        yield f"{finding.get('policy')} decided, not a rule; see its settings with `holdfast config show`"
        return
    target = str(finding.get("target", ""))
    if _REDACTED in target:
        yield "the target was redacted, so no rule can be named for it"
        return
    decision, rule = finding.get("decision"), finding.get("rule") or {}
    if str(rule.get("source", "")).startswith("/") and decision != "allow":
        yield _removal(rule, own)
        if decision == "deny":
            return  # an allow is written above the user's denies, so it would change nothing
    if _code(finding) == "permission.outside_edit":
        yield "holdfast config set agents.runtime.permission.outsideEdit ask   (edits outside the vault ask)"
    wanted = "deny" if decision == "allow" else "allow"
    try:
        pattern = escaped(Target.parse(target))
    except ValueError:
        return
    yield f"holdfast rules add {wanted} {finding.get('domain')} {shlex.quote(pattern)}"


def _removal(rule: Mapping[str, Any], own: Sequence[Rule]) -> str:
    wanted = (rule.get("domain"), rule.get("pattern"), rule.get("decision"))
    for known in own:
        if (known.domain, known.pattern, known.decision) == wanted:
            return f"holdfast rules remove {known.index}   (takes the rule away)"
    return "nothing is needed; the rule has been taken out of the configuration since"


def _code(finding: Mapping[str, Any]) -> str:
    why = finding.get("why")
    return str(why.get("code", "")) if isinstance(why, Mapping) else ""
