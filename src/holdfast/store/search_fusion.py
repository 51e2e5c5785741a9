"""One ranking of two: what fits by its words, and what is near by its meaning (reciprocal ranks)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.store.search_cursor import Cursor

_K = 60
"""The usual constant: how much a first place is worth more than a tenth."""
_ALL_WORDS = 2.0
"""Whoever types words that are there means these: hits with all of them stay before those near by meaning alone."""


def fused(position: Cursor, near: Sequence[int]) -> tuple[Cursor, dict[int, float]]:
    """The ranked beginning with what is near among it, and the scores. No hit by words is lost, none comes twice."""
    weight = _ALL_WORDS if position.mode == "all" else 1.0
    scores: dict[int, float] = {}
    for rank, seq in enumerate(position.pending, 1):
        scores[seq] = weight / (_K + rank)
    for rank, seq in enumerate(near, 1):
        scores[seq] = scores.get(seq, 0.0) + 1.0 / (_K + rank)
    head = tuple(sorted(scores, key=lambda seq: -scores[seq]))
    return replace(position, pending=head, shown=head if position.before else ()), scores
