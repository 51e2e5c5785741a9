"""A settings file in TOML (Codex): our tables stand in one marked block at its end, single keys on marked lines.

There is no writer for TOML that keeps comments in the standard library, and none is needed for this: what is ours is
known by its marks, and the result is parsed before it is written.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from holdfast.core.messages import Phrase
from holdfast.hosts.attach.json_file import AttachError

_NO_ROOM = Phrase(
    "attach.no_room",
    "{path}: {table} is written in a way that cannot be added to; set {text} in it",
    "{path}：{table} 的写法无法添加内容；请在其中设置 {text}",
)
_FIXED = Phrase(
    "attach.fixed",
    "{path}: {key} is set in a way that cannot be changed; set {text}",
    "{path}：{key} 的写法无法更改；请设置 {text}",
)
_NO_TOML = Phrase(
    "attach.no_toml", "{path} is not valid TOML ({error}); mend it first", "{path} 不是有效的 TOML（{error}）；请先修复"
)

OPEN = "# >>> holdfast: added by `holdfast attach`, removed by `holdfast detach`"
CLOSE = "# <<< holdfast"
MARK = "# holdfast"
_BLOCK = re.compile(rf"\n?{re.escape(OPEN)}\n.*?{re.escape(CLOSE)}\n?", re.S)
_MARKED = re.compile(rf"^(?P<line>[^\n]*?)[ ]{{2}}{re.escape(MARK)}(?: \(was: (?P<was>[^\n]*)\))?$\n?", re.M)


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table that may be the user's own."""

    table: str
    name: str
    value: bool

    def text(self) -> str:
        return f"{self.name} = {str(self.value).lower()}"


@dataclass(frozen=True, slots=True)
class TomlFile:
    path: Path
    tables: str
    keys: tuple[Key, ...] = ()
    secret: bool = False
    kind: Literal["toml"] = "toml"

    def applied(self, text: str | None) -> str:
        """The text with our block and keys; the same text when it has them."""
        before = text or ""
        parsed(self.path, before)
        bare = without_ours(before)
        tables = self.tables
        for key in self.keys:
            bare, more = self._with_key(bare, key)
            tables += more
        gap = "" if not bare or bare.endswith("\n") else "\n"
        after = f"{bare}{gap}\n{OPEN}\n{tables.strip()}\n{CLOSE}\n" if tables.strip() else bare
        if parsed(self.path, after) == parsed(self.path, before) and OPEN in before:
            return before
        return after

    def stripped(self, text: str, before: str | None) -> str | None:
        left = without_ours(text)
        return None if before is None and not left.strip() else left

    def _with_key(self, text: str, key: Key) -> tuple[str, str]:
        """The text with one key set, and what has to go into our block instead."""
        there = parsed(self.path, text).get(key.table)
        if there is None:
            return text, f"\n[{key.table}]\n{key.text()}\n"
        if isinstance(there, dict) and there.get(key.name) is key.value:
            return text, ""
        header = re.search(rf"^[ \t]*\[{re.escape(key.table)}\][ \t]*(?:#[^\n]*)?$\n?", text, re.M)
        dotted = re.search(rf"^[ \t]*{re.escape(key.table)}\.", text, re.M)
        if isinstance(there, dict) and key.name in there:
            return self._changed_key(text, key, header.end() if header else 0), ""
        if header is not None:
            gap = "" if header.group().endswith("\n") else "\n"
            return text[: header.end()] + f"{gap}{key.text()}  {MARK}\n" + text[header.end() :], ""
        if dotted is not None:
            return text[: dotted.start()] + f"{key.table}.{key.text()}  {MARK}\n" + text[dotted.start() :], ""
        raise AttachError(_NO_ROOM(path=self.path, table=key.table, text=key.text()))

    def _changed_key(self, text: str, key: Key, start: int) -> str:
        line = re.compile(
            rf"^([ \t]*(?:{re.escape(key.table)}\.)?{re.escape(key.name)}[ \t]*=[ \t]*)(\w+)[ \t]*(?:#[^\n]*)?$", re.M
        )
        found = line.search(text, start)
        if found is None:
            raise AttachError(_FIXED(path=self.path, key=key.name, text=key.text()))
        new = f"{found[1]}{str(key.value).lower()}  {MARK} (was: {found[0]})"
        return text[: found.start()] + new + text[found.end() :]


def parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AttachError(_NO_TOML(path=path, error=error)) from None


def without_ours(text: str) -> str:
    """The text as the user has it."""

    def back(found: re.Match[str]) -> str:
        was = found["was"]
        return "" if was is None else f"{was}\n" if found[0].endswith("\n") else was

    return _MARKED.sub(back, _BLOCK.sub("", text))


def string(value: str) -> str:
    """A TOML basic string."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in escaped) + '"'


def strings(values: list[str]) -> str:
    return "[" + ", ".join(map(string, values)) + "]"
