"""What `read_command` answers: the reading of one shell command, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Risk = Literal["safe", "caution", "dangerous"]
EffectKind = Literal[
    "reads",
    "writes",
    "deletes",
    "runs",
    "network",
    "installs",
    "changes_permissions",
    "git_history",
    "external_state",
]
RISK_ORDER: Mapping[Risk, int] = {"safe": 0, "caution": 1, "dangerous": 2}


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One command that would really run, after every wrapper around it was followed."""

    name: str
    """Base name of the program: `rm` for `/bin/rm`, `\\rm` and `r''m`."""
    argv: tuple[str, ...]
    text: str
    """As one would write it in a rule: `git status -s`."""
    span: tuple[int, int]
    """Where the statement stands in the text that was read."""
    via: tuple[str, ...] = ()
    """The wrappers it came through, outermost first: `("sudo", "bash -c")`."""
    dynamic: bool = False
    """Some part is only known when it runs (a variable, the output of a command)."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing the command would do to one target."""

    kind: EffectKind
    target: str = ""
    detail: str = ""
    by: SimpleCommand | None = None
    whole: bool = False
    """For reads: the complete content of the file is printed."""
    certain: bool = True
    """False when the target holds a pattern or a value not known before it runs."""
    path: bool = False
    """The target is a path on this machine."""

    def to_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {"kind": self.kind, "target": self.target}
        if self.detail:
            result["detail"] = self.detail
        if self.by is not None:
            result["by"] = self.by.text
        if self.kind == "reads":
            result["whole"] = self.whole
        result["certain"] = self.certain
        result["path"] = self.path
        return result


@dataclass(frozen=True, slots=True)
class CommandReading:
    """The answer. `read_only` is true only when proven; what is `unknown` is never safe."""

    command: str
    risk: Risk
    reason: str
    reason_code: str
    reason_params: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False
    unknown: bool = False
    unknown_why: str = ""
    effects: tuple[Effect, ...] = ()
    simple_commands: tuple[SimpleCommand, ...] = ()
    compound: bool = False
    has_error: bool = False
    incomplete: bool = False
    """Not all of it was followed (too long, too deep, a loop over many values): effects may be missing."""
    danger_codes: tuple[str, ...] = ()
    """The codes of every dangerous thing in it; `reason_code` names only the first."""
    assigned: tuple[str, ...] = ()
    """Variables it sets, for one command (`A=1 git status`) or for what follows: names then may mean other programs."""

    def to_dict(self) -> dict[str, Any]:
        """One line of `holdfast shell explain --jsonl`."""
        result: dict[str, Any] = {
            "command": self.command,
            "risk": self.risk,
            "read_only": self.read_only,
            "unknown": self.unknown,
            "effects": [effect.to_dict() for effect in self.effects],
            "reason": self.reason,
            "reason_code": self.reason_code,
        }
        if self.unknown:
            result["unknown_why"] = self.unknown_why
        if self.has_error:
            result["has_error"] = True
        return result
