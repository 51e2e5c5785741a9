"""What the plane answers: the merged decision and everything that was done about it.

Hosts render it in their own dialect, the runtime acts on it, the page shows it. It is also what is remembered by
call id, so it can be written down and read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from holdfast.core.messages import Language, Message, Phrase, plain
from holdfast.core.verdict import Decision, Finding, Inject, Merged, Seal, Summarise

_LINES = Phrase("outcome.lines", "{first}\n{rest}", "{first}\n{rest}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one event."""

    decision: Decision
    event_id: str
    findings: tuple[Finding, ...] = ()
    deciding: Finding | None = None
    approval: str = ""
    """Set while a person is asked, and afterwards."""
    input: Mapping[str, Any] | None = None
    """The input that was judged, when hooks changed it: this is what must run."""
    output: str | None = None
    """The output the model is to see, when it was changed or cut."""
    full_output: str = ""
    """Where the uncut output lies."""
    inject: tuple[Inject, ...] = ()
    warnings: tuple[Message, ...] = ()
    summarise: Summarise | None = None
    seal: Seal | None = None
    history: tuple[Any, ...] | None = None
    model_params: Mapping[str, Any] | None = None
    system: str | None = None
    refusal: str = ""
    """A person's own words with a denial."""
    again: bool = False
    """True when this answer was remembered, not decided anew."""
    changes: tuple[str, ...] = ()
    """Where the files really lie that the call is known to change; only for a call that was just judged."""
    changes_more: bool = False
    """True when it may change more than could be told."""

    @property
    def allowed(self) -> bool:
        return self.decision == "allow"

    def reason(self, language: Language = "en") -> str:
        """Why, in words, with the one next step; ready to be shown to the model."""
        return self.explained().text(language)

    def explained(self) -> Message:
        """The same in every language."""
        parts: list[Message] = []
        if self.deciding is not None:
            parts.append(self.deciding.why)
            if self.deciding.next_step is not None:
                parts.append(self.deciding.next_step)
        if self.refusal:
            parts.append(plain(self.refusal))
        return reduce(lambda first, rest: _LINES(first=first, rest=rest), parts) if parts else plain("")

    def to_dict(self) -> dict[str, Any]:
        """What is remembered and shown; injected text and histories are acts of the moment and are not kept."""
        return {
            "decision": self.decision,
            "event": self.event_id,
            "approval": self.approval,
            "findings": [finding.to_dict() for finding in self.findings],
            "deciding": self.findings.index(self.deciding) if self.deciding in self.findings else None,
            "input": dict(self.input) if self.input is not None else None,
            "warnings": [warning.to_dict() for warning in self.warnings],
            "refusal": self.refusal,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        findings = tuple(Finding.from_dict(entry) for entry in data["findings"])
        return cls(
            decision=data["decision"],
            event_id=data["event"],
            approval=data["approval"],
            findings=findings,
            deciding=findings[data["deciding"]] if data["deciding"] is not None else None,
            input=data["input"],
            warnings=tuple(Message.from_dict(entry) for entry in data["warnings"]),
            refusal=data["refusal"],
            again=True,
        )


def from_merged(merged: Merged, event_id: str) -> Outcome:
    return Outcome(
        decision=merged.decision,
        event_id=event_id,
        findings=merged.findings,
        deciding=merged.deciding,
        output=merged.rewrite_output,
        inject=merged.inject,
        warnings=merged.warnings,
        summarise=merged.summarise,
        seal=merged.seal,
        history=merged.history,
        model_params=merged.model_params,
        system=merged.system,
    )


def denied(event_id: str, finding: Finding) -> Outcome:
    return Outcome("deny", event_id, (finding,), finding)


def settled(outcome: Outcome, decision: Decision, refusal: str = "") -> Outcome:
    """The same question after a person answered it."""
    return replace(outcome, decision=decision, refusal=refusal, again=True)
