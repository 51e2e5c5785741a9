"""HK4: what hooks from the configuration may do, and what they may not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.decode import decode
from holdfast.core.events import ToolCall, ToolResult
from holdfast.core.settings import HookSettings
from holdfast.core.verdict import NOTHING
from holdfast.policies.user_hooks import UserHooks, with_defaults
from holdfast.testing.builders import EventBuilder

build = EventBuilder()


def hooks(data):
    settings, problems = decode(HookSettings, data)
    assert problems == []
    return settings


def decide(data, event, built_in=None):
    verdict, state = UserHooks(hooks(data), hooks(built_in) if built_in else None).decide(event, {"kept": 1})
    assert state == {"kept": 1}
    return verdict


# the ADR's two examples
ADR_1 = {
    "chat": {
        "system": {"mode": "append", "text": "You must reply in short bullet points."},
        "params": {"temperature": 0.2, "maxTokens": 512},
    },
    "tool": {
        "before": [{"tool": "read", "mergeInput": {"encoding": "utf-8"}}],
        "after": [{"tool": "read", "prependText": "[preview]\\n"}],
    },
}


def test_HK4_the_example_of_the_ADR_works():
    verdict = decide(ADR_1, build.sending(system="You help.", params={"top_p": 0.9}))
    assert verdict.system == "You help.\n\nYou must reply in short bullet points."
    assert verdict.model_params == {"top_p": 0.9, "temperature": 0.2, "max_tokens": 512}
    assert decide(ADR_1, build.calling("read", path="a")).rewrite_input == {"path": "a", "encoding": "utf-8"}
    assert decide(ADR_1, build.called("read", "text")).rewrite_output == "[preview]\\ntext"


@pytest.mark.parametrize(
    ("mode", "expected"),
    [({}, "base\n\nnew"), ({"mode": "append"}, "base\n\nnew"), ({"mode": "prepend"}, "new\n\nbase"),
     ({"mode": "replace"}, "new")],
)  # fmt: skip
def test_HK4_chat_system_modes(mode, expected):
    hook = {"chat": {"system": {"text": "new", **mode}}}
    assert decide(hook, build.sending(system="base")).system == expected
    assert decide(hook, build.sending(system="")).system == "new"
    assert decide(hook, build.sending(system=expected)) == NOTHING  # a retry does not add it twice


@pytest.mark.parametrize(
    ("params", "fault"),
    [({"seed": 1}, "unknown key 'seed'"), ({"temperature": 3}, "between"), ({"maxTokens": "many"}, "whole number")],
)
def test_HK4_chat_params_takes_known_fields_only(params, fault):
    _, problems = decode(HookSettings, {"chat": {"params": params}})
    assert fault in str(problems[0])


@pytest.mark.parametrize(
    ("given_input", "expected"),
    [
        ({}, {"offset": 1, "deep": {"a": 1}}),
        ({"offset": 9}, {"offset": 9, "deep": {"a": 1}}),
        ({"offset": None, "deep": {"b": 2}}, None),
        ({"offset": 0, "deep": {}}, None),
    ],
)
def test_HK4_merge_input_gives_defaults_and_never_overrides(given_input, expected):
    hook = {"tool": {"before": [{"tool": "read", "mergeInput": {"offset": 1, "deep": {"a": 1}}}]}}
    assert decide(hook, build.calling("read", **given_input)).rewrite_input == expected


@pytest.mark.parametrize(
    ("glob", "tool", "host_tool", "applies"),
    [
        ("read", "read", "", True),
        ("read", "ready", "", False),
        ("*", "anything", "", True),
        ("mcp:github/*", "mcp:github/create", "", True),
        ("Read", "read", "Read", True),
        ("Read", "read", "", False),
    ],
)
def test_HK4_a_hook_names_its_tools_by_glob(glob, tool, host_tool, applies):
    hook = {"tool": {"before": [{"tool": glob, "mergeInput": {"x": 1}}]}}
    event = build.calling(ToolCall(id="c", tool=tool, host_tool=host_tool))
    assert (decide(hook, event).rewrite_input == {"x": 1}) == applies


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ToolResult(output="out"), "<out>"),
        (ToolResult(output=""), "<>"),
        (ToolResult(output="out", failed=True), "<out>"),
        (ToolResult(output='{"a": 1}', structured=True), None),
        (ToolResult(output="", failed=True, error="why"), None),
    ],
)
def test_HK4_after_adds_to_string_outputs_only(result, expected):
    hook = {"tool": {"after": [{"tool": "*", "prependText": "<", "appendText": ">"}]}}
    assert decide(hook, build.called("read", over={"result": result})).rewrite_output == expected


def test_HK4_built_in_hooks_run_before_the_users():
    built_in = {
        "chat": {"system": {"text": "ours"}, "params": {"temperature": 0.0}},
        "tool": {
            "before": [{"tool": "*", "mergeInput": {"limit": 10}}],
            "after": [{"tool": "*", "appendText": " ours"}],
        },
    }
    user = {
        "chat": {"system": {"text": "yours"}, "params": {"temperature": 1.0}},
        "tool": {
            "before": [{"tool": "*", "mergeInput": {"limit": 99}}],
            "after": [{"tool": "*", "appendText": " yours"}],
        },
    }
    sent = decide(user, build.sending(system="base"), built_in)
    assert (sent.system, sent.model_params) == ("base\n\nours\n\nyours", {"temperature": 1.0})
    assert decide(user, build.calling("read"), built_in).rewrite_input == {"limit": 10}
    assert decide(user, build.called("read", "out"), built_in).rewrite_output == "out ours yours"


def test_HK4_without_hooks_nothing_is_rewritten():
    for event in (
        build.calling("read", path="a"),
        build.called("read", "x"),
        build.sending(system="s"),
        build.prompt(),
    ):
        assert UserHooks().decide(event, {}) == (NOTHING, {})
        assert decide({}, event) == NOTHING


def test_HK4_a_failing_hook_is_let_pass_by_the_plane():
    assert UserHooks().on_error == "open"


JSON_OBJECTS = st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=5), max_size=6)


@given(JSON_OBJECTS, st.lists(JSON_OBJECTS, max_size=3))
def test_HK4_whatever_the_hooks_the_given_input_stays(tool_input, defaults):
    data = {"tool": {"before": [{"tool": "*", "mergeInput": entry} for entry in defaults]}}
    event = build.calling(ToolCall(id="c", tool="read", input=tool_input))
    verdict = decide(data, event)
    final = verdict.rewrite_input if verdict.rewrite_input is not None else tool_input
    assert {key: final[key] for key in tool_input} == tool_input
    assert set(final) == set(tool_input).union(*defaults)
    again = build.calling(ToolCall(id="c", tool="read", input=final))
    assert decide(data, again) == NOTHING
    assert json.dumps(tool_input) == json.dumps(event.call.input)


@given(JSON_OBJECTS, JSON_OBJECTS)
def test_HK4_defaults_leave_the_input_object_alone(tool_input, defaults):
    before = dict(tool_input)
    with_defaults(tool_input, defaults)
    assert tool_input == before
