"""The terminal that somebody watches: streamed Markdown, colours, cards and a countdown."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.panel import Panel
from rich.spinner import Spinner
from rich.syntax import Syntax
from rich.text import Text

from holdfast.core.messages import Language
from holdfast.doors import chat_words as say
from holdfast.doors.chat_card import Card, proposal_card
from holdfast.doors.chat_markdown import BlockSplitter
from holdfast.doors.chat_view import call_line, output_lines, retry_text
from holdfast.doors.output import visible


class RichView:
    """Everything that is final is printed and scrolls away; only what still changes is redrawn."""

    def __init__(self, language: Language = "en", console: Console | None = None) -> None:
        self._language = language
        self._console = console or Console(highlight=False)
        self._blocks = BlockSplitter()
        self._live: Live | None = None
        self._streamed = False
        self._held = False

    # what the app says

    def say(self, text: str, style: str = "") -> None:
        self.settle()
        self._console.print(Text(text, style=style))

    def card(self, card: Card) -> None:
        self.settle()
        body = Text()
        for line in card.body:
            body.append(line + "\n", style=_diff_style(line) if card.is_diff else "bold")
        for label, text in card.facts:
            body.append(f"{label:<14} ", style="dim")
            body.append(text + "\n")
        body.rstrip()
        self._console.print(Panel(body, title=card.title, title_align="left", border_style="yellow"))

    def hold(self, held: bool) -> None:
        self.settle()
        self._held = held

    def settle(self) -> None:
        self._stop_live()
        rest = self._blocks.finish()
        if rest:
            self._console.print(Markdown(rest))

    # what happens in a run

    def show(self, event: Any) -> None:
        handler = getattr(self, f"_on_{event.kind}", None)
        if handler is not None:
            handler(event)

    def _on_turn_started(self, event: Any) -> None:
        self._draw(Spinner("dots", style="dim"))

    def _on_text_delta(self, event: Any) -> None:
        if event.subagent:
            return
        self._streamed = True
        for block in self._blocks.feed(visible_lines(event.text)):
            self._stop_live()
            self._console.print(Markdown(block))
            self._console.print()
        self._draw(Markdown(self._blocks.rest))

    def _on_text_reset(self, event: Any) -> None:
        self._stop_live()
        self._blocks.reset()
        self._streamed = False

    def _on_replied(self, event: Any) -> None:
        if event.subagent:
            return
        if self._streamed:
            self.settle()
        else:
            self._console.print(Markdown(visible_lines(event.text)))
        self._console.print()
        self._streamed = False

    def _on_tool_running(self, event: Any) -> None:
        self.settle()
        self._console.print(Text.assemble(_who(event), ("● ", "cyan"), call_line(event.tool, event.input)))

    def _on_tool_progress(self, event: Any) -> None:
        lines = output_lines(event.text, 3)
        self._draw(Text("\n".join(f"  {line}" for line in lines[-3:]), style="dim"))

    def _on_tool_done(self, event: Any) -> None:
        self._stop_live()
        diff = event.display.get("diff") if event.display else None
        if event.display and event.display.get("proposal"):
            self.card(proposal_card(event.display, self._language))
        elif isinstance(diff, str) and diff:
            self._console.print(Syntax(visible_lines(diff), "diff", background_color="default", word_wrap=True))
        else:
            style = "red" if event.failed else "dim"
            for line in output_lines(event.output):
                self._console.print(Text(f"  {line}", style=style))
        if event.full_output:
            self._console.print(Text(f"  {say.TRUNCATED(path=event.full_output).text(self._language)}", "yellow"))

    def _on_tool_denied(self, event: Any) -> None:
        self.settle()
        text = f"✗ {event.tool}: {say.DENIED().text(self._language)}"
        self._console.print(Text.assemble(_who(event), (text, "red")))
        self._console.print(Text("\n".join(f"  {line}" for line in output_lines(event.reason)), style="red"))

    def _on_notice(self, event: Any) -> None:
        self.say(visible_lines(event.text), "yellow")

    def _on_compaction_started(self, event: Any) -> None:
        self._draw(Text(say.COMPACTING().text(self._language), style="dim"))

    def _on_compaction(self, event: Any) -> None:
        self.say(event.message, "magenta")

    def _on_retry_in(self, event: Any) -> None:
        self._stop_live()
        self._draw(_Countdown(event, self._language))

    def _on_problem(self, event: Any) -> None:
        self.say(event.text, "bold red")
        if event.next_step:
            self.say(event.next_step, "red")

    # the part that is redrawn

    def _draw(self, what: RenderableType) -> None:
        if self._held or not self._console.is_terminal:
            return
        if self._live is None:
            self._live = Live(console=self._console, transient=True, refresh_per_second=12, vertical_overflow="crop")
            self._live.start()
        self._live.update(what)

    def _stop_live(self) -> None:
        if self._live is not None:
            self._live.update(Text(""))
            self._live.stop()
            self._live = None


class _Countdown:
    """Counts down by itself whenever it is drawn."""

    def __init__(self, event: Any, language: Language) -> None:
        self._event = event
        self._language = language
        self._until = time.monotonic() + event.seconds

    def __rich__(self) -> Text:
        left = max(0.0, self._until - time.monotonic())
        return Text(retry_text(self._event, self._language, left), style="yellow")


def visible_lines(text: str) -> str:
    """Control characters become escapes; lines stay lines."""
    return "\n".join(visible(line.expandtabs(4)) for line in text.split("\n"))


def _who(event: Any) -> Text:
    return Text(f"[{event.subagent}] " if event.subagent else "", style="blue")


def _diff_style(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
