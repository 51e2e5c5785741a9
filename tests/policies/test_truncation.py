"""TR1-TR4: what is kept of an output, and what the model is told about the rest."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.settings import TruncationSettings
from holdfast.core.verdict import NOTHING
from holdfast.policies.truncation import (
    MARK,
    Totals,
    Truncation,
    compose,
    compose_streamed,
    cut,
    indented,
    note,
    preview_of,
    render,
    totals_of,
)
from holdfast.testing.builders import EventBuilder

build = EventBuilder()


def decide(output, *, tool="read", limits=None, failed=False, structured=False, error=""):
    event = build.called(tool, output, failed=failed, error=error)
    if structured:
        event = build.called(tool, over={"result": type(event.result)(output=output, structured=True)})
    verdict, state = Truncation(limits or TruncationSettings()).decide(event, {})
    assert state == {}
    return verdict


def small(max_lines=10, max_bytes=100):
    return TruncationSettings(max_lines=max_lines, max_bytes=max_bytes)


def test_TR2_the_defaults_are_those_of_the_row():
    limits = TruncationSettings()
    assert (limits.max_lines, limits.max_bytes, limits.ttl_days) == (2000, 51_200, 7)


@pytest.mark.parametrize(
    ("text", "spilled"),
    [
        ("", False),
        ("x" * 51_200, False),
        ("x" * 51_201, True),
        ("a\n" * 2000, False),
        ("a\n" * 2000 + "b", True),
        ("a\n" * 1999 + "b", False),
        ("好" * 17_066, False),  # 51,198 bytes
        ("好" * 17_067, True),  # 51,201 bytes
        ("\n" * 2001, True),
    ],
)
def test_TR2_exact_limits(text, spilled):
    assert (decide(text).spill is not None) == spilled


def test_TR2_a_single_line_of_51201_characters_has_a_preview():
    spill = decide("x" * 51_201).spill
    assert spill.preview == "x" * 51_200
    assert (spill.lines, spill.size) == (1, 51_201)


def test_TR2_lines_are_cut_before_bytes():
    lines = [f"{number:04} " + "x" * 15 for number in range(5000)]
    spill = decide("\n".join(lines)).spill
    assert spill.preview == "\n".join(lines[:2000]) + "\n"
    wide = [f"{number:04} " + "x" * 95 for number in range(5000)]
    assert len(decide("\n".join(wide)).spill.preview) == 51_200


@pytest.mark.parametrize("character", ["é", "好", "😀"])
@pytest.mark.parametrize("shift", range(4))
def test_TR2_no_character_is_split(character, shift):
    text = "a" * shift + character * 60
    for tool in ("read", "bash"):
        preview = decide(text, tool=tool, limits=small()).spill.preview
        assert "\ufffd" not in preview
        assert set(preview.split("[...")[0]) <= {"a", character, "\n"}


def test_TR2_objects_are_rendered_as_indented_json():
    text, structured = render({"b": [1, 2], "名": "值"})
    assert (text, structured) == ('{\n  "b": [\n    1,\n    2\n  ],\n  "名": "值"\n}', True)
    assert render("plain") == ("plain", False)
    assert render(None) == ("", False)
    assert render(b"caf\xc3\xa9 \xff") == ("café \ufffd", False)


def test_TR2_json_on_one_line_is_laid_out_before_it_is_measured():
    body = json.dumps({"rows": list(range(3000))})
    assert len(body) < 51_200
    spill = decide(body, structured=True).spill
    assert spill.suffix == ".json"
    assert spill.lines > 3000
    assert json.loads(spill.text) == {"rows": list(range(3000))}
    assert decide('{"a":1}', structured=True).rewrite_output == '{\n  "a": 1\n}'


@pytest.mark.parametrize("text", ["{not json", "3", '"x"', "[]", "{}", '{\n "a": 1}', "[" * 100_000])
def test_TR2_what_is_no_one_line_object_stays(text):
    assert indented(text) == text


@pytest.mark.parametrize(
    ("tool", "failed", "both_ends"), [("bash", False, True), ("read", False, False), ("read", True, True)]
)
def test_TR4_commands_and_failures_keep_their_end(tool, failed, both_ends):
    text = "\n".join(f"line {number}" for number in range(100)) + "\nError: the reason\n"
    preview = decide(text, tool=tool, failed=failed, limits=small(max_bytes=1000)).spill.preview
    assert preview.startswith("line 0\n")
    assert preview.endswith("Error: the reason\n") == both_ends
    if both_ends:
        assert preview.splitlines()[5] == "[... 91 lines, 723 bytes not shown ...]"


def test_TR4_a_limit_of_one_line_shows_the_end_of_a_command():
    assert decide("first\nlast", tool="bash", limits=small(max_lines=1)).spill.preview.endswith("\nlast")


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ("truncated", "3000 lines", "6000 bytes", "offset", "grep")), ("zh", ("已截断", "3000 行", "6000 字节"))],
)
def test_TR4_what_the_model_gets(language, words):
    spill = decide("x\n" * 3000).spill
    text = compose(spill, "/vault/.agent-output/2026-11-15-read-c1.txt", language)
    assert text.startswith("x\n" * 2000)
    assert "/vault/.agent-output/2026-11-15-read-c1.txt" in text
    for word in words:
        assert word in text


def test_TR3_when_nothing_could_be_written_it_says_so():
    spill = decide("x\n" * 3000).spill
    assert "not kept" in compose(spill, None)
    assert "未能保留" in compose(spill, None, "zh")
    assert "Full output" not in compose(spill, None)


def test_TR4_the_note_says_which_parts_are_shown():
    assert "above is its beginning." in compose(decide("x\n" * 3000).spill, "/p")
    assert "its beginning and its end" in compose(decide("x\n" * 3000, tool="bash").spill, "/p")


def test_TR1_a_failure_that_has_only_an_error_text_is_cut_too():
    assert decide("", failed=True, error="e" * 60_000).spill.size == 60_000


def test_TR1_other_events_are_left_alone():
    assert Truncation().decide(build.calling("bash", command="ls"), {}) == (NOTHING, {})


def test_TR2_a_lone_surrogate_does_not_break_the_cut():
    spill = decide("\udc80" * 200, limits=small()).spill
    assert spill.preview == "\ufffd" * 33
    assert spill.size == 600


def test_TR2_a_forged_mark_buys_no_more_than_the_room_of_a_note():
    assert decide("x" * 100_000 + MARK).spill is not None
    assert decide("x\n" * 4000 + MARK).spill is not None


def test_TR7_a_large_text_costs_no_second_copy():
    text = ("好 " * 49 + "\n") * 100_000
    tracemalloc.start()
    spill = decide(text, tool="bash").spill
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert spill.text is text
    assert spill.size == 100_000 * (49 * 4 + 1)
    assert peak < 8_000_000


def test_preview_of_and_note_serve_an_output_that_was_never_one_string():
    totals = Totals(lines=1_000_000, size=1_000_000_000)
    preview = preview_of("first\n", "last\n", totals)
    assert preview == "first\n[... 999998 lines, 999999989 bytes not shown ...]\nlast\n"
    assert "1000000000 bytes" in note(preview, totals, "/p", with_tail=True)


TEXTS = st.one_of(
    st.text(max_size=400),
    st.text(alphabet="a\n", max_size=400),
    st.text(alphabet="好😀\né\r", max_size=300),
    st.lists(st.text(alphabet="ab 好", max_size=30), max_size=60).map("\n".join),
)
LIMITS = st.builds(TruncationSettings, max_lines=st.integers(1, 40), max_bytes=st.integers(64, 300))


@given(TEXTS, LIMITS, st.booleans())
def test_TR2_what_is_kept_is_within_the_limits_and_from_the_ends(text, limits, keep_tail):
    head, tail = cut(text, limits, keep_tail=keep_tail)
    kept = head, tail
    assert sum(totals_of(part).size for part in kept) <= limits.max_bytes
    assert sum(totals_of(part).lines for part in kept) <= limits.max_lines
    assert text.startswith(head)
    assert text.endswith(tail)
    assert bool(text) == bool(head or tail)
    for part in kept:
        assert part.encode().decode() == part


@given(TEXTS, LIMITS, st.sampled_from(["read", "bash"]), st.sampled_from(["en", "zh"]), st.booleans())
def test_TR2_whole_texts_pass_and_cut_ones_are_not_cut_twice(text, limits, tool, language, written):
    verdict = decide(text, tool=tool, limits=limits)
    fits = totals_of(text).lines <= limits.max_lines and totals_of(text).size <= limits.max_bytes
    assert (verdict.spill is None) == fits
    if verdict.spill is not None:
        head, tail = cut(text, limits, keep_tail=tool == "bash")
        assert len(head) + len(tail) <= len(text)
        composed = compose(verdict.spill, "/some/path.txt" if written else None, language)
        assert composed.startswith(head)
        assert tail in composed
        assert decide(composed, tool=tool, limits=limits) == NOTHING


@given(TEXTS, LIMITS)
def test_TR7_an_output_that_streamed_is_told_as_one_that_did_not(text, limits):
    spill = decide(text, tool="bash", limits=limits).spill
    if spill is not None:
        data = text.encode()
        head, tail = (
            data[: limits.max_bytes].decode("utf-8", "ignore"),
            data[-limits.max_bytes :].decode("utf-8", "ignore"),
        )
        streamed = compose_streamed(head, tail, totals_of(text), limits, "/p")
        assert streamed == compose(spill, "/p")
        assert decide(streamed, tool="bash", limits=limits) == NOTHING


@given(TEXTS)
def test_TR2_totals_are_those_of_the_encoded_text(text):
    assert totals_of(text) == Totals(_lines(text), len(text.encode()))


def _lines(text):
    parts = text.split("\n")
    return len(parts) - (1 if parts[-1] == "" else 0)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_TR2_laying_out_json_changes_no_value(value):
    assert json.loads(indented(json.dumps(value))) == value
    text, structured = render(value)
    if structured:
        assert json.loads(text) == value
