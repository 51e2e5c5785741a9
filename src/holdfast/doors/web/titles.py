"""What a conversation is called: its title, or else its first words. Hosts give their sessions no title."""

from __future__ import annotations

from holdfast.store.interface import Session, Store

_LONGEST = 80


def title_of(store: Store, session: Session) -> str:
    """One line; empty while nothing was said. A later session of a thread is called by the thread's first words."""
    if session.title:
        return session.title
    for row in store.chain(session.id.key)[:1] if session.number > 1 else (session,):
        found = store.events(row.id.session, kinds=("prompt_submitted",), limit=1)
        if found:
            return row.title or " ".join(str(found[0].data.get("text", "")).split())[:_LONGEST]
    return ""
