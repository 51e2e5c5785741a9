"""Which session strategy holds for whom, and what it asks for at a given fill (SC9).

A strategy comes from the first of these that has one: an override of this run, a configured family that matches by
`match`, one that is known by its name, the host's default, the global default. What a host cannot do is taken back
here, with a note that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from holdfast.core.context_health import Health
from holdfast.core.messages import Message, Phrase
from holdfast.core.settings import Breed, SessionStrategy, Settings, StrategyName
from holdfast.core.tokens import usable

Action = Literal["none", "warn", "seal", "allow_compress", "seal_after_compress"]
Source = Literal["override", "config", "family", "provider", "global"]
Signal = Literal["yes", "inferred", "no"]

OWN_HOST = "holdfast"
GLOBAL_DEFAULT: StrategyName = "handoff"
HOST_DEFAULTS: Mapping[str, StrategyName] = {
    OWN_HOST: "hybrid",
    "claude-code": "hybrid",
    "codex": "handoff",
    "opencode": "handoff",
    "gemini": "compress",
}
FAMILIES: Mapping[str, str] = {"ragdoll": "claude-code", "maine-coon": "codex"}
"""The lesson's families, and the host of each."""
SIGNALS: Mapping[str, Signal] = {
    OWN_HOST: "yes",
    "claude-code": "yes",
    "codex": "yes",
    "opencode": "yes",
    "gemini": "inferred",
}
"""Whether a host tells that it has compacted."""
COMPACTS_AT: Mapping[str, tuple[float, int]] = {
    "claude-code": (1.0, 33_000),
    "codex": (0.9, 0),
    "opencode": (1.0, 32_000),
    "gemini": (0.5, 0),
}
"""Where a host compacts by itself: a share of the window, less so many tokens."""
HEADROOM = 0.03
"""How far below that point we act, and again how far below that we warn."""

LOWERED = Phrase(
    "strategy.lowered",
    "{host} compacts by itself at about {point}, so the session is sealed from {action} on instead of {configured}.",
    "{host} 在约 {point} 时会自行压缩，因此改为从 {action}（而非 {configured}）起封存会话。",
)
NO_SIGNAL = Phrase(
    "strategy.no_signal",
    "{host} does not tell when it has compacted, so the strategy hybrid falls back to handoff.",
    "{host} 不会告知何时压缩过，因此 hybrid 策略退回为 handoff。",
)
INFERRED = Phrase(
    "strategy.inferred",
    "{host} does not tell when it has compacted; it is concluded from other traces, so the count is approximate.",
    "{host} 不会告知何时压缩过，只能从其他迹象推断，因此次数是近似值。",
)


@dataclass(frozen=True, slots=True)
class Effective:
    """The strategy that holds for one agent, in one host, with one model."""

    strategy: StrategyName
    warn: float
    action: float
    max_compressions: int
    reserve: int | None
    """The user's own budget reserve; None: the measure's."""
    chain: bool
    """False: measure and record, never seal."""
    source: Source
    family: str = ""
    approximate: bool = False
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Who:
    host: str
    agent: str = ""
    model: str = ""


def effective(
    settings: Settings,
    who: Who,
    window: int | None = None,
    reserve: int | None = None,
    override: SessionStrategy | None = None,
    signals: Mapping[str, Signal] = SIGNALS,
) -> Effective:
    """Resolve who has the say, then fit it to what the host can do."""
    breed, source = _family(settings.breeds, who)
    chosen = breed.features.session_strategy if breed else SessionStrategy()
    chain = breed.features.session_chain if breed else True
    if override is not None:
        chosen, source = override, "override"
    strategy = chosen.strategy
    if strategy is None:
        strategy = HOST_DEFAULTS.get(who.host, GLOBAL_DEFAULT)
        if breed is None and override is None:
            source = "provider" if who.host in HOST_DEFAULTS else "global"
    found = Effective(
        strategy,
        chosen.thresholds.warn,
        chosen.thresholds.action,
        chosen.hybrid.max_compressions,
        chosen.budget_reserve,
        chain,
        source,
        breed.id if breed else "",
    )
    return _lowered(_with_signal(found, who.host, signals), who.host, window, reserve)


def _family(breeds: tuple[Breed, ...], who: Who) -> tuple[Breed | None, Source]:
    """The configured family that fits best: by its `match`, the narrowest first; else by its name."""
    matching = [breed for breed in breeds if breed.match is not None and _matches(breed, who)]
    if matching:
        return max(reversed(matching), key=_narrowness), "config"
    for breed in reversed(breeds):
        if (
            breed.match is None
            and breed.id
            and (FAMILIES.get(breed.id) == who.host or breed.id in (who.agent, who.host))
        ):
            return breed, "family"
    return None, "provider"


def _matches(breed: Breed, who: Who) -> bool:
    match = breed.match
    wanted = ((match.host, who.host), (match.agent, who.agent), (match.model, who.model)) if match else ()
    given = [(pattern, value) for pattern, value in wanted if pattern]
    return bool(given) and all(fnmatchcase(value, pattern) for pattern, value in given)


def _narrowness(breed: Breed) -> int:
    match = breed.match
    return sum(bool(pattern) for pattern in (match.host, match.agent, match.model)) if match else 0


def _with_signal(found: Effective, host: str, signals: Mapping[str, Signal]) -> Effective:
    signal = signals.get(host, "no")
    if found.strategy != "hybrid" or signal == "yes":
        return found
    if signal == "inferred":
        return replace(found, approximate=True, notes=(*found.notes, INFERRED(host=host)))
    return replace(found, strategy="handoff", notes=(*found.notes, NO_SIGNAL(host=host)))


def _lowered(found: Effective, host: str, window: int | None, reserve: int | None) -> Effective:
    """Act before the host does: a seal that comes after its own compaction is too late."""
    if found.strategy == "compress" or window is None or host not in COMPACTS_AT:
        return found
    share, less = COMPACTS_AT[host]
    point = max(0.0, share * window - less) / max(1, usable(window, reserve))
    if found.action < point:
        return found
    action = max(0.0, point - HEADROOM)
    note = LOWERED(host=host, point=_percent(point), action=_percent(action), configured=_percent(found.action))
    return replace(found, action=action, warn=min(found.warn, max(0.0, action - HEADROOM)), notes=(*found.notes, note))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def action_for(health: Health, rule: Effective, compressions: int) -> Action:
    """What the strategy asks for now. The budget comes first: without room for an answer nothing else matters."""
    action = _action(health, rule, compressions)
    if action in ("seal", "seal_after_compress") and not rule.chain:
        return "warn"
    return action


def _action(health: Health, rule: Effective, compressions: int) -> Action:
    ratio, remaining = health.ratio, health.remaining
    if ratio is None or remaining is None:
        return "none"
    reserve = rule.reserve if rule.reserve is not None else (health.reserve or 0)
    if remaining < reserve:
        return "allow_compress" if rule.strategy == "compress" else "seal"
    if ratio < rule.action:
        return "warn" if ratio >= rule.warn or remaining == reserve else "none"
    if rule.strategy == "handoff":
        return "seal"
    if rule.strategy == "compress" or compressions < rule.max_compressions:
        return "allow_compress"
    return "seal_after_compress"


def out_of_budget(health: Health, rule: Effective) -> bool:
    """Whether it is the budget guard that speaks."""
    reserve = rule.reserve if rule.reserve is not None else (health.reserve or 0)
    return health.remaining is not None and health.remaining < reserve
