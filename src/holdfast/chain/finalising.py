"""What is made of a session at its end: the digest while it is sealing, the archive once it is sealed."""

from __future__ import annotations

from holdfast.chain.archive import Archive
from holdfast.chain.digests import Digests
from holdfast.store.interface import Session


class Finalising:
    """The sealer's `Finaliser`."""

    def __init__(self, digests: Digests, archive: Archive) -> None:
        self._digests = digests
        self._archive = archive

    def digest(self, session: Session) -> str:
        self._digests.make(session)
        return ""  # minutes that did not come are no mark on the session: the digest by rules is whole

    def short_digest(self, session: Session) -> None:
        self._digests.make_by_rules(session)

    def archive(self, session: Session) -> None:
        self._archive.write(session)

    def forget(self, session: Session) -> None:
        self._digests.forget(session)
        self._archive.forget(session.id.session)

    def barren(self, session: Session) -> bool:
        return self._digests.barren(session)
