"""What is said in one host session, and what was said already: nothing twice, nothing lost.

A resumed conversation brings its history along, so a text that stands in it is not injected again until a compaction
has taken it away. What cannot be said at one event waits for the next that can carry it.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace

from holdfast.core.events import Compacted, Compacting, Event
from holdfast.core.messages import Language
from holdfast.core.outcome import Outcome
from holdfast.hosts.carry import Kept, carry
from holdfast.hosts.host import Answer, Host
from holdfast.hosts.host_memo import StoreMemo
from holdfast.hosts.standing import SENTINELS

_INJECTED = "injected"
_WAITING = "waiting"
_SAID = "said"
_MOST_SAID = 30
_ONE_AT_A_TIME = threading.Lock()
"""The end of a turn and the reading of its transcript meet at the same words."""


class Telling:
    """One host session's conversation with us, as far as it must be remembered."""

    def __init__(self, host: Host, memo: StoreMemo) -> None:
        self._host = host
        self._memo = memo

    def answer(self, event: Event, outcome: Outcome, language: Language) -> Answer:
        """The outcome as this host can carry it."""
        if isinstance(event, Compacting) or (isinstance(event, Compacted) and event.inferred):
            self._memo.put(_INJECTED, None)  # what was said is gone with the history
        waiting = self._waiting()
        answer, kept = carry(self._host.capabilities, event.kind, self._fresh(outcome), language, waiting)
        self._wait(waiting, kept)
        return answer

    def later(self, *notices: str) -> None:
        """Say this to the person when there is an occasion."""
        waiting = self._waiting()
        fresh = tuple(notice for notice in notices if notice and notice not in waiting.notice)
        self._wait(waiting, replace(waiting, notice=(*waiting.notice, *fresh)))

    def is_news(self, invocation: str, text: str) -> bool:
        """Whether these words of the model's are not on record yet: the transcript and a hook may both tell them."""
        mark = _mark(f"{invocation}\n{text.strip()}")
        with _ONE_AT_A_TIME:
            self._memo.look_again()  # the other one may have told them since this hook began
            said = list(self._memo.get(_SAID) or ())
            if mark in said:
                return False
            self._memo.put(_SAID, [*said[-_MOST_SAID:], mark])
        return True

    def _fresh(self, outcome: Outcome) -> Outcome:
        if not any(part.sentinel for part in outcome.inject):
            return outcome
        injected = dict(self._memo.get(_INJECTED) or {})
        fresh = []
        for part in outcome.inject:
            mark = _mark(part.text)
            if SENTINELS.get(part.sentinel) in self._host.says_anew or injected.get(part.sentinel) == mark:
                continue
            if part.sentinel:
                injected[part.sentinel] = mark
            fresh.append(part)
        self._memo.put(_INJECTED, injected)
        return replace(outcome, inject=tuple(fresh))

    def _waiting(self) -> Kept:
        return Kept(**{kind: tuple(texts) for kind, texts in (self._memo.get(_WAITING) or {}).items()})

    def _wait(self, before: Kept, after: Kept) -> None:
        if after != before:
            self._memo.put(_WAITING, {"context": after.context, "notice": after.notice} if after else None)


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
