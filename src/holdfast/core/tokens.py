"""How many tokens a text is, without a tokenizer; and how many a model has room for (CO1, CO2).

Modern tokenizers first cut a text into runs (a word, up to three digits, some punctuation, line breaks with their
indentation) and then split what is rare. So counting runs by kind of byte comes close, in a few passes of C speed.
The weights are a fit to o200k over English, code, JSON, logs and Chinese: `tools/fit_tokens.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from holdfast.core.model_table import KnownModel, find_model

Estimator = Callable[[str], int]
EstimatorName = Literal["bytes", "chars4", "tokenizer"]

MAX_OUTPUT_RESERVE = 4096
OUTPUT_RESERVE_SHARE = 0.2


def _byte_classes() -> bytes:
    """For each byte the code of its class. Only letters map to letters: `bytes.title` then marks where words begin."""
    classes = bytearray(b"." * 256)
    spans: dict[bytes, Iterable[int]] = {
        b"l": range(ord("a"), ord("z") + 1),
        b"u": range(ord("A"), ord("Z") + 1),
        b"0": range(ord("0"), ord("9") + 1),
        b" ": b" \t",
        b"\n": b"\n\r",
        b"-": range(0x80, 0xC0),  # the rest of a character; its first byte has said what it is
        b"1": range(0xC0, 0xD0),  # Latin with marks, Greek
        b"2": range(0xD0, 0xE0),  # Cyrillic, Hebrew, Arabic
        b"3": (0xE0, 0xE1, 0xEA, 0xEB, 0xEC, 0xED),  # Indic, Thai, Hangul
        b"4": (0xE2,),  # typographic signs, arrows, boxes
        b"5": (0xE3,),  # kana, CJK punctuation
        b"6": range(0xE4, 0xEA),  # Chinese characters
        b"7": (0xEE, 0xEF),  # full-width forms
        b"8": range(0xF0, 0x100),  # emoji and rare scripts
    }
    for code, span in spans.items():
        for byte in span:
            classes[byte] = code[0]
    return bytes(classes)


_CLASSES = _byte_classes()

FEATURES = (
    "bytes", "upper", "digits", "punctuation", "word starts", "humps", "digit runs", "punctuation runs",
    "line break runs", "numbers after a space", "numbers after punctuation",
    "latin", "cyrillic", "hangul", "signs", "kana", "chinese", "full width", "astral",
)  # fmt: skip
"""What is counted; the last eight are characters by script, told by their first byte."""

WEIGHTS = (
    0.0300, 0.0521, 0.1200, 0.0500, 0.8836, 1.8440, 0.6906, 0.4306, 1.5619, 1.4330, 0.5211,
    0.9004, 0.2164, 0.6537, 0.5000, 0.6055, 0.6080, 1.4832, 1.0000,
)  # fmt: skip
"""Tokens per unit of each feature, fitted to o200k by tools/fit_tokens.py."""

_BYTE, _UPPER, _DIGIT, _SIGN, _WORD, _HUMP, _DIGITS, _SIGNS, _LINES, _SPACE_NUMBER, _SIGN_NUMBER = WEIGHTS[:11]
_OTHER_SCRIPTS = tuple(zip((b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8"), WEIGHTS[11:], strict=True))


def features(text: str) -> tuple[int, ...]:
    """The counts that an estimate is made of, in the order of `FEATURES`."""
    classes = text.encode("utf-8", "surrogatepass").translate(_CLASSES)
    count = classes.count
    starts = classes.title().count
    return (
        len(classes),
        count(b"u"),
        count(b"0"),
        count(b"."),
        starts(b"L") + starts(b"U"),
        count(b"lu"),
        count(b"0") - count(b"00"),
        count(b".") - count(b".."),
        count(b"\n") - count(b"\n\n"),
        count(b" 0"),
        count(b".0"),
        *(count(code) for code, _ in _OTHER_SCRIPTS),
    )


def estimate(text: str) -> int:
    """About how many tokens `text` is, in a tokenizer of the size of o200k; never 0 for a text that is not empty.

    The sum of `features` times `WEIGHTS`, written out: this runs once for every item of every history.
    """
    if not text:
        return 0
    classes = text.encode("utf-8", "surrogatepass").translate(_CLASSES)
    count = classes.count
    starts = classes.title().count
    tokens = (
        _BYTE * len(classes)
        + _UPPER * count(b"u")
        + (_DIGIT + _DIGITS) * count(b"0")
        - _DIGITS * count(b"00")
        + (_SIGN + _SIGNS) * count(b".")
        - _SIGNS * count(b"..")
        + _WORD * (starts(b"L") + starts(b"U"))
        + _HUMP * count(b"lu")
        + _LINES * (count(b"\n") - count(b"\n\n"))
        + _SPACE_NUMBER * count(b" 0")
        + _SIGN_NUMBER * count(b".0")
    )
    if not text.isascii():
        for code, weight in _OTHER_SCRIPTS:
            tokens += weight * count(code)
    return int(tokens) or 1


def chars4(text: str) -> int:
    """The ADR's rule of thumb; it sees Chinese, JSON and logs at about half (CO2)."""
    return -(-len(text) // 4)


def estimator(name: EstimatorName, tokenizer: Estimator | None = None) -> Estimator:
    """The estimator of that name; a real tokenizer is a library, so whoever chooses it brings it along."""
    if name == "chars4":
        return chars4
    if name == "tokenizer":
        if tokenizer is None:
            raise ValueError(
                "estimator 'tokenizer' needs a tokenizer: pass `holdfast.store.tokenizer.count`, "
                "or set agents.runtime.compaction.estimator to 'bytes'"
            )
        return tokenizer
    return estimate


def output_reserve(window: int) -> int:
    """Tokens that stay free for the answer."""
    return min(MAX_OUTPUT_RESERVE, int(OUTPUT_RESERVE_SHARE * window))


def usable(window: int, reserve: int | None = None) -> int:
    """Tokens that a history may fill: the window less the answer's reserve (the host's own, else ours)."""
    return max(0, window - (output_reserve(window) if reserve is None else reserve))


def window_for(
    model: str,
    custom: int | None = None,
    reported: int | None = None,
    managed: bool = False,
    table: tuple[KnownModel, ...] | None = None,
) -> int | None:
    """The context window: the user's customContext, then what the provider reports, then the table; None: unknown.

    A managed model's window is fixed by whoever serves it, so customContext does not count there (CO1).
    """
    known = find_model(model) if table is None else find_model(model, table)
    if custom is not None and not managed and not (known is not None and known.managed):
        return custom
    if reported is not None:
        return reported
    return known.window if known is not None else None
