"""HK5: one order for the prompt, one for the parameters."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.settings import ChatHooks, ChatSystemHook, HookSettings, ModelParams, SystemPromptSettings
from holdfast.policies.user_hooks import UserHooks
from holdfast.prompting import (
    DEFAULT_PROMPT,
    Prompt,
    after_hooks,
    begin,
    customised,
    finish,
    hooked,
    restored,
)
from holdfast.testing.builders import EventBuilder

CUSTOM = SystemPromptSettings(mode="custom", text="custom text", params=ModelParams(temperature=0.3))


@pytest.mark.parametrize(
    ("settings", "agent_body", "expected"),
    [
        (SystemPromptSettings(), "", DEFAULT_PROMPT),
        (SystemPromptSettings(text="hidden"), "", DEFAULT_PROMPT),
        (CUSTOM, "", "custom text"),
        (SystemPromptSettings(mode="custom", text="  "), "", DEFAULT_PROMPT),
        (CUSTOM, "agent body\n", "agent body"),
        (SystemPromptSettings(), "agent body", "agent body"),
    ],
)
def test_HK5_agent_else_custom_else_default(settings, agent_body, expected):
    assert begin(settings, agent_body=agent_body).system == expected


def test_HK5_then_chat_system_then_memory_and_bootstrap():
    chat = ChatHooks(system=ChatSystemHook(text="hook"))
    prompt = finish(hooked(begin(CUSTOM), chat), memory="memory\n", bootstrap="bootstrap")
    assert prompt.system == "custom text\n\nhook\n\nmemory\n\nbootstrap"
    replaced = ChatHooks(system=ChatSystemHook(mode="replace", text="hook"))
    assert finish(hooked(begin(CUSTOM), replaced), memory="memory").system == "hook\n\nmemory"


def test_HK5_default_mode_hides_the_custom_parameters():
    hidden = SystemPromptSettings(mode="default", text="x", params=ModelParams(temperature=1.5))
    assert begin(hidden) == Prompt(DEFAULT_PROMPT)


def test_HK5_parameters_are_overridden_one_by_one():
    settings = SystemPromptSettings(mode="custom", params=ModelParams(temperature=0.3, top_p=0.5))
    prompt = begin(settings, agent_params=ModelParams(top_p=0.9, max_tokens=100), model_params={"max_tokens": 4096})
    assert prompt.params == {"temperature": 0.3, "top_p": 0.5, "max_tokens": 100}
    assert prompt.origins == {"temperature": "custom", "top_p": "custom", "max_tokens": "agent"}


def test_HK5_use_model_default_leaves_a_parameter_out():
    assert "top_p" not in begin(CUSTOM).params


LAYERS = ("model", "agent", "custom", "chat.params", "inline")


def assemble(present):
    """Temperature set by each layer in `present`, to a value of its own."""
    value = {layer: number / 10 for number, layer in enumerate(LAYERS)}
    layer = {name: ModelParams(temperature=value[name]) if name in present else ModelParams() for name in LAYERS}
    settings = SystemPromptSettings(mode="custom", params=layer["custom"])
    prompt = begin(settings, agent_params=layer["agent"], model_params=layer["model"].given())
    prompt = hooked(prompt, ChatHooks(params=layer["chat.params"]))
    prompt = finish(prompt, inline=layer["inline"])
    return prompt, value


@pytest.mark.parametrize("present", [c for n in range(1, 6) for c in itertools.combinations(LAYERS, n)], ids="<".join)
def test_HK5_the_last_layer_that_sets_a_parameter_wins(present):
    prompt, value = assemble(present)
    assert prompt.params == {"temperature": value[present[-1]]}
    assert prompt.origins == {"temperature": present[-1]}


@given(
    st.sampled_from(["append", "prepend", "replace"]),
    st.text(max_size=10),
    st.one_of(st.none(), st.floats(0, 2)),
    st.one_of(st.none(), st.floats(0, 2)),
)
def test_HK5_the_preview_is_what_the_plane_sends(mode, text, custom, hook):
    chat = ChatHooks(system=ChatSystemHook(mode=mode, text=text), params=ModelParams(temperature=hook))
    first = begin(SystemPromptSettings(mode="custom", text="t", params=ModelParams(temperature=custom)))
    event = EventBuilder().sending(system=first.system, params=first.params)
    verdict, _ = UserHooks(HookSettings(chat=chat)).decide(event, {})
    sent = after_hooks(first, verdict.system, verdict.model_params)
    shown = hooked(first, chat)
    assert (sent.system, sent.params) == (shown.system, shown.params)


def test_HK5_a_parameter_that_a_hook_takes_away_is_gone():
    first = Prompt("s", {"temperature": 0.1, "top_p": 0.2}, {"temperature": "agent", "top_p": "agent"})
    assert after_hooks(first, None, {"top_p": 0.2}) == Prompt("s", {"top_p": 0.2}, {"top_p": "agent"})


def test_HK5_there_are_no_placeholders():
    assert "{" not in DEFAULT_PROMPT
    text = "now: {{current_time}} {user} $HOME"
    prompt = finish(begin(SystemPromptSettings(mode="custom", text=text)), memory="{{memory}}")
    assert prompt.system == text + "\n\n{{memory}}"


def test_HK5_restoring_the_default_touches_nothing_else():
    back = restored(CUSTOM)
    assert begin(back) == Prompt(DEFAULT_PROMPT)
    assert customised(back) == CUSTOM


def test_HK5_custom_starts_from_the_default_text():
    assert customised(SystemPromptSettings()) == SystemPromptSettings(mode="custom", text=DEFAULT_PROMPT)
