"""What policies conclude, and the one place where conclusions are weighed.

Precedence is stated here and nowhere else: hard deny > deny > ask > allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.core.messages import Message, Phrase

Decision = Literal["allow", "ask", "deny"]
Mode = Literal["agent", "full_access"]
Audience = Literal["model", "user", "both"]
SealReason = Literal["threshold", "budget", "compressions", "manual", "handoff", "reaped"]

UNATTENDED = Phrase(
    "merge.unattended",
    "Nobody can be asked in this run, so it was denied. Add an allow rule, or run it with a person present.",
    "本次运行无人可询问，因此已拒绝。请添加允许规则，或在有人值守时运行。",
)

_WEIGHT: Mapping[Decision, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class RuleRef:
    """Which rule decided, and where it stands."""

    pattern: str
    decision: Decision
    domain: str = ""
    source: str = "built-in"
    """`built-in`, `inline`, a template's name, or the file that holds it."""
    line: int | None = None
    index: int | None = None
    """Position among the rules of its source, from 0."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "pattern": self.pattern,
            "decision": self.decision,
            "domain": self.domain,
            "source": self.source,
            "line": self.line,
            "index": self.index,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RuleRef:
        return cls(**data)


@dataclass(frozen=True, slots=True)
class Finding:
    """One policy's opinion on one aspect of an event."""

    policy: str
    decision: Decision
    why: Message
    hard: bool = False
    """A hard deny holds in every mode and is never outweighed."""
    by_default: bool = False
    """A deny of our own defaults (not of a user's rule): full access may lift it (MO2)."""
    rule: RuleRef | None = None
    target: str = ""
    domain: str = ""
    next_step: Message | None = None
    lifted: bool = False
    """True when full access turned an ask or a default deny into this allow."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "decision": self.decision,
            "hard": self.hard,
            "why": self.why.to_dict(),
            "rule": self.rule.to_dict() if self.rule else None,
            "target": self.target,
            "domain": self.domain,
            "next": self.next_step.to_dict() if self.next_step else None,
            "lifted": self.lifted,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Finding:
        return cls(
            policy=data["policy"],
            decision=data["decision"],
            why=Message.from_dict(data["why"]),
            hard=data["hard"],
            rule=RuleRef.from_dict(data["rule"]) if data["rule"] else None,
            target=data["target"],
            domain=data["domain"],
            next_step=Message.from_dict(data["next"]) if data["next"] else None,
            lifted=data["lifted"],
        )


@dataclass(frozen=True, slots=True)
class Inject:
    """Text to put where the model or the user sees it."""

    text: str
    audience: Audience = "model"
    sentinel: str = ""
    """When set, the text is injected only where this mark does not stand already."""


@dataclass(frozen=True, slots=True)
class Spill:
    """An output too large to hand on: keep it whole, hand on the preview."""

    text: str
    preview: str
    tool: str
    call_id: str
    suffix: Literal[".txt", ".json"]
    lines: int
    size: int


@dataclass(frozen=True, slots=True)
class Summarise:
    """A history to be summarised; the plane's caller asks the model and applies the result."""

    plan: Any
    """A `core.compaction_plan.Plan`."""


@dataclass(frozen=True, slots=True)
class Seal:
    """The session is to be sealed as soon as no turn or approval is open."""

    reason: SealReason
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Settle:
    """A user's message confirmed or skipped a proposal for the memory bank."""

    proposal: str
    """The id of the call that made it."""
    answer: Literal["apply", "skip"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything one policy asks for at one event."""

    findings: tuple[Finding, ...] = ()
    rewrite_input: Mapping[str, Any] | None = None
    rewrite_output: str | None = None
    inject: tuple[Inject, ...] = ()
    warnings: tuple[Message, ...] = ()
    """Shown to the user; the model sees them only where the host has no other way."""
    spill: Spill | None = None
    summarise: Summarise | None = None
    seal: Seal | None = None
    settle: tuple[Settle, ...] = ()
    history: tuple[Any, ...] | None = None
    """A replaced history (pruned or rewritten items), for `HistorySending`."""
    model_params: Mapping[str, Any] | None = None
    system: str | None = None


NOTHING = Verdict()


@dataclass(frozen=True, slots=True)
class Merged:
    """The weighed sum of all verdicts on one event."""

    decision: Decision
    findings: tuple[Finding, ...]
    deciding: Finding | None
    """The finding that carried the day; None when nobody had an opinion."""
    inject: tuple[Inject, ...] = ()
    warnings: tuple[Message, ...] = ()
    spill: Spill | None = None
    summarise: Summarise | None = None
    seal: Seal | None = None
    settle: tuple[Settle, ...] = ()
    rewrite_output: str | None = None
    history: tuple[Any, ...] | None = None
    model_params: Mapping[str, Any] | None = None
    system: str | None = None

    @property
    def hard(self) -> bool:
        return self.deciding is not None and self.deciding.hard


def weight(finding: Finding) -> int:
    """Where a finding stands in the order of precedence."""
    return 3 if finding.hard and finding.decision == "deny" else _WEIGHT[finding.decision]


def apply_mode(finding: Finding, mode: Mode) -> Finding:
    """Full access lifts permission's asks and default denies, and nothing else (MO2)."""
    if mode != "full_access" or finding.policy != "permission" or finding.hard or finding.decision == "allow":
        return finding
    if finding.decision == "deny" and not finding.by_default:
        return finding
    return replace(finding, decision="allow", lifted=True)


def stand_aside(finding: Finding) -> Finding:
    """While a person has paused Holdfast only the hard limits hold; what would have been decided stays on record."""
    if finding.hard or finding.decision == "allow":
        return finding
    return replace(finding, decision="allow", lifted=True)


def merge(
    verdicts: Iterable[Verdict], mode: Mode = "agent", *, interactive: bool = True, paused: bool = False
) -> Merged:
    """Weigh all verdicts: hard deny > deny > ask > allow; on a tie the earlier finding decides.

    Where nobody can be asked an ask is a deny with a reason, never a hang (PE9).
    """
    findings: list[Finding] = []
    inject: list[Inject] = []
    warnings: list[Message] = []
    spill: Spill | None = None
    summarise: Summarise | None = None
    seal: Seal | None = None
    settle: list[Settle] = []
    output: str | None = None
    history: tuple[Any, ...] | None = None
    params: Mapping[str, Any] | None = None
    system: str | None = None
    for verdict in verdicts:
        if verdict is NOTHING:
            continue
        findings.extend(apply_mode(finding, mode) for finding in verdict.findings)
        inject.extend(verdict.inject)
        warnings.extend(verdict.warnings)
        spill = verdict.spill or spill
        summarise = verdict.summarise or summarise
        seal = seal or verdict.seal
        settle.extend(verdict.settle)
        output = verdict.rewrite_output if verdict.rewrite_output is not None else output
        history = verdict.history if verdict.history is not None else history
        params = verdict.model_params if verdict.model_params is not None else params
        system = verdict.system if verdict.system is not None else system
    if paused:
        findings = list(map(stand_aside, findings))
    if not interactive:
        findings = [
            replace(f, decision="deny", next_step=f.next_step or UNATTENDED()) if f.decision == "ask" else f
            for f in findings
        ]
    deciding = max(findings, key=weight, default=None)
    return Merged(
        decision=deciding.decision if deciding else "allow",
        findings=tuple(findings),
        deciding=deciding,
        inject=tuple(inject),
        warnings=tuple(warnings),
        spill=spill,
        summarise=summarise,
        seal=seal,
        settle=tuple(settle),
        rewrite_output=output,
        history=history,
        model_params=params,
        system=system,
    )
