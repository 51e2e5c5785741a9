"""A splice changes what it says and nothing else, in every way that people write JSONC."""

import copy
import re

import pyjson5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.json5_tree import find, parse
from holdfast.store.jsonc_splice import SpliceError, insert_item, remove, set_value
from jsonc_texts import documents, newlines, rules, scalars, values, written

pytestmark = pytest.mark.slow

PATH = ("agents", "runtime", "permission", "rules")
RULE = {"domain": "bash", "pattern": "git *", "decision": "allow"}


def rules_in(value):
    for key in PATH:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def with_rules(value, new):
    result = copy.deepcopy(value)
    place = result
    for key in PATH[:-1]:
        place = place.setdefault(key, {})
    place[PATH[-1]] = new
    return result


def is_single_insertion(before, after):
    grown = len(after) - len(before)
    return grown > 0 and any(
        after[:at] == before[:at] and after[at + grown :] == before[at:] for at in range(len(before) + 1)
    )


def only_adds(before, after):
    """After is before with one piece inserted, or with one piece and, further up, the comma it needs."""
    if is_single_insertion(before, after):
        return True
    commas = (at for at in range(len(before)) if after[:at] == before[:at] and after[at] == ",")
    return any(is_single_insertion(before[at:], after[at + 1 :]) for at in commas)


def comments(text):
    return re.findall(r"//[^\n\r]*|/\*[\s\S]*?\*/", text)


@given(st.data())
def test_PE7_a_rule_is_added_and_every_other_byte_stays(data):
    value = data.draw(documents())
    before = data.draw(written(value, data.draw(newlines)))
    assert parse(before).value == value
    old = rules_in(value) or []
    index = data.draw(st.integers(0, len(old)))
    rule = data.draw(rules)
    after = insert_item(before, PATH, index, rule)
    expected = with_rules(value, [*old[:index], rule, *old[index:]])
    assert parse(after).value == expected
    assert pyjson5.decode(after, maxdepth=None) == expected
    assert only_adds(before, after)


@given(st.data())
def test_a_value_is_set_and_the_rest_stays(data):
    value = data.draw(st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from("de"), scalars)))
    before = data.draw(written(value, data.draw(newlines)))
    outer, inner = data.draw(st.sampled_from("abc")), data.draw(st.sampled_from("def"))
    new = data.draw(values)
    after = set_value(before, (outer, inner), new)
    expected = copy.deepcopy(value)
    expected.setdefault(outer, {})[inner] = new
    assert parse(after).value == pyjson5.decode(after, maxdepth=None) == expected
    place = find(parse(before), (outer, inner))
    if place is None:
        assert only_adds(before, after)
    else:
        assert after.startswith(before[: place.node.start])
        assert after.endswith(before[place.node.end :])


@given(st.data())
def test_an_item_is_removed_and_every_comment_stays(data):
    numbers = data.draw(st.lists(st.integers(), min_size=1, max_size=4))
    before = data.draw(written({"x": {"list": numbers}}, data.draw(newlines)))
    index = data.draw(st.integers(0, len(numbers) - 1))
    after = remove(before, ("x", "list", index))
    expected = {"x": {"list": numbers[:index] + numbers[index + 1 :]}}
    assert parse(after).value == pyjson5.decode(after, maxdepth=None) == expected
    assert comments(before) == comments(after)


@given(st.data())
def test_adding_and_removing_again_gives_back_the_value(data):
    value = data.draw(documents())
    before = data.draw(written(value, data.draw(newlines)))
    old = rules_in(value) or []
    index = data.draw(st.integers(0, len(old)))
    after = remove(insert_item(before, PATH, index, RULE), (*PATH, index))
    assert (rules_in(parse(after).value) or []) == old


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}\n", '{\n  "agents": {\n    "runtime": {\n      "permission": {\n        "rules": [\n          ITEM\n'
                 "        ]\n      }\n    }\n  }\n}\n"),
        ('{"agents": {}}', '{"agents": {"runtime": { "permission": { "rules": [ITEM] } }}}'),
        ("{agents: {runtime: {permission: {\n\trules: [] // none yet\n}}}}",
         "{agents: {runtime: {permission: {\n\trules: [\n\t\tITEM\n\t] // none yet\n}}}}"),
        ("{agents: {runtime: {permission: {rules: [ // none yet\r\n]}}}}",
         "{agents: {runtime: {permission: {rules: [ // none yet\r\n  ITEM\r\n]}}}}"),
        ("{agents: {runtime: {permission: {rules: [\n  // all\n  'x' // last\n]}}}}",
         "{agents: {runtime: {permission: {rules: [\n  // all\n  'x', // last\n  ITEM\n]}}}}"),
        ("{agents: {runtime: {permission: {rules: [\n  'x',\n]}}}}",
         "{agents: {runtime: {permission: {rules: [\n  'x',\n  ITEM,\n]}}}}"),
        ("{agents: {runtime: {permission: {rules: ['x']}}}}",
         "{agents: {runtime: {permission: {rules: ['x', ITEM]}}}}"),
        ("{agents: {runtime: {permission: {rules: [// c\u2028]}}}}",
         "{agents: {runtime: {permission: {rules: [// c\n  ITEM\u2028]}}}}"),
    ],
)  # fmt: skip
def test_PE7_the_rule_is_written_in_the_manner_of_the_file(before, after):
    item = '{ "domain": "bash", "pattern": "git *", "decision": "allow" }'
    count = len(rules_in(parse(before).value) or [])
    assert insert_item(before, PATH, count, RULE) == after.replace("ITEM", item)


def test_a_rule_goes_above_the_comment_of_the_rule_that_follows():
    before = '{"agents": {"runtime": {"permission": {"rules": [\n  "a", // one\n  // why b\n  "b"\n]}}}}'
    assert '"a", // one\n  "new",\n  // why b\n  "b"' in insert_item(before, PATH, 1, "new")


@pytest.mark.parametrize(
    ("before", "index", "after"),
    [
        ("[\n  1, // one\n  2, // two\n  3\n]", 1, "[\n  1, // one\n  // two\n  3\n]"),
        ("[\n  1,\n  2,\n  3\n]", 2, "[\n  1,\n  2\n]"),
        ("[\n  1,\n  2,\n  3,\n]", 2, "[\n  1,\n  2,\n]"),
        ("[1, 2, 3]", 0, "[2, 3]"),
        ("[1, 2, 3]", 2, "[1, 2]"),
        ("[1 /* one */, 2]", 0, "[/* one */ 2]"),
        ("[1]", 0, "[]"),
    ],
)
def test_removing_takes_the_line_but_not_the_comments(before, index, after):
    result = remove('{"list": ' + before + "}", ("list", index))
    assert result == '{"list": ' + after + "}"


def test_invisible_characters_are_written_as_escapes():
    after = set_value("{}", ("a",), "x\u202e\u2028\u200by")
    assert "\\u202e\\u2028\\u200b" in after
    assert parse(after).value == {"a": "x\u202e\u2028\u200by"}


def test_null_where_an_object_belongs_gives_way():
    assert parse(set_value("{a: null /* c */}", ("a", "b"), 1)).value == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: set_value('{"a": 1}', ("a", "b"), 1), "a has no part b"),
        (lambda: set_value('{"a": []}', ("a", 3), 1), "a has no part"),
        (lambda: insert_item('{"a": {}}', ("a",), 0, 1), "a is not a list"),
        (lambda: insert_item('{"a": []}', ("a",), 1, 1), "a has no place 1"),
        (lambda: remove("{}", ("a",)), "a cannot be removed"),
    ],
)
def test_a_place_that_is_not_there_is_refused(call, message):
    with pytest.raises(SpliceError, match=re.escape(message)):
        call()
