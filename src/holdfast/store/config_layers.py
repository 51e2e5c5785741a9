"""The layers of a configuration: the file, then what is given inline by environment, API and command line (HK1).

Objects merge key by key; everything else replaces what lies below. Rules are the exception: those of a later layer
are added behind the earlier ones, so that the last match wins across layers too (PE3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from holdfast.core.decode import Path, Problem
from holdfast.core.messages import Message, Phrase
from holdfast.core.setting_keys import GUARD_MODE, RULES, KeyNameError, key_text, kind_at, parse_key, takes_text
from holdfast.store import json5_tree
from holdfast.store.config_problems import ConfigError, ConfigProblem
from holdfast.store.json5_tree import Entry, Json5Error, Lines, Node

INLINE_VARIABLE = "HOLDFAST_CONFIG_INLINE"
GUARD_MODE_VARIABLE = "MEMORY_BANK_GUARD_MODE"
LARGEST_FILE = 16 * 1024 * 1024

_NO_OBJECT = Phrase(
    "config.not_an_object",
    "expected an object in {{ }}, found something else",
    "应为写在 {{ }} 中的对象，实际是别的内容",
)
_TOO_LARGE = Phrase(
    "config.too_large", "expected at most {most} bytes, found {size}", "最多 {most} 字节，实际 {size} 字节"
)
_DEAD_LINK = Phrase(
    "config.dead_link",
    "is a link to {target}, which is not there; mend or remove the link",
    "是指向 {target} 的链接，而目标不存在；请修复或删除该链接",
)
CANNOT_READ = Phrase("config.cannot_read", "cannot be read: {error}", "无法读取：{error}")
_UTF16 = Phrase(
    "config.utf16",
    "expected UTF-8, found UTF-16; save the file as UTF-8",
    "应为 UTF-8，实际为 UTF-16；请将文件保存为 UTF-8",
)
_NOT_UTF8 = Phrase("config.not_utf8", "expected UTF-8, found byte {byte}", "应为 UTF-8，实际有字节 {byte}")
_NO_ASSIGNMENT = Phrase("config.no_assignment", "expected key=value", "应为 键=值")
_WHOLE_LIST = Phrase("config.whole_list", "a list can only be given as a whole here", "列表在此只能整体给出")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


DEFAULT = Origin("default")


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of settings and, when it is a text, the tree that knows its lines."""

    source: str
    data: Mapping[str, Any]
    tree: Node | None = None
    lines: Lines | None = None

    def problem(self, problem: Problem) -> ConfigProblem:
        line, column = self._position(problem)
        return ConfigProblem(self.source, problem.message, key_text(problem.path), line, column)

    def _position(self, problem: Problem) -> tuple[int | None, int | None]:
        if self.tree is None or self.lines is None:
            return None, None
        # a problem may lie deeper than the text goes (a missing key): point at the nearest thing that is there
        for depth in range(len(problem.path), -1, -1):
            place = json5_tree.find(self.tree, problem.path[:depth])
            if isinstance(place, Entry):
                whole = depth == len(problem.path)
                return self.lines.at(place.start if problem.at == "key" and whole else place.node.start)
            if place is not None:
                return self.lines.at(place.start)
        return None, None

    def line_of(self, path: Path) -> int | None:
        if self.tree is None or self.lines is None:
            return None
        place = json5_tree.find(self.tree, path)
        return None if place is None else self.lines.at(place.start)[0]


def text_layer(source: str, text: str) -> Layer:
    """A layer written as JSONC or JSON5."""
    lines = Lines(text)
    try:
        tree = json5_tree.parse(text)
    except Json5Error as error:
        line, column = lines.at(error.offset)
        raise ConfigError([ConfigProblem(source, error.message, key_text(error.path), line, column)]) from None
    layer = Layer(source, tree.value if tree.is_object else {}, tree, lines)
    if not tree.is_object:
        raise ConfigError([layer.problem(Problem((), _NO_OBJECT()))])
    return layer


def read_text(path: FilePath) -> str | None:
    """The file's text with every byte in it (a byte order mark too), or None when there is no file."""

    def fail(message: Message, line: int | None = None, column: int | None = None) -> ConfigError:
        return ConfigError([ConfigProblem(str(path), message, "", line, column)])

    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise fail(_TOO_LARGE(most=LARGEST_FILE, size=size))
        raw = path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise fail(_DEAD_LINK(target=path.readlink())) from None
        return None
    except OSError as error:
        raise fail(CANNOT_READ(error=error.strerror or error)) from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise fail(_UTF16()) from None
        line, column = Lines(raw[: error.start].decode("utf-8")).at(len(raw[: error.start].decode("utf-8")))
        raise fail(_NOT_UTF8(byte=f"0x{raw[error.start]:02x}"), line, column) from None


def environment_layers(environ: Mapping[str, str]) -> Iterator[Layer]:
    if inline := environ.get(INLINE_VARIABLE, "").strip():
        yield text_layer(f"environment variable {INLINE_VARIABLE}", inline)
    if mode := environ.get(GUARD_MODE_VARIABLE, "").strip().lower():
        yield Layer(f"environment variable {GUARD_MODE_VARIABLE}", nested(GUARD_MODE, mode))


def mapping_layer(data: Mapping[str, Any], source: str = "inline") -> Layer:
    """Settings handed over by a program, in the shape of the file."""
    return Layer(source, data)


def assignment_layer(assignment: str, option: str = "--set") -> Layer:
    """`truncation.maxLines=100`: the value is JSON5; where only text fits, quotes may be left out."""
    source = f"{option} {assignment}"
    key, equals, text = assignment.partition("=")
    if not equals:
        raise ConfigError([ConfigProblem(source, _NO_ASSIGNMENT())])
    try:
        path = parse_key(key.strip())
        if any(isinstance(part, int) for part in path):
            raise KeyNameError(_WHOLE_LIST())
        return Layer(source, nested(path, parse_value(path, text)))
    except (KeyNameError, Json5Error) as error:
        raise ConfigError([ConfigProblem(source, error.message)]) from None


def parse_value(path: Path, text: str) -> Any:
    """A value typed by a person; raises `Json5Error`."""
    stripped = text.strip()
    if takes_text(kind_at(path)) and not stripped.startswith(('"', "'")):
        return text
    return json5_tree.parse(stripped).value


def nested(path: Path, value: Any) -> dict[str, Any]:
    for part in reversed(path):
        value = {part: value}
    return dict(value)


def merge(layers: Sequence[Layer]) -> dict[str, Any]:
    """All layers as one plain object."""
    merged: dict[str, Any] = {}
    for layer in layers:
        merged = _merged(merged, layer.data, ())
    return merged


def _merged(below: Mapping[str, Any], above: Mapping[str, Any], path: Path) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        old = below.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            result[key] = _merged(old, value, (*path, key))
        elif (*path, key) == RULES and isinstance(old, list | tuple) and isinstance(value, list | tuple):
            result[key] = [*old, *value]
        else:
            result[key] = value
    return result


def value_in(data: object, path: Path) -> tuple[bool, Any]:
    """Whether a plain value has something at the path, and what."""
    for part in path:
        if isinstance(part, int):
            if not isinstance(data, list | tuple) or part >= len(data):
                return False, None
            data = data[part]
        else:
            if not isinstance(data, Mapping) or part not in data:
                return False, None
            data = data[part]
    return True, data


def origin_of(layers: Sequence[Layer], path: Path) -> Origin:
    """The layer that gave the value at the path, newest first."""
    if path[: len(RULES)] == RULES and len(path) > len(RULES):
        index = int(path[len(RULES)])
        for layer in layers:
            count = len(value_in(layer.data, RULES)[1] or ())
            if index < count:
                inside = (*RULES, index, *path[len(RULES) + 1 :])
                return Origin(layer.source, layer.line_of(inside) or layer.line_of(inside[: len(RULES) + 1]))
            index -= count
        return DEFAULT
    for layer in reversed(layers):
        if value_in(layer.data, path)[0]:
            return Origin(layer.source, layer.line_of(path))
    return DEFAULT
