"""Keep a tool's output small enough to hand on, and say where the rest lies (TR1-TR4).

What counts against the limits is the text that is kept, head and tail together; the mark between them and the note
below come on top. A line ends at a line feed; a last line without one counts too. The policy only decides: the store
writes the whole text, and `compose` is called when its path is known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from holdfast.core.events import Event, ToolCall, ToolCalled, ToolResult
from holdfast.core.messages import Language, Phrase
from holdfast.core.policy import State
from holdfast.core.settings import TruncationSettings
from holdfast.core.verdict import NOTHING, Spill, Verdict

MARK = "[holdfast:truncated]"
"""Begins the note in every language; by it an output that was cut before is known again."""

_NOTE_BYTES = 8192
_NOTE_LINES = 16
_WIDEST_CHARACTER = 4
_COUNTING_STEP = 1 << 20
_LARGEST_INDENTED = 8 << 20
"""Characters of one-line JSON that are parsed to be laid out; parsing more costs many times its size."""

_NOTE = Phrase(
    "truncation.note",
    "The output is truncated: {lines} lines, {size} bytes in all; above is {shown}.",
    "输出已截断：全文共 {lines} 行、{size} 字节；以上是{shown}。",
)
_HEAD = Phrase("truncation.head", "its beginning", "开头部分")
_BOTH = Phrase("truncation.both", "its beginning and its end", "开头和结尾部分")
_KEPT = Phrase("truncation.kept", "Full output: {path}", "完整输出：{path}")
_NEXT = Phrase(
    "truncation.next",
    "Next step: read that file with an offset and a limit, or grep it for what you need; do not read it whole.",
    "下一步：用 offset 和 limit 分段读取该文件，或用 grep 查找所需内容；不要整个读取。",
)
_LOST = Phrase(
    "truncation.lost",
    "The rest was not kept: it could not be written to disk.",
    "其余部分未能保留：写入磁盘失败。",
)
_NEXT_LOST = Phrase(
    "truncation.next_lost",
    "Next step: run it again with a narrower question (a filter, a range, fewer files) if you need the rest.",
    "下一步：如需其余内容，请缩小范围（过滤、分段或减少文件）后重新运行。",
)


@dataclass(frozen=True, slots=True)
class Totals:
    """How large a whole output is."""

    lines: int
    size: int
    """Bytes in UTF-8."""


class Truncation:
    """On `ToolCalled`: hand on small outputs as they are, ask to spill large ones."""

    name = "truncation"
    on_error: Literal["open", "closed"] = "open"

    def __init__(self, settings: TruncationSettings | None = None) -> None:
        self._limits = settings or TruncationSettings()

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if not isinstance(event, ToolCalled):
            return NOTHING, state
        result = event.result
        given = result.output or result.error
        text = indented(given) if result.structured else given
        if is_cut_already(text, self._limits):
            return NOTHING, state
        spill = spill_of(
            text,
            event.call,
            self._limits,
            suffix=".json" if result.structured else ".txt",
            keep_tail=keeps_tail(event.call, result),
        )
        if spill is not None:
            return Verdict(spill=spill), state
        return (Verdict(rewrite_output=text) if text is not given else NOTHING), state


def render(output: object) -> tuple[str, bool]:
    """A tool's return value as text, and whether it was an object (`ToolResult.structured`)."""
    if isinstance(output, str):
        return output, False
    if isinstance(output, bytes | bytearray):
        return bytes(output).decode("utf-8", "replace"), False
    if output is None:
        return "", False
    return json.dumps(output, ensure_ascii=False, indent=2, default=str), True


def indented(text: str) -> str:
    """JSON that came on one line, over many; whatever is no JSON object or list stays as it is."""
    if "\n" in text or len(text) > _LARGEST_INDENTED:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return json.dumps(value, ensure_ascii=False, indent=2) if isinstance(value, Mapping | list) and value else text


def keeps_tail(call: ToolCall, result: ToolResult) -> bool:
    """Whether the end matters as much as the beginning: commands and failures tell their errors last."""
    return call.domain == "bash" or call.tool == "bash" or result.failed


def spill_of(
    text: str,
    call: ToolCall,
    limits: TruncationSettings,
    *,
    suffix: Literal[".txt", ".json"] = ".txt",
    keep_tail: bool = False,
) -> Spill | None:
    """What to keep and what to hand on; None when the text is within the limits."""
    if len(text) <= limits.max_bytes:
        totals = totals_of(text)
        if totals.lines <= limits.max_lines and totals.size <= limits.max_bytes:
            return None
    else:
        totals = totals_of(text)
    head, tail = cut(text, limits, keep_tail=keep_tail)
    return Spill(text, preview_of(head, tail, totals), call.tool, call.id, suffix, totals.lines, totals.size)


def totals_of(text: str) -> Totals:
    """Lines and bytes, without a second copy of a large text."""
    newlines = text.count("\n")
    lines = newlines + (1 if text and not text.endswith("\n") else 0)
    if text.isascii():
        return Totals(lines, len(text))
    steps = range(0, len(text), _COUNTING_STEP)
    return Totals(lines, sum(len(_encoded(text[start : start + _COUNTING_STEP])) for start in steps))


def cut(text: str, limits: TruncationSettings, *, keep_tail: bool) -> tuple[str, str]:
    """Head and tail that together stay within the limits; the tail is empty unless it is asked for."""
    if not keep_tail:
        return cut_head(text, limits.max_lines, limits.max_bytes), ""
    return _halves(text, text, limits)


def cut_head(text: str, max_lines: int, max_bytes: int) -> str:
    """The first lines, then the first bytes of those, ending between two characters and never empty."""
    room = max(max_bytes, _WIDEST_CHARACTER)
    window = text[:room]
    end = -1
    for _ in range(max(max_lines, 1)):
        end = window.find("\n", end + 1)
        if end < 0:
            end = len(window) - 1
            break
    data = _encoded(window[: end + 1])
    if len(data) > room:
        while data[room] & 0xC0 == 0x80:  # inside a character: step back to where it begins
            room -= 1
        data = data[:room]
    return data.decode("utf-8")


def cut_tail(text: str, max_lines: int, max_bytes: int) -> str:
    """The last lines, then the last bytes of those, beginning between two characters and never empty."""
    room = max(max_bytes, _WIDEST_CHARACTER)
    window = text[-room:]
    start = len(window) - (1 if window.endswith("\n") else 0)
    for _ in range(max(max_lines, 1)):
        start = window.rfind("\n", 0, start)
        if start < 0:
            break
    data = _encoded(window[start + 1 :])
    if len(data) > room:
        first = len(data) - room
        while data[first] & 0xC0 == 0x80:
            first += 1
        data = data[first:]
    return data.decode("utf-8")


def preview_of(head: str, tail: str, totals: Totals) -> str:
    """Head and tail with a mark between them that says how much is missing."""
    if not tail:
        return head
    shown = totals_of(head), totals_of(tail)
    lines = max(0, totals.lines - shown[0].lines - shown[1].lines)
    size = max(0, totals.size - shown[0].size - shown[1].size)
    gap = f"[... {lines} lines, {size} bytes not shown ...]\n"
    return f"{_ended(head)}{gap}{tail}"


def compose(spill: Spill, path: str | None, language: Language = "en") -> str:
    """What the model gets: the preview, the totals, where the whole lies, and the next step (TR4)."""
    whole_head = spill.text.startswith(spill.preview) if spill.text else False
    return note(spill.preview, Totals(spill.lines, spill.size), path, language, with_tail=not whole_head)


def compose_streamed(
    head: str, tail: str, totals: Totals, limits: TruncationSettings, path: str | None, language: Language = "en"
) -> str:
    """The same for an output that streamed to disk and was never one string (TR7).

    `head` and `tail` are its first and last `max_bytes`; `totals` must exceed the limits.
    """
    return note(preview_of(*_halves(head, tail, limits), totals), totals, path, language, with_tail=True)


def note(preview: str, totals: Totals, path: str | None, language: Language = "en", *, with_tail: bool = False) -> str:
    """A preview with what is to be said about the rest."""
    shown = (_BOTH if with_tail else _HEAD)().text(language)
    sentences = [
        _NOTE(lines=totals.lines, size=totals.size, shown=shown),
        _KEPT(path=path) if path is not None else _LOST(),
        _NEXT() if path is not None else _NEXT_LOST(),
    ]
    return f"{_ended(preview)}\n{MARK} " + "\n".join(sentence.text(language) for sentence in sentences)


def is_cut_already(text: str, limits: TruncationSettings) -> bool:
    """Whether this is a text of `compose`: cutting it again would bury the path to the whole.

    Any tool could print the mark, so it buys no more than the room of a note.
    """
    if len(text) > limits.max_bytes + _NOTE_BYTES or MARK not in text[-_NOTE_BYTES:]:
        return False
    totals = totals_of(text)
    return totals.size <= limits.max_bytes + _NOTE_BYTES and totals.lines <= limits.max_lines + _NOTE_LINES


def _halves(beginning: str, end: str, limits: TruncationSettings) -> tuple[str, str]:
    """Half of the room for the head, the rest for the tail; a single line of room goes to the tail."""
    lines, size = limits.max_lines // 2, limits.max_bytes // 2
    head = cut_head(beginning, lines, size) if lines else ""
    return head, cut_tail(end, limits.max_lines - lines, limits.max_bytes - size)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _encoded(text: str) -> bytes:
    """UTF-8; a lone surrogate, which no encoding can carry, becomes the replacement character of the same length."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text).encode("utf-8")
