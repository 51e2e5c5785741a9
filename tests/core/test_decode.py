"""Plain values become typed settings, or every misfit is named with its path."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.decode import Problem, camel, decode, dotted, encode, show
from holdfast.core.settings import DEFAULTS, Settings


@dataclass(frozen=True, slots=True)
class Inner:
    name: str
    size: int = field(default=1, metadata={"min": 1, "max": 9})


@dataclass(frozen=True, slots=True)
class Outer:
    flag: bool = False
    ratio: float = 0.5
    kind: Literal["a", "b"] = "a"
    maybe: int | None = None
    either: int | str = 0
    inner: Inner | None = None
    items: tuple[Inner, ...] = ()
    words: tuple[str, ...] = ()
    named: Mapping[str, Inner] = field(default_factory=dict)
    any_thing: Any = None
    odd_key: str = field(default="", metadata={"key": "$odd"})
    secret: str = field(default="", metadata={"internal": True})
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self):
        if self.low > self.high:
            raise ValueError("low must not be above high")


def problems(data):
    value, found = decode(Outer, data)
    assert (value is None) == bool(found)
    return [(dotted(problem.path), problem.at, problem.message.text()) for problem in found]


def test_everything_that_fits_is_taken():
    value, found = decode(
        Outer,
        {
            "flag": True,
            "ratio": 1,
            "kind": "b",
            "maybe": None,
            "either": "x",
            "inner": {"name": "i"},
            "items": [{"name": "j", "size": 9}],
            "words": ["w"],
            "named": {"n": {"name": "k"}},
            "anyThing": [1, {"x": None}],
            "$odd": "o",
        },
    )
    assert found == []
    assert value == Outer(
        flag=True, ratio=1.0, kind="b", either="x", inner=Inner("i"), items=(Inner("j", 9),), words=("w",),
        named={"n": Inner("k")}, any_thing=[1, {"x": None}], odd_key="o",
    )  # fmt: skip
    assert isinstance(value.ratio, float)


@pytest.mark.parametrize(
    ("data", "path", "at", "message"),
    [
        ({"flag": 1}, "flag", "value", "expected true or false, got 1"),
        ({"ratio": True}, "ratio", "value", "expected a number, got true"),
        ({"ratio": float("nan")}, "ratio", "value", "expected a finite number, got nan"),
        ({"ratio": float("inf")}, "ratio", "value", "expected a finite number, got inf"),
        ({"kind": "c"}, "kind", "value", "expected one of 'a', 'b', got 'c'"),
        ({"kind": True}, "kind", "value", "expected one of 'a', 'b', got true"),
        ({"maybe": 1.5}, "maybe", "value", "expected a whole number, got 1.5"),
        ({"either": None}, "either", "value", "expected a whole number or a string, got null"),
        ({"inner": {}}, "inner", "value", "'name' is missing"),
        ({"inner": []}, "inner", "value", "expected an object, got a list"),
        ({"items": [{"name": "x", "size": 10}]}, "items[0].size", "value", "must be between 1 and 9, got 10"),
        ({"items": {}}, "items", "value", "expected a list, each item an object, got an object"),
        ({"words": "w"}, "words", "value", "expected a list, each item a string, got 'w'"),
        ({"words": ["w", 1]}, "words[1]", "value", "expected a string, got 1"),
        ({"named": {"n": {"nam": "x", "name": "y"}}}, "named.n.nam", "key", "unknown key 'nam'; did you mean 'name'?"),
        ({"named": []}, "named", "value", "expected an object, got a list"),
        ({"secret": "x"}, "secret", "key", "unknown key 'secret'"),
        ({"any_thing": 1}, "any_thing", "key", "unknown key 'any_thing'; did you mean 'anyThing'?"),
        ({"low": 2}, "", "value", "low must not be above high"),
        ([], "", "value", "expected an object, got a list"),
    ],
)
def test_what_does_not_fit_is_named_with_its_path(data, path, at, message):
    ((found_path, found_at, found_message),) = problems(data)
    assert (found_path, found_at) == (path, at)
    assert found_message.startswith(message)


def test_every_problem_is_found_at_once():
    assert [path for path, _, _ in problems({"flag": 1, "x": 2, "words": [1, 2]})] == [
        "flag",
        "x",
        "words[0]",
        "words[1]",
    ]


def test_an_unknown_key_that_resembles_nothing_lists_what_there_is():
    ((_, _, message),) = problems({"zzzz": 1})
    assert "known keys: $odd, anyThing" in message


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(json_values)
def test_any_value_is_decoded_or_refused_and_never_fails_otherwise(data):
    value, found = decode(Settings, data)
    assert (value is None) == bool(found)


def with_something_replaced(data, replacement, path):
    """The value with the part at an arbitrary path replaced."""
    if not path or not isinstance(data, dict) or not data:
        return replacement
    key = sorted(data)[path[0] % len(data)]
    return {**data, key: with_something_replaced(data[key], replacement, path[1:])}


@given(json_values, st.lists(st.integers(0, 30), max_size=5))
def test_a_setting_replaced_by_anything_is_taken_whole_or_named(replacement, path):
    data = with_something_replaced(encode(DEFAULTS), replacement, path)
    value, found = decode(Settings, data)
    assert (value is None) == bool(found)
    if value is not None:
        again, none = decode(Settings, encode(value))
        assert (again, none) == (value, [])


def test_encode_gives_back_what_decode_reads():
    assert decode(Settings, encode(DEFAULTS)) == (DEFAULTS, [])


@pytest.mark.parametrize(
    ("name", "key"), [("max_lines", "maxLines"), ("id", "id"), ("ttl_days", "ttlDays"), ("_x_y", "xY")]
)
def test_keys_are_written_in_camel_case(name, key):
    assert camel(name) == key


def test_a_long_value_is_cut_in_messages():
    assert len(show("x" * 1000)) == 60


def test_a_problem_reads_as_path_and_message():
    assert str(Problem(("a", 0, "b"), "is wrong")) == "a[0].b: is wrong"
    assert str(Problem((), "is wrong")) == "(top level): is wrong"
