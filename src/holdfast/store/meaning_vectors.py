"""Vectors, small enough to keep and quick enough to compare without a library for it.

A vector becomes one byte a number, and besides one bit a number: its sign. Two rows of bits are compared by one XOR
and one count, for which Python needs a tenth of a microsecond; the bits choose some hundreds out of everything, the
bytes put these in order.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import mul

_LARGEST = 127


@dataclass(frozen=True, slots=True)
class Packed:
    """A vector as it is kept; only its direction counts."""

    signs: int
    numbers: bytes
    length: float
    """Of `numbers` as a vector, for the cosine."""

    @property
    def size(self) -> int:
        """Its dimensions."""
        return len(self.numbers)


def pack(vector: Sequence[float]) -> Packed | None:
    """None for a vector without a direction. The numbers must be finite."""
    largest = max(map(abs, vector), default=0.0)
    if largest == 0.0:
        return None
    # Not by one factor: for the smallest numbers of a double it would be infinite.
    small = array("b", [round(number / largest * _LARGEST) for number in vector])
    return Packed(signs_of(vector), small.tobytes(), math.sqrt(sum(map(mul, small, small))))


def signs_of(vector: Sequence[float]) -> int:
    return int("".join(["1" if number > 0 else "0" for number in vector]), 2)


def cosines(query: Packed, others: Iterable[Packed]) -> list[float]:
    """How like the query each of them is. All must have the same number of dimensions."""
    wanted = array("b", query.numbers).tolist()
    found = []
    for other in others:
        product: int = sum(map(mul, wanted, array("b", other.numbers)))
        found.append(product / (query.length * other.length))
    return found


def nearest_signs(query: int, rows: Sequence[int], chosen: Iterable[int] | None, most: int) -> list[int]:
    """Which rows, of the chosen ones or all, differ from the query in the fewest signs; about `most` of them."""
    places: Sequence[int] = range(len(rows)) if chosen is None else list(chosen)
    if len(places) <= most:
        return list(places)
    if chosen is None:
        distances = [(row ^ query).bit_count() for row in rows]
    else:
        distances = [(rows[place] ^ query).bit_count() for place in places]
    cut = sorted(distances)[most - 1]
    found = [place for place, distance in zip(places, distances, strict=True) if distance < cut]
    equal = [place for place, distance in zip(places, distances, strict=True) if distance == cut]
    return found + equal[: most - len(found)]
