"""Names of settings as people write them: `truncation.maxLines`, `permission.rules[0]`, `models["gpt-4.1"].api`.

A key may leave out `agents.runtime.`, because nearly every setting lives there.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Union, get_args, get_origin

from holdfast.core.decode import Path, dotted, fields_of
from holdfast.core.messages import Message, Phrase, TellableError
from holdfast.core.settings import RuntimeSettings, Settings

RUNTIME: Path = ("agents", "runtime")
RULES: Path = (*RUNTIME, "permission", "rules")
GUARD_MODE: Path = (*RUNTIME, "memory", "guardMode")
AGENT_ID: Path = (*RUNTIME, "agent", "id")
_PART = re.compile(r"""\[(?P<index>\d+)\]|\["(?P<quoted>[^"]*)"\]|(?P<dot>\.?)(?P<name>[^.\[\]"]+)""")


class KeyNameError(TellableError, ValueError):
    """A key that names no setting."""


_NO_KEY = Phrase(
    "config.no_key",
    "{text} is not a key: write it like truncation.maxLines or permission.rules[0]",
    "{text} 不是键：请写成 truncation.maxLines 或 permission.rules[0] 的形式",
)
_NO_PART = Phrase(
    "config.no_part",
    "no setting is called {key}: {parent} has no parts of that name",
    "没有名为 {key} 的设置：{parent} 没有这个名称的部分",
)
_NO_SETTING_NEAR = Phrase(
    "config.no_setting_near",
    "no setting is called {key}; did you mean {near}?",
    "没有名为 {key} 的设置；是否想写 {near}？",
)
_NO_SETTING = Phrase(
    "config.no_setting", "no setting is called {key}; there are: {known}", "没有名为 {key} 的设置；现有：{known}"
)


def parse_key(text: str) -> Path:
    """The full path of a key; raises `KeyNameError` when it cannot be read or names nothing."""
    parts: list[str | int] = []
    at = 0
    while at < len(text) or not parts:
        match = _PART.match(text, at)
        if match is None or (match["name"] and bool(match["dot"]) != bool(parts)):
            raise KeyNameError(_NO_KEY(text=repr(text)))
        parts.append(int(match["index"]) if match["index"] else match["quoted"] or match["name"])
        at = match.end()
    path = full_path(tuple(parts))
    kind_at(path)
    return path


def full_path(path: Path) -> Path:
    """With `agents.runtime` in front when the key begins below it."""
    top = fields_of(Settings)
    if path and path[0] not in top and path[0] in fields_of(RuntimeSettings):
        return (*RUNTIME, *path)
    return path


def short_key(path: Path) -> str:
    """The shortest text that `parse_key` reads back."""
    if len(path) > 2 and path[:2] == RUNTIME:
        path = path[2:]
    return key_text(path)


def key_text(path: Path) -> str:
    """Like `dotted`, with quotes around keys that hold dots or brackets."""
    text = ""
    for part in path:
        if isinstance(part, str) and re.search(r'[.\[\]"]', part):
            text += f'["{part}"]'
        else:
            text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else part)
    return text


def kind_at(path: Path) -> Any:
    """The type that a path leads to; raises `KeyNameError`."""
    kind: Any = Settings
    for depth, part in enumerate(path):
        kind = _inner(leaf_kind(kind), part)
        if kind is None:
            raise KeyNameError(_unknown(path, depth))
    return kind


def field_at(path: Path) -> dataclasses.Field[Any] | None:
    """The field whose documentation and limits hold for a path; None for an entry of a list or of a free mapping."""
    parent = leaf_kind(kind_at(path[:-1])) if path else None
    if not (dataclasses.is_dataclass(parent) and isinstance(parent, type)):
        return None
    known = fields_of(parent).get(str(path[-1]))
    return known[0] if known else None


def _inner(kind: Any, part: str | int) -> Any:
    origin = get_origin(kind)
    if kind is Any or kind is object:
        return Any
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        known = fields_of(kind).get(str(part))
        return known[1] if known else None
    if isinstance(part, int):
        return get_args(kind)[0] if origin in (tuple, list) else None
    if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return get_args(kind)[1]
    return None


def leaf_kind(kind: Any) -> Any:
    """The type without the possibility of null."""
    if get_origin(kind) in (Union, types.UnionType):
        options = [option for option in get_args(kind) if option is not type(None)]
        return options[0] if len(options) == 1 else kind
    return kind


def _unknown(path: Path, depth: int) -> Message:
    key = repr(key_text(path))
    parent = leaf_kind(kind_at(path[:depth]))
    known = list(fields_of(parent)) if dataclasses.is_dataclass(parent) and isinstance(parent, type) else []
    if depth == 0:
        known += fields_of(RuntimeSettings)
    if not known:
        return _NO_PART(key=key, parent=dotted(path[:depth]))
    near = difflib.get_close_matches(str(path[depth]), known, 1)
    if near:
        return _NO_SETTING_NEAR(key=key, near=repr(near[0]))
    return _NO_SETTING(key=key, known=", ".join(sorted(known)))


def takes_text(kind: Any) -> bool:
    """Whether every value of the type is a string, so that quotes may be left out on the command line."""
    kind = leaf_kind(kind)
    if get_origin(kind) is Literal:
        return all(isinstance(option, str) for option in get_args(kind))
    return kind is str


def leaves(kind: Any, value: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Every single setting below a plain value: its path, its type and its value; a list of objects item by item."""
    kind = leaf_kind(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type) and isinstance(value, Mapping):
        for key, (_, inner) in fields_of(kind).items():
            yield from leaves(inner, value[key], (*path, key))
        return
    args = get_args(kind)
    if value and isinstance(value, Mapping) and args and dataclasses.is_dataclass(args[-1]):
        for key, entry in value.items():
            yield from leaves(args[-1], entry, (*path, key))
        return
    if value and isinstance(value, list) and args and dataclasses.is_dataclass(args[0]):
        for index, entry in enumerate(value):
            yield (*path, index), args[0], entry
        return
    yield path, kind, value
