"""What is done once a host has its answer: its transcript is read on, the fill measured, a turn's end carried out.

Nobody waits for this, so it may take its time, and nothing that fails here touches an answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from holdfast.chain.chain import Chain
from holdfast.chain.turns import close_all_turns
from holdfast.core.events import AssistantReplied, ContextMeasured
from holdfast.core.messages import Language
from holdfast.hosts.gateway import Visit
from holdfast.hosts.handing_over import ENDS_THE_TURN, VETOED
from holdfast.hosts.transcripts.claude_code import ClaudeCodeLines
from holdfast.hosts.transcripts.codex import CodexLines
from holdfast.hosts.transcripts.gemini import GeminiLines
from holdfast.hosts.transcripts.items import Dialect, Fill, Words, read_lines
from holdfast.plane import Plane

LINES: Mapping[str, Callable[[], Dialect]] = {
    "claude-code": ClaudeCodeLines,
    "codex": CodexLines,
    "gemini": GeminiLines,
}
WORTH_TELLING = 0.005
"""Of the window: while a turn goes on, a smaller change of the fill is not worth an event of its own."""
_READ = "read"
_FILL = "fill"
_NOT_YET = frozenset(("PreToolUse", "BeforeTool", "BeforeModel", "PreCompact"))
"""Hooks at which nothing new can stand in a transcript, or a request is being made."""
_ANOTHER_FOLLOWS = frozenset(("PostToolUse", "PostToolUseFailure"))
"""In Claude Code these come just before PostToolBatch: reading twice would only be in its way."""
_MAY_END = frozenset(("SessionEnd", "PreCompact"))
"""Hooks that can end a turn, besides the one that says so."""
_MOST_KNOWN = 1024


class Afterwards:
    """`Afterwards(...)(visit)`; one session's transcript is read by one thread at a time."""

    def __init__(
        self, plane: Plane, chain: Chain, *, new_id: Callable[[], str], language: Callable[[str], Language]
    ) -> None:
        self._plane = plane
        self._chain = chain
        self._new_id = new_id
        self._language = language
        self._reading: set[str] = set()
        self._read_to: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(self, visit: Visit) -> Callable[[], None] | None:
        """What is left to do after this payload was answered, if anything."""
        hook = visit.payload.get("hook_event_name")
        told = hook not in _NOT_YET and not (hook in _ANOTHER_FOLLOWS and visit.host.name == "claude-code")
        reads = told and bool(visit.address.transcript) and not visit.place.where.subagent and visit.host.name in LINES
        if not reads and hook not in _MAY_END and visit.host.turn(visit.payload) != "ends":
            return None
        return lambda: self._work(visit, reads)

    def _work(self, visit: Visit, reads: bool) -> None:
        hook = visit.payload.get("hook_event_name")
        if reads:
            self._read_on(visit)
        if hook == "SessionEnd":
            close_all_turns(self._plane.store, visit.place.where.main())
            self._end_turn(visit)
        elif visit.host.turn(visit.payload) == "ends" or self._was_cut_off(visit):
            self._end_turn(visit)

    # the transcript

    def _read_on(self, visit: Visit) -> None:
        transcript = visit.address.transcript
        with self._lock:
            if transcript in self._reading:
                return  # whoever reads it now gets to the end, or the next hook does
            self._reading.add(transcript)
        try:
            self._read(visit, Path(transcript))
        finally:
            with self._lock:
                self._reading.discard(transcript)

    def _read(self, visit: Visit, path: Path) -> None:
        visit.memo.look_again()
        offset = self._offset(visit, path)
        lines, end = read_lines(path, offset)
        if end == offset:
            return
        dialect = LINES[visit.host.name]()
        fill: Fill | None = None
        recorded = False
        for line in lines:
            for item in dialect.items(line):
                if isinstance(item, Words):
                    recorded |= self._words(visit, item)
                elif isinstance(item, Fill):
                    fill = item
        if fill is not None:
            recorded |= self._measured(visit, fill)
        if len(self._read_to) > _MOST_KNOWN:
            self._read_to.clear()
        self._read_to[str(path)] = end
        # Lines that told nothing may be read again by another process; they would tell nothing again.
        if recorded or visit.host.turn(visit.payload) == "ends":
            visit.memo.put(_READ, {"path": str(path), "to": end})

    def _offset(self, visit: Visit, path: Path) -> int:
        if (here := self._read_to.get(str(path))) is not None:
            return here
        known: Any = visit.memo.get(_READ) or {}
        return int(known.get("to", 0)) if known.get("path") == str(path) else 0

    def _words(self, visit: Visit, words: Words) -> bool:
        turn = words.turn or visit.invocation
        if not visit.telling.is_news(turn, words.text):
            return False
        event = AssistantReplied(
            id=self._new_id(), at=words.at, where=visit.place.where, invocation=turn, text=words.text
        )
        self._chain.heed(event, self._plane.handle(event))
        return True

    def _measured(self, visit: Visit, fill: Fill) -> bool:
        known = visit.memo.get(_FILL)
        grown = abs(fill.used - known) if isinstance(known, int) else fill.used
        over = visit.host.turn(visit.payload) == "ends"
        if grown == 0 or (grown < WORTH_TELLING * (fill.window or 100_000) and not over):
            return False
        visit.memo.put(_FILL, fill.used)
        event = ContextMeasured(
            id=self._new_id(),
            at=fill.at,
            where=visit.place.where,
            invocation=visit.invocation,
            used=fill.used,
            window=fill.window,
            host=visit.host.name,
            model=fill.model or visit.address.model,
        )
        outcome = self._plane.handle(event)
        warnings = (*outcome.warnings, *self._chain.heed(event, outcome))
        language = self._language(visit.place.vault)
        visit.telling.later(*(warning.text(language) for warning in warnings))
        return True

    # the end of a turn

    def _was_cut_off(self, visit: Visit) -> bool:
        is_refused = visit.payload.get("hook_event_name") == "PreCompact" and bool(visit.invocation)
        return is_refused and visit.host.name in ENDS_THE_TURN and visit.memo.get(VETOED) == visit.invocation

    def _end_turn(self, visit: Visit) -> None:
        sealing = self._chain.end_turn(visit.place.where, visit.invocation)
        if sealing is None:
            return
        language = self._language(visit.place.vault)
        said = (sealing.message, sealing.warning)
        visit.telling.later(*(message.text(language) for message in said if message is not None))
