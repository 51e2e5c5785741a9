"""Makes digests, keeps them with the store, and gives them out; an outdated one is made anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from holdfast.chain.digest import Digest, build_digest
from holdfast.chain.minutes import MinutesModel, with_minutes
from holdfast.core.keys import require_same_thread
from holdfast.store.interface import EventRecord, Session, Store

NOTE = "digest:"
_PAGE = 2000
BARREN_TOOLS = 5


def all_events(store: Store, session: str, after: int = 0) -> Iterator[EventRecord]:
    """A session's events in order, page by page."""
    while True:
        page = store.events(session, after=after, limit=_PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        after = page[-1].no


class Digests:
    """`minutes` gives the model that writes minutes, as it is configured by then; None: by rules alone."""

    def __init__(self, store: Store, minutes: Callable[[], MinutesModel | None] = lambda: None) -> None:
        self._store = store
        self._minutes = minutes

    def make(self, session: Session) -> Digest:
        """By rules first, kept at once; then the model, whose minutes are added when they come."""
        digest = self.make_by_rules(session)
        model = self._minutes()
        if model is None:
            return digest
        digest = with_minutes(digest, all_events(self._store, session.id.session), model)
        self._keep(digest)
        return digest

    def make_by_rules(self, session: Session) -> Digest:
        digest = self._built(session)
        self._keep(digest)
        return digest

    def of(self, session: Session) -> Digest:
        """The kept one while it still covers everything, else a new one; kept only once the session is sealed."""
        kept = self._kept(session)
        last = self._store.events(session.id.session, limit=1, newest_first=True)
        if kept is not None and kept.events == (last[0].no if last else 0):
            return kept
        digest = self._built(session)
        if kept is not None and kept.minutes:
            digest = replace(digest, minutes=kept.minutes, minutes_by=kept.minutes_by)
        if session.state == "sealed":
            self._keep(digest)
        return digest

    def forget(self, session: Session) -> None:
        self._store.note(NOTE + session.id.session, None)

    def barren(self, session: Session) -> bool:
        """Whether the session was full before its first request had got anywhere."""
        digest = self.of(session)
        return digest.invocations <= 1 and sum(digest.tools.values()) < BARREN_TOOLS

    def _built(self, session: Session) -> Digest:
        name = session.id.session
        approvals = self._store.approvals(session=name, limit=1000)
        return build_digest(session, all_events(self._store, name), approvals)

    def _kept(self, session: Session) -> Digest | None:
        data = self._store.noted(NOTE + session.id.session)
        if not isinstance(data, dict):
            return None
        try:
            digest = Digest.from_dict(data)
        except (KeyError, TypeError, ValueError):
            return None  # of another version: it is made anew
        require_same_thread(f"the digest of session {session.id.session!r}", session.id.key, digest.where.key)
        return digest

    def _keep(self, digest: Digest) -> None:
        self._store.note(NOTE + digest.where.session, digest.to_dict())
