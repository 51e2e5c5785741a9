"""Reading from a person at a terminal: a line with history, one key, a word; all cancellable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application.current import get_app_or_none
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import HTML, FormattedText
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent


class Stopped(Exception):
    """Ctrl-C at a question: the turn is to be stopped."""


class Prompts:
    """What the chat asks through."""

    def __init__(self, history: Path | None, commands: list[str], toolbar: Callable[[], Any]) -> None:
        kept = FileHistory(str(history)) if history is not None else InMemoryHistory()
        self._lines: PromptSession[str] = PromptSession(
            history=kept,
            completer=WordCompleter(commands, sentence=True),
            complete_while_typing=False,
            bottom_toolbar=toolbar,
            enable_open_in_editor=False,
            key_bindings=_line_keys(),
            multiline=False,
        )

    async def line(self) -> str:
        """A message or a command; raises `EOFError` on Ctrl-D and `KeyboardInterrupt` on Ctrl-C."""
        return await self._lines.prompt_async(FormattedText([("bold ansicyan", "› ")]))

    async def key(self, question: str, keys: str) -> str:
        """One of `keys`, pressed once; raises `Stopped` on Ctrl-C and Ctrl-D."""
        session: PromptSession[str] = PromptSession(key_bindings=_choice_keys(keys))
        answer = await session.prompt_async(HTML("<ansiyellow>{}</ansiyellow> ").format(question))
        if not answer:
            raise Stopped
        return answer

    async def word(self, question: str) -> str:
        """A few words, or none."""
        session: PromptSession[str] = PromptSession()
        try:
            return (await session.prompt_async(question)).strip()
        except (EOFError, KeyboardInterrupt):
            return ""


def refresh() -> None:
    """Draw the prompt's bar anew."""
    app = get_app_or_none()
    if app is not None:
        app.invalidate()


def _line_keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def _choice_keys(allowed: str) -> KeyBindings:
    bindings = KeyBindings()

    def choose(event: KeyPressEvent) -> None:
        key = event.key_sequence[0].key.lower()
        event.current_buffer.text = key
        event.app.exit(result=key)

    for letter in allowed:
        bindings.add(letter)(choose)
        bindings.add(letter.upper())(choose)

    @bindings.add("c-c")
    @bindings.add("c-d")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result="")

    @bindings.add("enter")
    @bindings.add("<any>")
    def _(event: KeyPressEvent) -> None:
        """Any other key is no answer."""

    return bindings
