"""What a run looks like: plain lines where nobody watches a terminal, Markdown and colours where somebody does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TextIO

from holdfast.core.messages import Language
from holdfast.doors import chat_words as say
from holdfast.doors.chat_card import Card, proposal_card
from holdfast.doors.output import visible

MOST_OUTPUT_LINES = 6
_ARGUMENTS = ("command", "path", "file_path", "pattern", "url", "query", "prompt", "source")


class View(Protocol):
    """Shows events of a run (`runtime.ui_events`) and says things of its own."""

    def show(self, event: Any) -> None: ...

    def card(self, card: Card) -> None: ...

    def say(self, text: str, style: str = "") -> None: ...

    def hold(self, held: bool) -> None:
        """While a question is open nothing is redrawn below it."""
        ...

    def settle(self) -> None:
        """Finish whatever is half written, because somebody else wants the terminal."""
        ...


def call_line(tool: str, given: Mapping[str, Any]) -> str:
    """A call in one line."""
    name = next((key for key in _ARGUMENTS if given.get(key)), None)
    if name is None:
        return tool
    return f"{tool} {visible(str(given[name]).replace(chr(10), ' '), 100)}"


def output_lines(text: str, most: int = MOST_OUTPUT_LINES) -> list[str]:
    lines = [visible(line.expandtabs(4), 160) for line in text.strip("\n").splitlines()]
    return [*lines[:most], f"... {len(lines) - most} more lines"] if len(lines) > most else lines


class PlainView:
    """Lines of text, for pipes and files; replies go to `out`, everything else to `err`."""

    def __init__(self, language: Language = "en", out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._language = language
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        self._handlers: dict[str, Callable[[Any], None]] = {
            "replied": self._reply,
            "tool_running": lambda e: self._note(f"{_who(e)}* {call_line(e.tool, e.input)}"),
            "tool_denied": lambda e: self._note(f"{_who(e)}! {e.tool}: {e.reason}"),
            "tool_done": self._done,
            "notice": lambda e: self._note(e.text),
            "compaction": lambda e: self._note(e.message),
            "retry_in": lambda e: self._note(retry_text(e, self._language)),
            "problem": lambda e: self._note(f"{e.text}\n{e.next_step}"),
        }

    def show(self, event: Any) -> None:
        handler = self._handlers.get(event.kind)
        if handler is not None:
            handler(event)

    def card(self, card: Card) -> None:
        self._note(f"? {card.title}")
        for line in card.body:
            self._note(f"  {line}")
        for label, text in card.facts:
            self._note(f"  {label}: {text}")

    def say(self, text: str, style: str = "") -> None:
        self._note(text)

    def hold(self, held: bool) -> None:
        """Nothing is ever redrawn here."""

    def settle(self) -> None:
        self._out.flush()

    def _reply(self, event: Any) -> None:
        if not event.subagent:
            print(event.text, file=self._out, flush=True)

    def _done(self, event: Any) -> None:
        if event.display and event.display.get("proposal"):
            self.card(proposal_card(event.display, self._language))
        if event.failed:
            self._note("\n".join(f"    {line}" for line in output_lines(event.output)))
        if event.full_output:
            self._note(f"    {say.TRUNCATED(path=event.full_output).text(self._language)}")

    def _note(self, text: str) -> None:
        print(text, file=self._err, flush=True)


def retry_text(event: Any, language: Language, seconds: float | None = None) -> str:
    left = event.seconds if seconds is None else seconds
    return say.RETRYING(why=event.why, seconds=f"{left:.0f}", attempt=event.attempt + 1).text(language)


def _who(event: Any) -> str:
    return f"[{event.subagent}] " if event.subagent else ""
