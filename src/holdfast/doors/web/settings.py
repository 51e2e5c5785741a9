"""Every setting with its value, where that comes from and what it may be; changed in the user's own file.

Rules and session strategies have endpoints of their own. What environment or command line give wins over the file, so
it cannot be changed here. The environment of an MCP server may hold secrets: its names are shown, its values never.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, get_args, get_origin

from holdfast.core.decode import Path, encode
from holdfast.core.messages import Phrase
from holdfast.core.setting_keys import (
    RULES,
    RUNTIME,
    KeyNameError,
    field_at,
    key_text,
    kind_at,
    leaf_kind,
    leaves,
    parse_key,
    short_key,
)
from holdfast.core.settings import DEFAULTS, Settings
from holdfast.doors.web import setting_shapes as shapes
from holdfast.doors.web.records import Answer, Records, problem_data, refusal
from holdfast.doors.web.routes import ApiError, Call, Route, bad_request
from holdfast.store.config_file import LoadedConfig
from holdfast.store.config_layers import DEFAULT, value_in
from holdfast.store.config_problems import ConfigError
from holdfast.store.config_write import ConfigWriteError, Written, set_value, unset_value

_VALUE_OR_UNSET = Phrase("page.value_or_unset", "give a value, or unset", "请给出值，或 unset")
_ELSEWHERE_BY = Phrase("page.changed_by", "{key} is changed by {by}", "{key} 由 {by} 更改")
OVERRIDDEN = Phrase(
    "page.overridden",
    "{key} is given by {source}, which wins over the file; change it there",
    "{key} 由 {source} 给出，优先于文件；请在那里更改",
)
_FILE_ONLY = Phrase("page.file_only", "{key} is changed in the file only", "{key} 只能在文件中更改")


_ELSEWHERE: Mapping[Path, str] = {RULES: "/api/rules", ("breeds",): "/api/strategies"}
_SCALARS = {bool: "boolean", int: "integer", float: "number", str: "text"}
_HIDDEN = "\u2022\u2022\u2022"


class SettingBody(TypedDict):
    key: str
    value: NotRequired[Any]
    unset: NotRequired[bool]


def list_settings(call: Call) -> Answer:
    records = call.server.records
    config = records.control.config
    found = [
        setting_data(config, path, kind, value)
        for path, kind, value in leaves(Settings, encode(config.settings))
        if _elsewhere(path) is None
    ]
    return {
        "file": str(config.path),
        "exists": config.path.exists(),
        "settings": found,
        "problems": [problem_data(problem) for problem in config.problems],
    }


def setting_data(config: LoadedConfig, path: Path, kind: Any, value: Any) -> Answer:
    """One setting as the page shows and edits it."""
    origin = config.origin(path)
    field = field_at(path)
    there, default = value_in(encode(DEFAULTS), path)
    if not there and field is not None:  # an entry of a mapping: the default of its kind
        default = _default_of(field)
    secret = _holds_secrets(path)
    return {
        "key": short_key(path),
        "section": _section(path),
        "value": dict.fromkeys(value, _HIDDEN) if secret and isinstance(value, Mapping) else value,
        "default": default,
        "origin": {"source": origin.source, "line": origin.line},
        "isDefault": origin == DEFAULT,
        "editable": not secret and origin.source in (DEFAULT.source, str(config.path)),
        "doc": str(field.metadata.get("doc", "")) if field is not None else "",
        "kind": kind_data(path, kind),
    }


def _default_of(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return encode(field.default)
    return encode(field.default_factory()) if field.default_factory is not dataclasses.MISSING else None


def _section(path: Path) -> str:
    inside = path[len(RUNTIME) :] if path[: len(RUNTIME)] == RUNTIME else path
    return str(inside[0]) if len(inside) > 1 else ""


def _holds_secrets(path: Path) -> bool:
    return path[: len(RUNTIME) + 1] == (*RUNTIME, "mcp") and "env" in path


def kind_data(path: Path, kind: Any) -> Answer:
    """What a value must be, in words that a form is built from."""
    declared = kind_at(path)
    field = field_at(path)
    limits: Mapping[str, Any] = field.metadata if field is not None else {}
    inner = leaf_kind(kind)
    data: Answer = {
        "type": "object",
        "nullable": type(None) in get_args(declared),
        "options": [],
        "min": limits.get("min"),
        "max": limits.get("max"),
    }
    origin = get_origin(inner)
    if origin is Literal:
        data.update(type="choice", options=list(get_args(inner)))
    elif origin in (tuple, list):
        item = get_args(inner)[0]
        options = list(get_args(item)) if get_origin(item) is Literal else []
        data.update(type="list", options=options)
    elif inner in _SCALARS:
        data["type"] = _SCALARS[inner]
    return data


def change_setting(call: Call) -> Answer:
    """Write one setting, or give it its default again; comments and everything else in the file stay."""
    records, body = call.server.records, call.body
    if ("value" in body) == bool(body.get("unset")):
        raise bad_request(_VALUE_OR_UNSET(), "value")
    path = _path(body["key"])
    written = write(records, path, body.get("value"), unset=bool(body.get("unset")))
    config = records.control.config
    there, value = value_in(encode(config.settings), path)
    kind = kind_at(path)
    return {
        "setting": setting_data(config, path, kind, value if there else None),
        "changed": written.changed,
        "line": written.config.origin(path).line,
        "backup": written.backup and str(written.backup),
    }


def _path(key: str) -> Path:
    try:
        path = parse_key(key)
    except KeyNameError as error:
        raise ApiError(404, "unknown_setting", error.message, key=key[:200]) from None
    if other := _elsewhere(path):
        raise ApiError(422, "changed_elsewhere", _ELSEWHERE_BY(key=key_text(path), by=other))
    return path


def _elsewhere(path: Path) -> str | None:
    """Which endpoint changes it, when this one does not."""
    return next((by for start, by in _ELSEWHERE.items() if path[: len(start)] == start), None)


def write(records: Records, path: Path, value: Any = None, *, unset: bool = False) -> Written:
    """Set or unset one key of the file; raises `ApiError` with every problem, and then nothing was written."""
    config = records.control.config
    origin = config.origin(path)
    if origin.source not in (DEFAULT.source, str(config.path)):
        raise ApiError(409, "overridden", OVERRIDDEN(key=key_text(path), source=origin.source))
    if _holds_secrets(path):
        raise ApiError(403, "not_here", _FILE_ONLY(key=key_text(path)))
    file = records.control.home.config
    try:
        return unset_value(file, path) if unset else set_value(file, path, value)
    except (ConfigError, ConfigWriteError) as error:
        raise refusal(error) from None


ROUTES = (
    Route("GET", "/api/settings", list_settings, "Every setting", returns=shapes.SettingsPage),
    Route(
        "PUT", "/api/settings", change_setting, "Change one setting",
        body=SettingBody, returns=shapes.SettingWritten,
    ),
)  # fmt: skip
