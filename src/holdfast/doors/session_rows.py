"""Sessions as the command line names and shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.doors.lazy_group import EXIT_USAGE, Failure
from holdfast.doors.output import moment, table, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.chain.bootstrap import Packet
    from holdfast.chain.chain import Chain
    from holdfast.chain.recall import Recall
    from holdfast.chain.sealer import Sealing
    from holdfast.store.interface import Session, Store

_MOST = 10_000
_MOST_OF_THREADS = 5000


def find_session(store: Store, text: str) -> Session:
    """The session with that id, or the only one whose id begins so; raises `Failure`."""
    exact = store.session(text)
    if exact is not None:
        return exact
    found = [session for session in store.sessions(limit=_MOST) if session.id.session.startswith(text)]
    return _only(found, text, "session", [session.id.session for session in found])


def find_thread(store: Store, text: str) -> Session:
    """The newest session of the thread of that name, or of the only one whose name begins so; raises `Failure`."""
    newest: dict[Any, Session] = {}
    for session in store.sessions(limit=_MOST):
        if session.id.thread.startswith(text) or session.id.session == text:
            newest.setdefault(session.id.key, session)
    exact = [session for session in newest.values() if text in (session.id.thread, session.id.session)]
    found = exact or list(newest.values())
    return _only(found, text, "thread", [session.id.thread for session in found])


def newest_of_threads(
    store: Store, user: str, *, vault: str | None = None, host: str | None = None, agent: str | None = None
) -> list[Session]:
    """The newest session of each thread, newest first; a person's orders are on record, but no conversation."""
    from holdfast.store.orders import OPERATOR

    newest: dict[Any, Session] = {}
    for session in store.sessions(user=user, vault=vault, host=host, agent=agent, limit=_MOST_OF_THREADS):
        if session.id.thread != OPERATOR:
            newest.setdefault(session.id.key, session)
    return list(newest.values())


def hand_over(chain: Chain, row: Session, *, by: str) -> tuple[Sealing | None, Packet | None]:
    """Seal a session for another to go on with, and what that one will be told; no packet while the seal waits."""
    sealing = None
    if row.state != "sealed":
        sealing = chain.hand_off(row.id, by=by)
        if sealing.status != "sealed":
            return sealing, None
        row = sealing.session
    return sealing, chain.preview(row)


def archive_state(chain: Chain, row: Session) -> dict[str, Any]:
    """Whether a session has an archive, and whether that is still what was written."""
    from holdfast.chain.archive import ArchiveError

    known = chain.archive.archived(row.id.session)
    state = {"state": "none", "file": "", "sha256": "", "events": 0, "problem": ""}
    if known is None:
        return state
    state.update(state="verified", file=str(known.file), sha256=known.sha256, events=known.events)
    try:
        chain.archive.verify(row.id)
    except ArchiveError as error:
        state.update(state="damaged", problem=str(error))
    return state


def _only(found: Sequence[Session], text: str, what: str, names: Iterable[str]) -> Session:
    if len(found) == 1:
        return found[0]
    if not found:
        raise Failure(f"no {what} begins with {text!r}; `holdfast sessions list --all` shows them", EXIT_USAGE)
    some = ", ".join(sorted(set(names))[:5])
    raise Failure(f"{len(found)} {what}s begin with {text!r}: {some}; give more of it", EXIT_USAGE)


def session_table(recall: Recall, sessions: Sequence[Session]) -> Iterable[str]:
    rows = [("SESSION", "NO", "STATE", "FILL", "STARTED", "HOST", "TITLE")]
    for session in sessions:
        described = recall.described(session)
        rows.append(
            (
                session.id.session,
                str(session.number),
                f"{session.state}{'!' if session.seal_mark else ''}",
                fill(described),
                moment(session.started_at)[:16],
                session.host,
                visible(session.title or session.id.thread, 60),
            )
        )
    return table(rows)


def fill(described: dict[str, Any]) -> str:
    """How full it is; an old figure is shown as old, a guessed one as guessed (SC2)."""
    health = described["health"]
    if health is None or health["ratio"] is None:
        return "?"
    about = "" if health["exact"] else "~"
    return f"{about}{100 * health['ratio']:.0f} %{' (old)' if health['stale'] else ''}"
