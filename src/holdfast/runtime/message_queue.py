"""Messages that came while a run was under way or waited for an answer: durable, in order, each taken once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.core.keys import SessionKey
from holdfast.store.interface import Store


@dataclass(frozen=True, slots=True)
class Queued:
    id: str
    """Becomes the id of the message's event, so that a crash in between cannot deliver it twice."""
    text: str


class MessageQueue:
    """A thread's: a message outlives the session that it was queued in."""

    def __init__(self, store: Store, key: SessionKey, new_id: Callable[[], str]) -> None:
        self._store = store
        self._prefix = f"queue:{key.user}:{key.agent}:{key.thread}:"
        self._new_id = new_id

    def put(self, text: str, at: float) -> Queued:
        queued = Queued(self._new_id(), text)
        # One note each: two processes may queue at the same time.
        self._store.note(f"{self._prefix}{at:020.6f}:{queued.id}", {"id": queued.id, "text": text})
        return queued

    def waiting(self) -> list[Queued]:
        kept = self._store.notes(self._prefix)
        return [Queued(str(kept[name]["id"]), str(kept[name]["text"])) for name in sorted(kept)]

    def taken(self, queued: Queued) -> None:
        """The message is in the transcript now."""
        for name, body in self._store.notes(self._prefix).items():
            if body["id"] == queued.id:
                self._store.note(name, None)

    def clear(self) -> int:
        names = list(self._store.notes(self._prefix))
        for name in names:
            self._store.note(name, None)
        return len(names)
