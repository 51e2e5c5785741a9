"""Scripts that are written without spaces: every character with the next one, and the last one alone."""

from __future__ import annotations

import operator
import unicodedata
from array import array
from collections.abc import Sequence

NO_RUN = "\0"
"""Stands among runs of characters for something else, and stays what it is."""
_SPACE = array("I", " ".encode("utf-32-le"))


def pairs(run: str) -> tuple[str, ...]:
    """The pairs of one run, and its last character."""
    return (*map(operator.add, run, run[1:]), run[-1:])


def in_pairs(runs: Sequence[str]) -> tuple[str, str]:
    """The pairs of many runs as words and as stems, which leave the single characters at the ends out.

    Made by columns instead of one by one: a Chinese text has as many pairs as characters.
    """
    if not unicodedata.is_normalized("NFKC", "".join(runs)):
        runs = [without_forms(run) for run in runs]
    words = _side_by_side("".join(runs), "".join([f"{run[1:]} " for run in runs]))
    firsts = "".join([run[:-1] or run for run in runs])
    return words, _side_by_side(firsts, "".join([run[1:] or " " for run in runs]))


def without_forms(run: str) -> str:
    """Half-width and other typographical forms as the usual ones."""
    return run if unicodedata.is_normalized("NFKC", run) else unicodedata.normalize("NFKC", run)


def _side_by_side(left: str, right: str) -> str:
    """Each character with the one at the same place on the other side, and spaces between."""
    laid = _SPACE * (3 * len(left))
    laid[0::3] = array("I", left.encode("utf-32-le"))
    laid[1::3] = array("I", right.encode("utf-32-le"))
    return laid.tobytes().decode("utf-32-le").replace("  ", " ").rstrip(" ")
