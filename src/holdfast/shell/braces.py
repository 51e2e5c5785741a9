"""Brace expansion: `{a,b}{1..3}`. Done on the source, because bash does it before everything else."""

from __future__ import annotations

from holdfast.shell.lazy import Lazy
from holdfast.shell.syntax import Literal, ShellSyntaxError, TooComplex, Word
from holdfast.shell.words import WordReader

MAX_BRACES = 60
_BRACE_RANGE = Lazy(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?\Z")


def expand_braces(word: Word) -> list[Word]:
    """`{a,b}{1..3}` -> six words."""
    if "{" not in word.raw or not any(isinstance(p, Literal) and not p.quoted and "{" in p.text for p in word.parts):
        return [word]
    if word.raw.count("{") > MAX_BRACES:
        raise TooComplex("more braces than are followed")
    texts = _brace_texts(word.raw, [256])
    if len(texts) == 1:
        return [word]
    result = []
    for text in texts:
        try:
            result.append(_reread(text))
        except ShellSyntaxError:
            return [word]
    return result


def _reread(text: str) -> Word:
    from holdfast.shell.parse import Parser  # noqa: PLC0415 - only needed when braces were expanded

    reader: WordReader = Parser(text)
    return reader.word(may_be_empty=True)


def _brace_texts(text: str, budget: list[int]) -> list[str]:
    at = 0
    while True:
        at, pieces, end = _find_brace(text, at)
        if pieces is None:
            return [text]
        if len(pieces) > 1 or _BRACE_RANGE.match(pieces[0]):
            break
        at += 1
    choices: list[str] = []
    if len(pieces) > 1:
        for piece in pieces:
            choices.extend(_brace_texts(piece, budget))
    else:
        choices = _brace_range(pieces[0], budget)
    tails = _brace_texts(text[end + 1 :], budget)
    budget[0] -= len(choices) * len(tails)
    if budget[0] < 0:
        raise TooComplex("a brace expansion larger than is followed")
    return [text[:at] + choice + tail for choice in choices for tail in tails]


def _find_brace(text: str, begin: int) -> tuple[int, list[str] | None, int]:
    """The first unquoted `{...}` at or after `begin`: its place, the pieces between its commas, its end."""
    at = begin
    while at < len(text):
        jumped = _skip_quoted(text, at)
        if jumped != at:
            at = jumped
            continue
        if text[at] == "{" and not (at > 0 and text[at - 1] == "$"):
            pieces, last, depth, here = [], at + 1, 0, at + 1
            while here < len(text):
                jumped = _skip_quoted(text, here)
                if jumped != here:
                    here = jumped
                    continue
                char = text[here]
                if char == "{":
                    depth += 1
                elif char == "}":
                    if depth == 0:
                        pieces.append(text[last:here])
                        return at, pieces, here
                    depth -= 1
                elif char == "," and depth == 0:
                    pieces.append(text[last:here])
                    last = here + 1
                here += 1
        at += 1
    return len(text), None, 0


def _skip_quoted(text: str, at: int) -> int:
    char = text[at]
    if char == "\\":
        return min(at + 2, len(text))
    if char in "'\"`":
        end = text.find(char, at + 1)
        return end + 1 if end >= 0 else len(text)
    if text.startswith(("$(", "${"), at):
        opening, closing = text[at + 1], ")" if text[at + 1] == "(" else "}"
        depth = 0
        for here in range(at + 1, len(text)):
            if text[here] == opening:
                depth += 1
            elif text[here] == closing:
                depth -= 1
                if depth == 0:
                    return here + 1
        return len(text)
    return at


def _brace_range(text: str, budget: list[int]) -> list[str]:
    match = _BRACE_RANGE.match(text)
    assert match is not None
    first, last, step_text = match.groups()
    if first.lstrip("-").isdigit() != last.lstrip("-").isdigit():
        return ["{" + text + "}"]
    numeric = first.lstrip("-").isdigit()
    begin, end = (int(first), int(last)) if numeric else (ord(first), ord(last))
    step = abs(int(step_text)) if step_text and int(step_text) else 1
    count = abs(end - begin) // step + 1
    if count > budget[0]:  # a long run differs only in its numbers: both ends stand for all of it
        values = [begin, end]
    else:
        values = list(range(begin, end + (1 if end >= begin else -1), step if end >= begin else -step))
    width = max(len(first), len(last)) if numeric and (first.startswith("0") or last.startswith("0")) else 0
    return [str(v).zfill(width) if numeric else chr(v) for v in values]
