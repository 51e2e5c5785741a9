"""Stops sealing by itself after three failures in a row, with a message, instead of failing for ever (SC3).

Failures count per thread. A session that was sealed before anything happened in it counts as one: a window that is set
too small would otherwise seal session after session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.chain.session_rows import key_text
from holdfast.core.keys import SessionKey
from holdfast.core.messages import Message, Phrase
from holdfast.store.interface import Store

LIMIT = 3

OPEN = Phrase(
    "sealer.breaker",
    "Sealing failed {failures} times in a row in this thread (last: {last}), so sessions are no longer sealed by "
    "themselves here. Mend the cause, then run `holdfast sessions seal {session}`.",
    "本线程连续 {failures} 次封存失败（最近一次：{last}），已停止自动封存。请先解决原因，再运行 "
    "`holdfast sessions seal {session}`。",
)


@dataclass(frozen=True, slots=True)
class Failures:
    count: int = 0
    last: str = ""

    @property
    def open(self) -> bool:
        return self.count >= LIMIT

    def message(self, session: str) -> Message:
        return OPEN(failures=self.count, last=self.last, session=session)


class Breaker:
    """One thread's count, kept in the store so that it outlives the process."""

    def __init__(self, store: Store, key: SessionKey) -> None:
        self._store = store
        self._note = f"seal-failures:{key_text(key)}"

    def failures(self) -> Failures:
        kept: Any = self._store.noted(self._note)
        return Failures(int(kept["count"]), str(kept["last"])) if isinstance(kept, dict) else Failures()

    def failed(self, why: str) -> Failures:
        after = Failures(self.failures().count + 1, why)
        self._store.note(self._note, {"count": after.count, "last": after.last})
        return after

    def reset(self) -> None:
        if self._store.noted(self._note) is not None:
            self._store.note(self._note, None)
