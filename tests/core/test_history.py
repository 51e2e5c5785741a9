"""Histories: pairs, turns, steps, and sizes that are kept instead of counted again."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.history import (
    IMAGE_TOKENS,
    Item,
    Size,
    count_tokens,
    is_valid,
    item_tokens,
    measure,
    pairs,
    partners,
    shortened,
    sized,
    steps,
    turns,
    unpaired,
)


def call(name):
    return Item("call", "{}", call_id=name, tool="read")


def result(name, text="out"):
    return Item("result", text, call_id=name, tool="read")


U, A, R, S = Item("user", "u"), Item("assistant", "a"), Item("reasoning", "r"), Item("system", "s")


@pytest.mark.parametrize(
    ("history", "lonely"),
    [
        ([], set()),
        ([U, call("a"), result("a"), A], set()),
        ([call("a"), call("b"), result("b"), result("a")], set()),
        ([call("a"), call("b"), result("b")], {0}),
        ([result("a"), call("a")], {0, 1}),
        ([call("a"), result("a"), result("a")], {2}),
        ([call("a"), call("a"), result("a")], {0}),
        ([call("a"), result("a"), call("a"), result("a")], set()),
    ],
)
def test_CO4_what_has_no_other_half(history, lonely):
    assert unpaired(history) == lonely
    assert is_valid(history) == (not lonely)


halves = st.builds(
    lambda kind, name: Item(kind, call_id=name), st.sampled_from(["call", "result", "user"]), st.sampled_from("abc")
)


@given(st.lists(halves, max_size=30))
def test_CO4_partners_are_each_others(history):
    partner, lonely = partners(history)
    assert set(lonely) == {i for i, other in enumerate(partner) if other < 0 and history[i].kind != "user"}
    for first, second in pairs(history):
        assert first < second
        assert partner[first] == second
        assert partner[second] == first
        assert history[first].call_id == history[second].call_id
    assert 2 * len(list(pairs(history))) == sum(other >= 0 for other in partner)


def test_CO3_turns_begin_at_the_users_words():
    assert turns([]) == []
    assert turns([S, A, U, A, U, U]) == [(0, 2), (2, 4), (4, 5), (5, 6)]
    assert turns([U]) == [(0, 1)]


def test_CO3_a_step_is_one_reply_with_its_calls():
    history = [U, R, A, call("a"), call("b"), result("a"), result("b"), A, U, call("c"), result("c")]
    assert steps(history) == [1, 7, 9]
    assert steps(history, 8) == [9]


def test_CO2_sizes_are_kept_and_not_counted_again():
    asked = []

    def estimate(text):
        asked.append(text)
        return len(text)

    history = [sized(item, estimate) for item in (U, A, result("a", "four"))]
    assert asked == ["u", "a", "four"]
    assert count_tokens(history, estimate) == 4 + 1 + 4 + 1 + 8 + 4
    assert asked == ["u", "a", "four"]
    assert measure([*history, Item("user", "new")], estimate) == Size(29, 9)
    assert asked == ["u", "a", "four", "new"]
    assert sized(history[0], estimate) is history[0]


def test_CO2_images_have_a_size():
    assert item_tokens(Item("user", "", images=2)) == 4 + 2 * IMAGE_TOKENS


def test_CO2_a_kept_size_is_no_part_of_what_an_item_is():
    assert sized(U) == U


def test_CO4_a_shortened_item_is_an_item_like_any_other():
    long = Item("result", "x" * 100, "c", "bash", True, 2, True, 30, {"raw": 1}, 3, "/vault/out.txt")
    short = shortened(long, "line", 7)
    assert type(short) is Item
    assert short == dataclasses.replace(long, text="line", images=0, pinned=False)
    assert (short.tokens, short.raw, hash(short)) == (7, None, hash(short))
    with pytest.raises(dataclasses.FrozenInstanceError):
        short.text = "other"
    assert {field.name for field in dataclasses.fields(Item)} == set(Item.__slots__)


@pytest.mark.parametrize(
    ("one", "other", "larger"),
    [((1, 1), (1, 1), False), ((2, 1), (1, 9), True), ((1, 9), (2, 1), True), ((1, 1), (2, 2), False)],
)
def test_CO4_larger_by_either_measure_is_larger(one, other, larger):
    assert Size(*one).larger_than(Size(*other)) is larger
