"""Deleting a session for good: its text, what was derived from it, its archive and the outputs it left (SC4).

A person's own decision, from the command line or the page. What stays is the audit, with a tombstone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.chain.archive import Archive
from holdfast.chain.digests import all_events
from holdfast.chain.session_rows import change_session, existing
from holdfast.chain.turns import open_turns
from holdfast.core.keys import SessionId
from holdfast.store.interface import Session, Store, StoreError
from holdfast.store.outputs import OutputStore

_ABOUT_A_SESSION = ("digest", "archive", "history", "run", "queue", "started", "seal")

_TITLE_LENGTH = 80


class DeletionError(StoreError):
    """It cannot be deleted now; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """What is gone."""

    session: str
    events: int
    outputs: int
    outputs_left: int
    """Output files that somebody has changed since: they are the user's own now."""
    archive: bool
    index: bool
    """False: the search index could not be cleaned at once; it never shows what is gone, and is cleaned later."""


class Deletion:
    """`scrub` cleans the search index; it is told after the text is gone."""

    def __init__(
        self,
        store: Store,
        archive: Archive,
        outputs: OutputStore,
        *,
        clock: Callable[[], float],
        scrub: Callable[[], bool] = lambda: True,
    ) -> None:
        self._store = store
        self._archive = archive
        self._outputs = outputs
        self._clock = clock
        self._scrub = scrub

    def delete(self, where: SessionId, *, by: str, even_if_live: bool = False) -> Deleted:
        """Refused while a turn or an approval is open, unless the person insists."""
        session = existing(self._store, where, "a deletion")
        name = where.session
        if not even_if_live:
            self._require_quiet(session)
        # Files first: once the text is gone nobody knows of them any more, and this can be repeated until it is.
        outputs = left = events = 0
        for record in all_events(self._store, name):
            events += 1
            path = (record.data.get("spilled") or {}).get("path")
            if path and self._outputs.forget(path):
                outputs += 1
            elif path and Path(path).exists():
                left += 1
        archive = self._archive.forget(name)
        for note in self._notes(session):
            self._store.note(note, None)
        self._take_back_title(session)
        self._store.delete_session(name, by=by, at=self._clock())
        return Deleted(name, events, outputs, left, archive, self._scrub())

    def _take_back_title(self, gone: Session) -> None:
        """A thread is known by the words it began with; later sessions that bear them get a title of their own."""
        for heir in self._store.chain(gone.id.key) if gone.title else ():
            if heir.id.session != gone.id.session and heir.title == gone.title:
                self._title_anew(heir)

    def _title_anew(self, session: Session) -> None:
        title = self._first_words(session)
        changed = change_session(self._store, session.id, "a title", lambda _: {"title": title})
        if self._archive.archived(session.id.session):
            self._archive.write(changed)

    def _first_words(self, session: Session) -> str:
        for record in all_events(self._store, session.id.session):
            if record.kind == "prompt_submitted" and not record.where.subagent:
                return " ".join(record.text.split())[:_TITLE_LENGTH]
        return ""

    def _require_quiet(self, session: Session) -> None:
        name = session.id.session
        if open_turns(session):
            raise DeletionError(f"session {name!r} has a turn under way; wait for its end, or use --force")
        if self._store.approvals(status="pending", session=name, limit=1):
            raise DeletionError(f"session {name!r} has an open approval; answer or cancel it, or use --force")

    def _notes(self, session: Session) -> Iterator[str]:
        """Every note that holds something of the session."""
        name = session.id.session
        for kind in _ABOUT_A_SESSION:
            for note in self._store.notes(f"{kind}:{name}"):
                rest = note.removeprefix(f"{kind}:{name}")
                if not rest or rest[0] in ":\n":
                    yield note
        for note, body in self._store.notes("late:").items():
            if isinstance(body, dict) and body.get("session") == name:
                yield note
        for note, body in self._store.notes("host-session:").items():
            if body == name:
                yield note
