"""How much harm a change could do, before anybody reads it (MB3, MB4).

Sensitive places are looked for first, on whole path components: `sso` is not in `lesson.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from holdfast.core.default_rules import CREDENTIALS
from holdfast.core.events import ToolCall
from holdfast.core.patterns import Rule, expressions, folded
from holdfast.core.settings import MemorySettings
from holdfast.core.targets import Access

Risk = Literal["low", "medium", "high"]
_ORDER: dict[Risk, int] = {"low": 0, "medium": 1, "high": 2}

HIGH: tuple[str, ...] = (
    "**/src/auth/**",
    "**/src/security/**",
    "**/package.json",
    "**/tsconfig.json",
    "**/docker/**",
    "**/infra/**",
    "**/plugin/**/*.ts",
    "**/.github/workflows/**",
    "**/.github/actions/**",
    "**/.gitlab-ci.yml",
    "**/.circleci/**",
    "**/.buildkite/**",
    "**/.travis.yml",
    "**/azure-pipelines.yml",
    "**/bitbucket-pipelines.yml",
    "**/Jenkinsfile",
)
LOW: tuple[str, ...] = ("**/*.md", "**/*.txt", "**/*.json")
_OUTSIDE_STATE = frozenset({"external_state"})
_LOCAL_CHANGES = frozenset({"writes", "deletes", "installs", "changes_permissions", "git_history", "runs"})


def worst(risks: Iterable[Risk]) -> Risk | None:
    return max(risks, key=_ORDER.__getitem__, default=None)


def at_least(risk: Risk | None, floor: Risk) -> bool:
    return risk is not None and _ORDER[risk] >= _ORDER[floor]


@lru_cache(maxsize=64)
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    """One expression for a whole list: this is asked about every file that is written."""
    rules = (Rule("edit", f"fs:{_anchored(pattern)}", "ask") for pattern in patterns)
    parts = [expression for rule in rules for expression in expressions(rule, fold_case=True)]
    return re.compile("|".join(parts)) if parts else None


def _anchored(pattern: str) -> str:
    if pattern.startswith("/"):
        return pattern
    return f"/{pattern}" if "/" in pattern else f"/**/{pattern}"


def _under(path: str, patterns: tuple[str, ...]) -> bool:
    found = _any_of(patterns)
    return found is not None and found.fullmatch(f"fs:{folded(path, True)}") is not None


def path_risk(path: str, settings: MemorySettings) -> Risk:
    """The risk of changing one file; `path` begins with `/`, relative to the vault or absolute."""
    if _under(path, settings.high_risk) or _under(path, HIGH) or _under(path, CREDENTIALS):
        return "high"
    if _under(path, settings.low_risk) or _under(path, LOW):
        return "low"
    return "medium"


def risk_of(call: ToolCall, settings: MemorySettings) -> Risk | None:
    """The risk of a call; None when it is known to change nothing."""
    risks = [path_risk(access.target.value, settings) for access in changes(call)]
    if risks and call.files > 1:
        risks.append("medium")
    reading = call.reading
    if reading is not None:
        kinds = {effect.kind for effect in reading.effects}
        if kinds & _OUTSIDE_STATE:
            risks.append("high")
        elif not reading.read_only and (reading.unknown or not risks or kinds & _LOCAL_CHANGES - {"writes", "deletes"}):
            # What cannot be proven to only read may write: it is never treated as safe.
            risks.append("medium")
    return worst(risks)


def changes(call: ToolCall) -> list[Access]:
    """The files a call would write or delete."""
    return [access for access in call.accesses if access.domain == "edit" and access.target.scheme in ("vault", "fs")]
