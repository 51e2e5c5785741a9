"""Turn plain JSON values into typed settings, and say exactly what does not fit.

Every problem carries the path of keys that leads to it; whoever read the file knows the line.
"""

from __future__ import annotations

import dataclasses
import difflib
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from math import isfinite
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from holdfast.core.messages import Message, Phrase, TellableError, message_of, plain

Path = tuple[str | int, ...]
T = TypeVar("T")


EXPECTED = Phrase("config.expected", "expected {wanted}, got {got}", "应为{wanted}，实际为 {got}")
_EITHER = Phrase("config.either", "{one} or {other}", "{one}或{other}")
_LIST_OF = Phrase("config.list_of", "a list, each item {item}", "列表，其中每一项为{item}")
_AN_OBJECT = Phrase("config.an_object", "an object", "对象")
_A_LIST = Phrase("config.a_list", "a list", "列表")
_ONE_OF = Phrase("config.one_of", "one of {options}", "以下之一：{options}")
_A_STRING = Phrase("config.a_string", "a string", "文本")
_A_WHOLE = Phrase("config.a_whole_number", "a whole number", "整数")
_A_NUMBER = Phrase("config.a_number", "a number", "数字")
_FINITE = Phrase("config.a_finite_number", "a finite number", "有限的数字")
_A_BOOLEAN = Phrase("config.a_boolean", "true or false", "true 或 false")
_BETWEEN = Phrase(
    "config.between", "must be between {low} and {high}, got {got}", "须在 {low} 与 {high} 之间，实际为 {got}"
)
_AT_LEAST = Phrase("config.at_least", "must be at least {low}, got {got}", "至少为 {low}，实际为 {got}")
_AT_MOST = Phrase("config.at_most", "must be at most {high}, got {got}", "至多为 {high}，实际为 {got}")
_NEAR = Phrase(
    "config.unknown_key_near", "unknown key {key}; did you mean {near}?", "未知的键 {key}；是否想写 {near}？"
)
_UNKNOWN = Phrase("config.unknown_key", "unknown key {key}; known keys: {known}", "未知的键 {key}；已知的键：{known}")
_MISSING = Phrase("config.missing_key", "{key} is missing", "缺少 {key}")


class SettingError(TellableError, ValueError):
    """Values that do not fit together, found by a settings class itself."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a configuration."""

    path: Path
    message: Message
    at: Literal["key", "value"] = "value"
    """Which of the two the reader's eye should be led to."""

    def where(self) -> str:
        return dotted(self.path) or "(top level)"

    def __str__(self) -> str:
        return f"{self.where()}: {self.message}"


def dotted(path: Path) -> str:
    """`("agents", "rules", 0)` -> `agents.rules[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else part)
    return text


def camel(name: str) -> str:
    """`max_lines` -> `maxLines`: how a field is spelled in the configuration."""
    head, *rest = name.strip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)


def key_of(field: dataclasses.Field[Any]) -> str:
    return str(field.metadata.get("key") or camel(field.name))


@cache
def fields_of(cls: type) -> dict[str, tuple[dataclasses.Field[Any], Any]]:
    """Configuration key to field and its type; fields marked `internal` cannot be configured."""
    hints = get_type_hints(cls)
    return {
        key_of(field): (field, hints[field.name])
        for field in dataclasses.fields(cls)
        if not field.metadata.get("internal")
    }


def decode(cls: type[T], data: object, path: Path = ()) -> tuple[T | None, list[Problem]]:
    """The typed value, or None and every problem found (not only the first)."""
    problems: list[Problem] = []
    value = _decode(cls, data, path, problems, {})
    return (None if problems else value), problems


def _decode(kind: Any, data: object, path: Path, problems: list[Problem], limits: Mapping[str, Any]) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        options = [option for option in get_args(kind) if option is not type(None)]
        if data is None and len(options) < len(get_args(kind)):
            return None
        for option in options:
            trial: list[Problem] = []
            value = _decode(option, data, path, trial, limits)
            if not trial:
                return value
        if len(options) == 1:
            problems.extend(trial)
        else:
            wanted = reduce(lambda one, other: _EITHER(one=one, other=other), map(describe, options))
            problems.append(Problem(path, EXPECTED(wanted=wanted, got=show(data))))
        return None
    if origin is Literal:
        if data in get_args(kind) and not isinstance(data, bool):
            return data
        problems.append(Problem(path, EXPECTED(wanted=describe(kind), got=show(data))))
        return None
    if kind is Any or kind is object:
        return data
    if dataclasses.is_dataclass(kind):
        return _decode_object(kind, data, path, problems)
    if origin in (tuple, list, Sequence):
        (item, *_) = get_args(kind)
        if not isinstance(data, list | tuple):
            problems.append(Problem(path, EXPECTED(wanted=_LIST_OF(item=describe(item)), got=show(data))))
            return ()
        return tuple(_decode(item, entry, (*path, i), problems, {}) for i, entry in enumerate(data))
    if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        _, item = get_args(kind)
        if not isinstance(data, Mapping):
            problems.append(Problem(path, EXPECTED(wanted=_AN_OBJECT(), got=show(data))))
            return {}
        return {str(k): _decode(item, v, (*path, str(k)), problems, {}) for k, v in data.items()}
    return _decode_scalar(kind, data, path, problems, limits)


def _decode_scalar(kind: Any, data: object, path: Path, problems: list[Problem], limits: Mapping[str, Any]) -> Any:
    fits = isinstance(data, kind) and (kind is bool or not isinstance(data, bool))
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        data, fits = float(data), True
    if not fits:
        problems.append(Problem(path, EXPECTED(wanted=describe(kind), got=show(data))))
        return None
    if isinstance(data, float) and not isfinite(data):  # NaN would slip through every bound below
        problems.append(Problem(path, EXPECTED(wanted=_FINITE(), got=show(data))))
        return None
    low, high = limits.get("min"), limits.get("max")
    if isinstance(data, int | float) and ((low is not None and data < low) or (high is not None and data > high)):
        bounds = _AT_MOST if low is None else _AT_LEAST if high is None else _BETWEEN
        problems.append(Problem(path, bounds(low=low, high=high, got=show(data))))
    return data


def _decode_object(cls: Any, data: object, path: Path, problems: list[Problem]) -> Any:
    if not isinstance(data, Mapping):
        problems.append(Problem(path, EXPECTED(wanted=_AN_OBJECT(), got=show(data))))
        return None
    known = fields_of(cls)
    values: dict[str, Any] = {}
    before = len(problems)
    for key, entry in data.items():
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            names = ", ".join(sorted(known))
            said = _NEAR(key=repr(key), near=repr(near[0])) if near else _UNKNOWN(key=repr(key), known=names)
            problems.append(Problem((*path, str(key)), said, "key"))
            continue
        field, kind = known[key]
        values[field.name] = _decode(kind, entry, (*path, str(key)), problems, field.metadata)
    for key, (field, _) in known.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and key not in data:
            problems.append(Problem(path, _MISSING(key=repr(key))))
    if len(problems) > before:
        return None
    try:
        return cls(**values)
    except ValueError as error:
        problems.append(Problem(path, message_of(error)))
        return None


def encode(value: Any) -> Any:
    """The plain JSON value of a setting: what `decode` would read back."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {key: encode(getattr(value, field.name)) for key, (field, _) in fields_of(type(value)).items()}
    if isinstance(value, Mapping):
        return {str(key): encode(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [encode(entry) for entry in value]
    return value


def describe(kind: Any) -> Message:
    """A type in words a user knows."""
    origin = get_origin(kind)
    if origin is Literal:
        return _ONE_OF(options=", ".join(repr(option) for option in get_args(kind)))
    if dataclasses.is_dataclass(kind) or origin in (dict, Mapping):
        return _AN_OBJECT()
    if origin in (tuple, list):
        return _A_LIST()
    names = {str: _A_STRING, int: _A_WHOLE, float: _A_NUMBER, bool: _A_BOOLEAN}
    return names[kind]() if kind in names else plain(getattr(kind, "__name__", str(kind)))


def show(data: object) -> str | Message:
    """A value as it may stand in an error message."""
    if isinstance(data, Mapping):
        return _AN_OBJECT()
    if isinstance(data, list | tuple):
        return _A_LIST()
    if isinstance(data, bool):
        return "true" if data else "false"
    if data is None:
        return "null"
    text = repr(data)
    return text if len(text) <= 60 else text[:57] + "..."
