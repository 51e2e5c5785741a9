"""Our reader agrees with an independent one about every text, and knows where everything stands."""

import json
import re

import pyjson5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.json5_tree import Entry, Json5Error, Lines, find, parse
from jsonc_texts import newlines, texts, values, written


def same(one, other):
    return json.dumps(one) == json.dumps(other)


@given(st.data())
def test_what_people_write_is_read_as_by_an_independent_reader(data):
    value = data.draw(values)
    text = data.draw(written(value, data.draw(newlines)))
    assert same(parse(text).value, value)
    assert same(pyjson5.decode(text, maxdepth=None), value)


@given(st.text(alphabet="{}[]:,\"'/*\\ \n\r\tabu0123x.eE+-_$\u2028\ufeff", max_size=20))
def test_any_text_is_read_alike_or_refused_by_both(text):
    try:
        theirs = ("read", json.dumps(pyjson5.decode(text, maxdepth=None), allow_nan=False))
    except (pyjson5.Json5Exception, ValueError):
        theirs = ("refused", "")
    try:
        ours = ("read", json.dumps(parse(text).value))
    except Json5Error as error:
        # keys given twice, which JSON5 takes; and what it has not, but the other reader takes: 1_0 and 1e
        if "each key once" in str(error) or re.search(r"\d_|_\d|\d\.?[eE](?![+-]?\d)", text):
            return
        ours = ("refused", "")
    assert ours == theirs


@given(st.data())
def test_every_span_reads_back_to_its_value(data):
    value = data.draw(st.dictionaries(texts, values, max_size=3))
    text = data.draw(written(value, data.draw(newlines)))
    root = parse(text)
    for entry in root.entries:
        assert same(parse(text[entry.node.start : entry.node.end]).value, value[entry.key])
        assert entry.comma is None or text[entry.comma] == ","
        assert find(root, (entry.key,)) == entry


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_and_columns_begin_at_one(newline):
    text = newline.join(["{", "  a: [1,", "   2]}"])
    lines = Lines(text)
    place = find(parse(text), ("a", 1))
    assert isinstance(place, Entry)
    assert lines.at(0) == (1, 1)
    assert lines.at(place.start) == (3, 4)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: +.5, b: 0x1F, c: -0x10, d: 5., e: 1e3,}", {"a": 0.5, "b": 31, "c": -16, "d": 5.0, "e": 1000.0}),
        (r"'\x41\'\v\0\u4e2d'", "A'\x0b\0中"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"one\\\r\ntwo"', "onetwo"),
        ("{\\u0061b: null, $x: true, _: false}", {"ab": None, "$x": True, "_": False}),
    ],
)
def test_JSON5_is_understood(text, value):
    assert parse(text).value == value


@pytest.mark.parametrize("depth", [64, 65, 100_000])
def test_depth_is_bounded(depth):
    text = "[" * depth + "]" * depth
    if depth <= 64:
        assert parse(text).value
    else:
        with pytest.raises(Json5Error, match="at most 64 levels"):
            parse(text)


@pytest.mark.parametrize("text", ['"\\ud83d"', '"\\u12"', "1e999", "NaN", "9" * 401, "01", "1_0", "{a: 1, 'a': 2}"])
def test_what_no_setting_can_hold_is_refused(text):
    with pytest.raises(Json5Error):
        parse(text)
