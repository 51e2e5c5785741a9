"""SC6: vectors as bytes and signs keep their directions, and the signs choose what the bytes would."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.meaning_vectors import cosines, nearest_signs, pack, signs_of
from holdfast.store.search_cursor import Cursor
from holdfast.store.search_fusion import fused

numbers = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.integers(1, 40).flatmap(lambda size: st.lists(numbers, min_size=size, max_size=size))
usual = st.lists(st.floats(-1, 1).filter(lambda number: abs(number) > 1e-3), min_size=16, max_size=16)


@given(vectors)
def test_SC6_any_vector_is_packed_or_has_no_direction(vector):
    packed = pack(vector)
    if packed is None:
        assert not any(vector)
        return
    assert len(packed.numbers) == len(vector)
    assert packed.length >= 127
    assert packed.signs.bit_length() <= len(vector)
    assert cosines(packed, [packed]) == [pytest.approx(1.0)]


@given(usual, usual)
def test_SC6_likeness_survives_the_packing(one, other):
    exact = sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))
    first, second = pack(one), pack(other)
    assert first is not None
    assert second is not None
    assert cosines(first, [second, first]) == [pytest.approx(exact, abs=0.04), pytest.approx(1.0)]


@given(usual, st.floats(1e-6, 1e6))
def test_SC6_only_the_direction_counts(vector, factor):
    assert signs_of(vector) == signs_of([number * factor for number in vector])


@given(st.integers(0, 2**24 - 1), st.lists(st.integers(0, 2**24 - 1), max_size=60), st.integers(1, 20), st.data())
def test_SC6_the_nearest_signs_are_those_that_differ_least(query, rows, most, data):
    chosen = data.draw(st.none() | st.lists(st.sampled_from(range(len(rows))), unique=True) if rows else st.none())
    found = nearest_signs(query, rows, chosen, most)
    places = range(len(rows)) if chosen is None else chosen
    distance = {place: (rows[place] ^ query).bit_count() for place in places}
    assert set(found) <= set(places)
    assert len(found) == len(set(found)) == min(most, len(distance))
    assert sorted(distance[place] for place in found) == sorted(distance.values())[: len(found)]


def test_SC6_signs_choose_the_near_ones_among_many():
    chance = random.Random(7)

    def like(centre, noise):
        return [number + chance.gauss(0, noise) for number in centre]

    query = [chance.gauss(0, 1) for _ in range(256)]
    rows = [[chance.gauss(0, 1) for _ in range(256)] for _ in range(3000)] + [like(query, 1.0) for _ in range(20)]
    found = nearest_signs(signs_of(query), [signs_of(row) for row in rows], None, 200)
    assert set(range(3000, 3020)) <= set(found)


cursors = st.builds(
    lambda mode, pending, goes_on: Cursor(mode, 1000 if goes_on else 0, tuple(pending), tuple(pending) * goes_on),
    st.sampled_from(["all", "any"]),
    st.lists(st.integers(1, 99), unique=True),
    st.booleans(),
)


@given(cursors, st.lists(st.integers(1, 99), unique=True))
def test_SC6_fusing_loses_no_hit_and_doubles_none(position, near):
    joined, scores = fused(position, near)
    assert sorted(joined.pending) == sorted({*position.pending, *near}) == sorted(scores)
    assert joined.shown == (joined.pending if position.before else ())
    assert (joined.mode, joined.before) == (position.mode, position.before)
    if position.pending and near and position.pending[0] == near[0]:
        assert joined.pending[0] == near[0]
    for ranking in (position.pending, near):
        alone = [seq for seq in joined.pending if (seq in position.pending) != (seq in near) and seq in ranking]
        assert alone == [seq for seq in ranking if seq in alone], "each ranking keeps its order"
