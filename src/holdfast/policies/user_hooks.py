"""The user's hooks from the configuration (HK4): text for the system prompt, parameters, defaults of inputs, text
around outputs.

It stands first among the policies, so that what is judged is what runs, and what is cut is what the hooks made of an
output. Built-in hooks run before the user's. A hook only fills in and adds to; none can stop a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

from holdfast.core.events import Event, HistorySending, ToolCall, ToolCalled, ToolCalling
from holdfast.core.policy import State
from holdfast.core.settings import ChatHooks, ChatSystemHook, HookSettings, ModelParams, ToolAfterHook, ToolBeforeHook
from holdfast.core.verdict import NOTHING, Verdict

_GAP = "\n\n"


class UserHooks:
    name = "user_hooks"
    on_error: Literal["open", "closed"] = "open"

    def __init__(self, user: HookSettings | None = None, built_in: HookSettings | None = None) -> None:
        self._hooks = tuple(hooks for hooks in (built_in, user) if hooks is not None)

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if isinstance(event, ToolCalling):
            return self._before(event.call), state
        if isinstance(event, ToolCalled):
            return self._after(event), state
        if isinstance(event, HistorySending):
            return self._chat(event), state
        return NOTHING, state

    def _before(self, call: ToolCall) -> Verdict:
        merged: Mapping[str, Any] = call.input
        for hooks in self._hooks:
            for hook in hooks.tool.before:
                if concerns(hook, call):
                    merged = with_defaults(merged, hook.merge_input)
        return Verdict(rewrite_input=merged) if merged is not call.input else NOTHING

    def _after(self, event: ToolCalled) -> Verdict:
        result = event.result
        # An object is no text to add to; nor is there one when a failure left only its error.
        if result.structured or (result.failed and not result.output):
            return NOTHING
        text = result.output
        for hooks in self._hooks:
            for hook in hooks.tool.after:
                if concerns(hook, event.call):
                    text = f"{hook.prepend_text}{text}{hook.append_text}"
        return Verdict(rewrite_output=text) if text != result.output else NOTHING

    def _chat(self, event: HistorySending) -> Verdict:
        system, params = event.system, event.params
        for hooks in self._hooks:
            system, params = with_system(system, hooks.chat.system), with_params(params, hooks.chat)
        if system == event.system and params == event.params:
            return NOTHING
        return Verdict(
            system=system if system != event.system else None,
            model_params=params if params != event.params else None,
        )


def concerns(hook: ToolBeforeHook | ToolAfterHook, call: ToolCall) -> bool:
    """Whether a hook's glob names this tool, by our name or by the host's own."""
    return fnmatchcase(call.tool, hook.tool) or (bool(call.host_tool) and fnmatchcase(call.host_tool, hook.tool))


def with_defaults(tool_input: Mapping[str, Any], defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    """The input with what it lacks; whatever it says itself stays, an explicit null too."""
    missing = {key: value for key, value in defaults.items() if key not in tool_input}
    return {**tool_input, **missing} if missing else tool_input


def with_system(system: str, hook: ChatSystemHook | None) -> str:
    """The prompt with the hook's text. A text that stands there already is not added again: requests are retried."""
    if hook is None or not hook.text or hook.text in system:
        return system
    if hook.mode == "replace" or not system:
        return hook.text
    return f"{hook.text}{_GAP}{system}" if hook.mode == "prepend" else f"{system}{_GAP}{hook.text}"


def with_params(params: Mapping[str, Any], hooks: ChatHooks) -> Mapping[str, Any]:
    """The parameters with those the hook gives; only the fields of `ModelParams` can be given at all."""
    given = (hooks.params or ModelParams()).given()
    return {**params, **given} if given else params
