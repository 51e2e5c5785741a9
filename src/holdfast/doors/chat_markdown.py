"""Splits a growing Markdown text into blocks that are finished and the one that is still being written. Pure."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_LIST = re.compile(r"\s*(?:[-*+>]|\d{1,9}[.)])(?:\s|$)")


class BlockSplitter:
    """`feed` gives the blocks that are complete; `rest` is what may still change."""

    def __init__(self) -> None:
        self._text = ""

    @property
    def rest(self) -> str:
        return self._text

    def feed(self, piece: str) -> list[str]:
        self._text += piece
        blocks: list[str] = []
        while (end := _end_of_first_block(self._text)) is not None:
            block, self._text = self._text[:end], self._text[end:]
            if block.strip():
                blocks.append(block.strip("\n"))
        return blocks

    def finish(self) -> str:
        rest, self._text = self._text, ""
        return rest.strip("\n")

    def reset(self) -> None:
        self._text = ""


def _end_of_first_block(text: str) -> int | None:
    """Where the first block ends; None while it is open.

    A fenced block ends with its fence, blank lines or not. Anything else ends at a blank line; a list goes on over it
    when the next line is indented or another entry, so it is not finished before that line has begun.
    """
    fence = ""
    position = 0
    is_list = _LIST.match(text.lstrip("\n")) is not None
    has_content = False
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        if not line.endswith("\n"):
            return None
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                return position
        elif mark:
            if has_content and not is_list:
                return start
            fence, has_content = mark[1], True
        elif line.strip():
            has_content = True
        elif has_content:
            following = text[position:].lstrip("\n")
            if not following:
                return None
            if not (is_list and (following[0].isspace() or _LIST.match(following))):
                return position
    return None
