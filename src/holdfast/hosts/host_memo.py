"""What is remembered between two hooks of one host session. It lies in the store, because the next hook may be answered
by another process."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from typing import Any

from holdfast.core.keys import SessionId
from holdfast.store.interface import Store

_PREFIX = "host-memo:"
_MOST_REWRITTEN = 50
_MOST_COUNTED = 10_000


class StoreMemo:
    """A note of the store for each name, so that two hooks at once do not undo each other's."""

    def __init__(self, store: Store, host: str, session: str) -> None:
        self._store = store
        self._prefix = f"{_PREFIX}{host}:{session}\n"
        self._kept: dict[str, Any] | None = None

    def get(self, name: str) -> Any:
        if self._kept is None:
            found = self._store.notes(self._prefix)
            self._kept = {key.removeprefix(self._prefix): value for key, value in found.items()}
        return self._kept.get(name)

    def put(self, name: str, value: Any) -> None:
        """None takes it away; the same value again costs nothing."""
        if self.get(name) == value:
            return
        self._store.note(self._prefix + name, value)
        assert self._kept is not None
        self._kept[name] = value

    def look_again(self) -> None:
        """Another hook may have written meanwhile."""
        self._kept = None


class CallIds:
    """Ids for the calls of a host that has none: what is called, in which turn, and the how-manieth time.

    Calls of one turn arrive in parallel and out of order, so equal calls are told apart by counting only, and whichever
    of them ends first takes the oldest id that is still open. Which ids are taken or over is seen in the store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._taken: dict[str, int] = {}
        self._ended: dict[str, int] = {}

    def of(self, where: SessionId, invocation: str, memo: StoreMemo) -> TurnCalls:
        return TurnCalls(self, where, invocation, memo)

    def take(self, where: SessionId, stem: str) -> str:
        with self._lock:
            number = self._taken.get(stem, 0)
            while self._store.remembered(where, f"{stem}.{number}") is not None:
                number += 1
            _count(self._taken, stem, number + 1)
        return f"{stem}.{number}"

    def end(self, where: SessionId, stem: str) -> str:
        with self._lock:
            number = self._ended.get(stem, 0)
            while (kept := self._store.remembered(where, f"{stem}.{number}")) is not None and not kept.outcome:
                number += 1  # a call that is over is remembered without an outcome
            _count(self._ended, stem, number + 1)
        return f"{stem}.{number}"


class TurnCalls:
    """The calls of one turn."""

    def __init__(self, ids: CallIds, where: SessionId, invocation: str, memo: StoreMemo) -> None:
        self._ids = ids
        self._where = where
        self._invocation = invocation
        self._memo = memo

    def calling(self, tool: str, arguments: Mapping[str, Any]) -> str:
        return self._ids.take(self._where, self._stem(tool, arguments))

    def called(self, tool: str, arguments: Mapping[str, Any]) -> str:
        stem = self._stem(tool, arguments)
        return self._ids.end(self._where, (self._memo.get("rewritten") or {}).get(stem, stem))

    def rewritten(self, tool: str, arguments: Mapping[str, Any], call_id: str) -> None:
        """The call will run, and end, with these arguments instead."""
        known = dict(list((self._memo.get("rewritten") or {}).items())[-_MOST_REWRITTEN:])
        self._memo.put("rewritten", {**known, self._stem(tool, arguments): call_id.rpartition(".")[0]})

    def _stem(self, tool: str, arguments: Mapping[str, Any]) -> str:
        return stem_of(self._where, self._invocation, tool, arguments)


def _count(counts: dict[str, int], stem: str, number: int) -> None:
    if len(counts) > _MOST_COUNTED:  # a daemon lives long; what is older stands in the store
        counts.clear()
    counts[stem] = number


def stem_of(where: SessionId, invocation: str, tool: str, arguments: Mapping[str, Any]) -> str:
    body = json.dumps([where.session, where.subagent, invocation, tool, arguments], sort_keys=True, default=str)
    return "h" + hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:20]
