"""Names that a search is narrowed to: the beginning of an id will do, and one that nothing bears is an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, get_args

from holdfast.doors.lazy_group import EXIT_USAGE, Failure

if TYPE_CHECKING:
    from holdfast.store.interface import Store

_MOST = 100_000


def known_sessions(store: Store, asked: Sequence[str]) -> tuple[str, ...]:
    from holdfast.doors.session_rows import find_session

    return tuple(find_session(store, text).id.session for text in asked)


def known_threads(store: Store, asked: Sequence[str]) -> tuple[str, ...]:
    """A thread that was handed to another agent bears one name in both chains, so that names count, not chains."""
    if not asked:
        return ()
    names = {session.id.thread for session in store.sessions(limit=_MOST)}
    return tuple(text if text in names else _only_one(text, names) for text in asked)


def known_agents(store: Store, asked: Sequence[str]) -> tuple[str, ...]:
    names = {session.id.agent for session in store.sessions(limit=_MOST)} if asked else set()
    for text in asked:
        if text not in names:
            raise Failure(f"no agent {text!r} is on record; there are {_listed(names)}", EXIT_USAGE)
    return tuple(asked)


def known_kinds(asked: Sequence[str]) -> tuple[str, ...]:
    from holdfast.core.events import Event

    kinds = {str(place.default) for event in get_args(Event) for place in fields(event) if place.name == "kind"}
    for text in asked:
        if text not in kinds:
            raise Failure(f"no event is of the kind {text!r}; there are {_listed(kinds)}", EXIT_USAGE)
    return tuple(asked)


def _only_one(text: str, names: Iterable[str]) -> str:
    found = sorted(name for name in names if name.startswith(text))
    if len(found) == 1:
        return found[0]
    if not found:
        raise Failure(f"no thread begins with {text!r}; `holdfast sessions list --all` shows them", EXIT_USAGE)
    raise Failure(f"{len(found)} threads begin with {text!r}: {', '.join(found[:5])}; give more of it", EXIT_USAGE)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
