"""The story of one recorded decision, and the command that would change it (AU3)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.core.messages import Message, Phrase, plain
from holdfast.core.patterns import Rule, escaped
from holdfast.core.targets import Target
from holdfast.doors.output import moment, visible

_REDACTED = "[redacted:"

ANSWERED = Phrase(
    "why.answered",
    "{who}, who answered {answer!r} to approval {approval}",
    "{who}，对审批 {approval} 的答复为 {answer!r}",
)
WAITS = Phrase("why.waits", "nobody yet: approval {approval} was opened", "尚无人决定：已发起审批 {approval}")
LIFTED = Phrase("why.lifted", "{policy}, lifted by full access", "{policy}，因完全访问权限而放行")
NO_OBJECTION = Phrase("why.no_objection", "no policy objected", "没有策略反对")
HARD = Phrase(
    "why.hard",
    "nothing does; this limit holds in every mode and under every rule",
    "无法更改；此限制在任何模式和任何规则下都有效",
)
NO_RULE = Phrase(
    "why.no_rule",
    "{policy} decided, not a rule; see its settings with `{command}`",
    "由 {policy} 决定，而非规则；请用 `{command}` 查看其设置",
)
REDACTED = Phrase(
    "why.redacted", "the target was redacted, so no rule can be named for it", "目标已脱敏，无法给出对应规则"
)
OUTSIDE_EDIT = Phrase(
    "why.outside_edit", "{command}   (edits outside the vault ask)", "{command}   （库外编辑改为询问）"
)
ADD_RULE = Phrase("why.add_rule", "{command}", "{command}")
REMOVE_RULE = Phrase("why.remove_rule", "{command}   (takes the rule away)", "{command}   （移除该规则）")
RULE_GONE = Phrase(
    "why.rule_gone",
    "nothing is needed; the rule has been taken out of the configuration since",
    "无需操作；该规则之后已从配置中移除",
)


@dataclass(frozen=True, slots=True)
class Explanation:
    event_id: str
    decision: str
    who: Message
    reason: str
    rule: str
    """The deciding rule and where it stands; empty when no rule decided."""
    what: str
    at: float
    others: tuple[str, ...]
    """What else was found, stricter or not."""
    change: tuple[Message, ...]
    """What would change it: a command where there is one, with a word on what it does."""

    def lines(self) -> Iterator[str]:
        yield f"{self.event_id}  {moment(self.at)}  {self.decision or 'no decision'}: {visible(self.what, 100)}"
        yield f"  decided by {self.who.text()}"
        if self.reason:
            yield f"  because {visible(self.reason)}"
        if self.rule:
            yield f"  rule {self.rule}"
        for other in self.others:
            yield f"  also {visible(other)}"
        for change in self.change:
            yield f"  to change it: {change.text()}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "eventId": self.event_id,
            "decision": self.decision,
            "decidedBy": self.who.text(),
            "reason": self.reason,
            "rule": self.rule,
            "what": self.what,
            "timestamp": self.at,
            "others": list(self.others),
            "change": [change.text() for change in self.change],
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
        change=tuple({change.text(): change for change in _changes(entry, own)}.values()),
    )


def _who(entry: Mapping[str, Any]) -> Message:
    who = str(entry.get("decidedBy") or "?")
    if entry.get("answer"):
        return ANSWERED(who=who, answer=entry["answer"], approval=entry.get("approval"))
    if who == "pending":
        return WAITS(approval=entry.get("approval"))
    if who != "policy":
        return plain(who)
    policy = entry.get("policy")
    if not policy and not entry.get("lifted"):
        return NO_OBJECTION()
    return LIFTED(policy=policy or NO_OBJECTION().text()) if entry.get("lifted") else plain(str(policy))


def _what(entry: Mapping[str, Any]) -> str:
    targets = ", ".join(str(target) for target in entry.get("targets") or ())
    return targets or str(entry.get("what") or entry.get("tool") or entry.get("approval") or "")


def _text(finding: Mapping[str, Any]) -> str:
    why = finding.get("why")
    return str(why.get("en", "")) if isinstance(why, Mapping) else ""


def _changes(entry: Mapping[str, Any], own: Sequence[Rule]) -> Iterator[Message]:
    if entry.get("answer") or "tool" not in entry:
        return
    deciding = [
        finding
        for finding in entry.get("findings", ())
        if finding.get("decision") == entry.get("decision") or finding.get("lifted")
    ]
    if any(finding.get("hard") for finding in deciding):
        yield HARD()
        return
    for finding in deciding:
        yield from _change(finding, own)


def _change(finding: Mapping[str, Any], own: Sequence[Rule]) -> Iterator[Message]:
    if finding.get("policy") != "permission":
        yield NO_RULE(policy=finding.get("policy"), command="holdfast config show")
        return
    target = str(finding.get("target", ""))
    if _REDACTED in target:
        yield REDACTED()
        return
    decision, rule = finding.get("decision"), finding.get("rule") or {}
    if str(rule.get("source", "")).startswith("/") and decision != "allow":
        yield _removal(rule, own)
        if decision == "deny":
            return  # an allow is written above the user's denies, so it would change nothing
    if _code(finding) == "permission.outside_edit":
        yield OUTSIDE_EDIT(command="holdfast config set agents.runtime.permission.outsideEdit ask")
    wanted = "deny" if decision == "allow" else "allow"
    try:
        pattern = escaped(Target.parse(target))
    except ValueError:
        return
    yield ADD_RULE(command=f"holdfast rules add {wanted} {finding.get('domain')} {shlex.quote(pattern)}")


def _removal(rule: Mapping[str, Any], own: Sequence[Rule]) -> Message:
    wanted = (rule.get("domain"), rule.get("pattern"), rule.get("decision"))
    for known in own:
        if (known.domain, known.pattern, known.decision) == wanted:
            return REMOVE_RULE(command=f"holdfast rules remove {known.index}")
    return RULE_GONE()


def _code(finding: Mapping[str, Any]) -> str:
    why = finding.get("why")
    return str(why.get("code", "")) if isinstance(why, Mapping) else ""
