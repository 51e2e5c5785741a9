"""The system prompt and its parameters (HK5): the default hides everything; custom shows and changes one by one."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from holdfast.core.decode import decode, encode, fields_of
from holdfast.core.messages import Phrase
from holdfast.core.setting_keys import RUNTIME, key_text
from holdfast.core.settings import ModelParams, SystemPromptSettings
from holdfast.doors.web import setting_shapes as shapes
from holdfast.doors.web.records import Answer, Records, invalid
from holdfast.doors.web.routes import ApiError, Call, Route, bad_request
from holdfast.doors.web.settings import kind_data, write
from holdfast.prompting import customised
from holdfast.store.agent_files import load_agents

_DEFAULT_IS_BARE = Phrase(
    "prompt.default_is_bare", "the default has no text and no parameters", "默认提示词没有文本和参数"
)
_TOO_LONG = Phrase("prompt.too_long", "a prompt has at most {most} characters", "提示词最多 {most} 个字符")


PROMPT = (*RUNTIME, "systemPrompt")
PARAMS = tuple(fields_of(ModelParams))
LONGEST = 200_000


class ParamsBody(TypedDict, total=False):
    """null: use the model's default."""

    temperature: float | None
    topP: float | None
    maxTokens: int | None


class PromptBody(TypedDict):
    mode: Literal["default", "custom"]
    text: NotRequired[str]
    params: NotRequired[ParamsBody]


def show(call: Call) -> Answer:
    return _data(call.server.records)


def _data(records: Records) -> Answer:
    runtime = records.control.settings.runtime
    chosen = load_agents(records.control.home.agents).agents.get(runtime.agent.id)
    prompt = runtime.system_prompt
    custom = prompt.mode == "custom"
    return {
        "mode": prompt.mode,
        "custom": {"text": prompt.text, "params": encode(prompt.params)} if custom else None,
        "limits": {name: _limits(name) for name in PARAMS},
        "agent": chosen.id if chosen is not None and chosen.prompt.strip() else None,
    }


def _limits(name: str) -> Answer:
    path = (*PROMPT, "params", name)
    kind = kind_data(path, fields_of(ModelParams)[name][1])
    return {key: kind[key] for key in ("type", "min", "max")}


def change(call: Call) -> Answer:
    """Switch, and write what was given; going back to the default changes the mode and nothing else."""
    records, body = call.server.records, call.body
    before = records.control.settings.runtime.system_prompt
    if body["mode"] == "default":
        if "text" in body or "params" in body:
            raise bad_request(_DEFAULT_IS_BARE(), "mode")
        if before.mode != "default":
            write(records, (*PROMPT, "mode"), "default")
        return _data(records)
    text = body.get("text", customised(before).text)
    params = body.get("params", {})
    _require_valid(text, params)
    if text != before.text:
        write(records, (*PROMPT, "text"), text)
    for name, value in params.items():
        write(records, (*PROMPT, "params", name), value, unset=value is None)
    if before.mode != "custom":
        write(records, (*PROMPT, "mode"), "custom")
    return _data(records)


def _require_valid(text: str, params: Any) -> None:
    """Everything is looked at before anything is written."""
    if len(text) > LONGEST:
        raise ApiError(422, "too_long", _TOO_LONG(most=LONGEST))
    given = {name: value for name, value in params.items() if value is not None}
    _, problems = decode(SystemPromptSettings, {"mode": "custom", "text": text, "params": given}, PROMPT)
    if problems:
        raise invalid(key_text(problems[0].path), problems[0].message)


ROUTES = (
    Route("GET", "/api/system-prompt", show, "The system prompt", returns=shapes.SystemPrompt),
    Route("PUT", "/api/system-prompt", change, "Change it", body=PromptBody, returns=shapes.SystemPrompt),
)
