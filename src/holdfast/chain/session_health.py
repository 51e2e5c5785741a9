"""How full a session is, as far as anybody knows, and how far that can be trusted (SC2)."""

from __future__ import annotations

from typing import Any

from holdfast.core.context_health import Health
from holdfast.store.interface import Session, Store


def health_of(store: Store, session: Session) -> Health | None:
    """The newest measure there is: the row's, or the strategy's; None when it was never measured."""
    kept: Any = store.state(session.id).data.get("session_strategy", {})
    known = [
        Health(used, window, reserve, exact, at)
        for used, window, reserve, exact, at in (
            (session.used, session.window, session.reserve, session.exact, session.measured_at),
            (kept.get("used"), kept.get("window"), kept.get("reserve"), bool(kept.get("exact")), kept.get("at")),
        )
        if used is not None and at is not None
    ]
    return max(known, key=lambda health: health.at, default=None)


def compactions_of(store: Store, session: Session) -> int:
    """How often it was made smaller so far; the row's own figure is written when it is sealed."""
    kept: Any = store.state(session.id).data.get("session_strategy", {})
    return max(session.compressions, int(kept.get("compressions", 0)))


def is_stale(store: Store, health: Health, session: Session, now: float) -> bool:
    """A sealed session does not change any more, so its figure stands."""
    if session.state == "sealed":
        return False
    last = store.events(session.id.session, limit=1, newest_first=True)
    return health.is_stale(now, last[0].at if last else None)


def health_words(store: Store, health: Health | None, session: Session, now: float) -> dict[str, Any] | None:
    """With its age, and marked when it is stale."""
    if health is None:
        return None
    return {
        "ratio": None if health.ratio is None else round(health.ratio, 3),
        "exact": health.exact,
        "measuredAt": health.at,
        "ageSeconds": round(health.age(now), 1),
        "stale": is_stale(store, health, session, now),
    }
