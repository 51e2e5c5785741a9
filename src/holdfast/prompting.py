"""The system prompt and the model's parameters, put together in one stated order (HK5).

Prompt: the chosen agent's body, else the custom text, else the default; then `chat.system`; then memory and bootstrap.
Parameters, later ones winning one by one: model default, agent, custom, `chat.params`, inline.

`begin`, the hooks and `finish` are separate steps because hooks run in the plane, on `HistorySending`: what `begin`
gives goes into the event, what the outcome says goes into `finish`. Texts are used as they stand; there are no
placeholders, so nothing in a prompt changes from one request to the next and providers can cache it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from holdfast.core.settings import ChatHooks, ModelParams, SystemPromptSettings
from holdfast.policies.user_hooks import with_params, with_system

Origin = Literal["model", "agent", "custom", "chat.params", "inline"]

DEFAULT_PROMPT = """\
You are an agent that works in a directory of the user's computer, the vault, with the tools you are given.

- Do what the user asked, no more and no less. When the request leaves a choice open that matters, ask.
- Look before you change: read a file before you edit it, and check the result of what you did.
- Keep changes small and in the style of what is there.
- Some calls wait for the user's approval or are refused. A refusal says why: choose another way or tell the user, and \
never try to get around it.
- Long outputs are cut. The note below a cut output names the file with the whole text: read it in parts or search it.
- When a call fails twice in the same way, change the approach or say what is in the way.
- Say what you did and what is left, briefly, in the user's language."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent with every request beside the conversation."""

    system: str
    params: Mapping[str, Any] = field(default_factory=dict)
    """Only what is set; an absent parameter is left to the model's provider."""
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Which source each parameter came from."""


def begin(
    settings: SystemPromptSettings,
    *,
    agent_body: str = "",
    agent_params: ModelParams | None = None,
    model_params: Mapping[str, Any] | None = None,
    default: str = DEFAULT_PROMPT,
) -> Prompt:
    """Everything below the hooks."""
    custom = settings.mode == "custom"
    own_text = settings.text if custom and settings.text.strip() else ""
    prompt = Prompt(agent_body.strip() or own_text or default)
    prompt = _over(prompt, model_params or {}, "model")
    prompt = _over(prompt, (agent_params or ModelParams()).given(), "agent")
    return _over(prompt, settings.params.given(), "custom") if custom else prompt


def hooked(prompt: Prompt, chat: ChatHooks) -> Prompt:
    """The same with `chat.system` and `chat.params`: what the plane does, for showing it without sending anything."""
    changed = replace(prompt, system=with_system(prompt.system, chat.system))
    given = with_params({}, chat)
    return _over(changed, given, "chat.params")


def after_hooks(prompt: Prompt, system: str | None, params: Mapping[str, Any] | None) -> Prompt:
    """The prompt with what the plane's outcome says; None means that no hook changed it."""
    changed = prompt if system is None else replace(prompt, system=system)
    if params is None:
        return changed
    set_by_hook = {key: value for key, value in params.items() if prompt.params.get(key) != value}
    kept = {key: value for key, value in prompt.params.items() if key in params}
    origins = {key: prompt.origins[key] for key in kept}
    return _over(replace(changed, params=kept, origins=origins), set_by_hook, "chat.params")


def finish(prompt: Prompt, *, memory: str = "", bootstrap: str = "", inline: ModelParams | None = None) -> Prompt:
    """Everything above the hooks."""
    parts = [part for part in (prompt.system, memory.strip(), bootstrap.strip()) if part]
    return _over(replace(prompt, system="\n\n".join(parts)), (inline or ModelParams()).given(), "inline")


def customised(settings: SystemPromptSettings, default: str = DEFAULT_PROMPT) -> SystemPromptSettings:
    """The switch to custom: the user starts from the default text, or from what they wrote before."""
    return replace(settings, mode="custom", text=settings.text or default)


def restored(settings: SystemPromptSettings) -> SystemPromptSettings:
    """The switch back to the default; the user's text and parameters stay, unused, for the next time."""
    return replace(settings, mode="default")


def _over(prompt: Prompt, params: Mapping[str, Any], origin: Origin) -> Prompt:
    if not params:
        return prompt
    return replace(
        prompt,
        params={**prompt.params, **params},
        origins={**prompt.origins, **dict.fromkeys(params, origin)},
    )
