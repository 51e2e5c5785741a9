"""Reads JSON, JSONC and JSON5 into a tree that knows where everything stands.

The tree serves three readers: values for the settings, lines and columns for error messages, and offsets for the
splice that changes a file without touching anything else. A key given twice is an error here, because the first of
two `rules` lists would otherwise vanish without a word.
"""

from __future__ import annotations

import bisect
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from holdfast.core.decode import Path
from holdfast.core.messages import Message, Phrase, TellableError

MAX_DEPTH = 64
_SPACE = "[ \\t\\n\\r\\v\\f\\u00a0\\ufeff\\u2028\\u2029\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]"
_TRIVIA = re.compile(f"(?:{_SPACE}+|//[^\\n\\r\\u2028\\u2029]*|/\\*[\\s\\S]*?\\*/)*")
_NUMBER = re.compile(
    r"[+-]?(?:(?P<name>Infinity|NaN)|(?P<hex>0[xX][0-9a-fA-F]+)"
    r"|(?P<real>(?:0|[1-9][0-9]*)?\.[0-9]+(?:[eE][+-]?[0-9]+)?|(?:0|[1-9][0-9]*)\.(?:[eE][+-]?[0-9]+)?"
    r"|(?:0|[1-9][0-9]*)[eE][+-]?[0-9]+)|(?P<whole>0|[1-9][0-9]*))"
)
_NAME = re.compile(r"(?:[^\W\d]|[$_]|\\u[0-9a-fA-F]{4})(?:[\w$\u200c\u200d]|\\u[0-9a-fA-F]{4})*")
_PLAIN = {
    '"': re.compile(r'[^"\\\n\r]*'),
    "'": re.compile(r"[^'\\\n\r]*"),
}
_SIMPLE_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_WORDS = {"true": True, "false": False, "null": None}
_LINE_END = re.compile(r"\r\n|\n|\r")
_HALF_LETTER = re.compile("[\ud800-\udfff]")


_EXPECTED = Phrase("json5.expected", "expected {wanted}, found {found}", "应为{wanted}，实际为{found}")
_END = Phrase("json5.end", "the end of the file", "文件结尾")
_VALUE = Phrase("json5.value", "a value", "一个值")
_QUOTED_VALUE = Phrase("json5.quoted_value", "a value (text stands in quotes)", "一个值（文本须加引号）")
_FINITE = Phrase("json5.finite", "a finite number", "有限的数字")
_COLON = Phrase("json5.colon", "`:` behind the key", "键后面的 `:`")
_COMMA = Phrase("json5.comma", "`,` or `{closing}`", " `,` 或 `{closing}`")
_KEY = Phrase("json5.key", "a key or `}}`", "键或 `}}`")
_COMMENT = Phrase(
    "json5.comment",
    "expected `*/`, found the end of the file: this comment is never closed",
    "应为 `*/`，实际为文件结尾：此注释没有结束",
)
TWICE = Phrase(
    "json5.twice",
    "expected each key once, but {key} stands on line {line} already",
    "每个键只能出现一次，但 {key} 在第 {line} 行已经出现",
)
_DEEP = Phrase("json5.deep", "expected at most {most} levels, found one more", "最多 {most} 层，实际更多")
_QUOTE = Phrase(
    "json5.quote", "expected a closing {quote}, found the end of the line", "应有结束的 {quote}，实际到了行尾"
)
_SURROGATE = Phrase("json5.surrogate", "expected text, found half of a surrogate pair", "应为文本，实际为半个代理对")
_HEX = Phrase(
    "json5.hex", "expected {width} hexadecimal digits behind \\{char}", "\\{char} 后面应有 {width} 位十六进制数字"
)
_ESCAPE = Phrase("json5.escape", "expected an escape sequence behind the backslash", "反斜杠后面应为转义序列")


class Json5Error(TellableError, ValueError):
    """Text that is not JSON5: what was expected, what was found, where, and inside which key."""

    def __init__(self, message: Message, offset: int, path: Path) -> None:
        super().__init__(message)
        self.offset = offset
        self.path = path


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the span of text it stands in."""

    start: int
    end: int
    value: Any
    entries: tuple[Entry, ...] | None = None
    """Members of an object or items of an array; None for anything else."""

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """A member of an object (with its key) or an item of an array."""

    start: int
    """Where its key, or the item itself, begins."""
    node: Node
    comma: int | None
    """Offset of the comma behind it."""
    key: str | int

    @property
    def end(self) -> int:
        return self.node.end


class Lines:
    """Offsets to lines and columns, both counted from 1 as editors do."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def at(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def parse(text: str) -> Node:
    """The tree of a whole document; raises `Json5Error`."""
    return _Parser(text).document()


def find(root: Node, path: Path) -> Entry | Node | None:
    """The entry that a path of keys leads to (the root itself for the empty path), or None."""
    place: Entry | Node = root
    for part in path:
        node = place.node if isinstance(place, Entry) else place
        entries = node.entries or ()
        if isinstance(part, int):
            found = entries[part] if not node.is_object and part < len(entries) else None
        else:
            found = next((entry for entry in entries if entry.key == part), None)
        if found is None:
            return None
        place = found
    return place


def skip_trivia(text: str, offset: int) -> int:
    """The offset behind white space and comments."""
    match = _TRIVIA.match(text, offset)
    return match.end() if match else offset


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.path: list[str | int] = []

    def document(self) -> Node:
        self._skip()
        root = self._value()
        self._skip()
        if self.at < len(self.text):
            self._fail(_END())
        return root

    def _skip(self) -> None:
        self.at = skip_trivia(self.text, self.at)
        if self.text.startswith("/*", self.at):
            raise Json5Error(_COMMENT(), *self._here())

    def _here(self, offset: int | None = None) -> tuple[int, Path]:
        return (self.at if offset is None else offset), tuple(self.path)

    def _fail(self, wanted: Message, offset: int | None = None) -> NoReturn:
        place, path = self._here(offset)
        if place >= len(self.text):
            found: str | Message = _END()
        else:
            # a whole word reads better than its first letter
            word = re.compile(r"[\w.+-]{1,30}").match(self.text, place)
            found = repr(word.group() if word else self.text[place])
        raise Json5Error(_EXPECTED(wanted=wanted, found=found), place, path)

    def _value(self) -> Node:
        text, start = self.text, self.at
        char = text[start : start + 1]
        if char == "{":
            return self._object()
        if char == "[":
            return self._array()
        if char in ('"', "'") and char:
            value: Any = self._string(char)
            return Node(start, self.at, value)
        name = _NAME.match(text, start)
        if name and name.group() in _WORDS:
            self.at = name.end()
            return Node(start, self.at, _WORDS[name.group()])
        number = _NUMBER.match(text, start)
        if number is None or _NAME.match(text, number.end()) or text[number.end() : number.end() + 1].isdigit():
            self._fail(_QUOTED_VALUE() if name else _VALUE())
        self.at = number.end()
        return Node(start, self.at, self._number(number))

    def _number(self, match: re.Match[str]) -> float | int:
        sign = -1 if match.group().startswith("-") else 1
        if match["hex"]:
            return sign * int(match["hex"], 16)
        if match["whole"] and len(match["whole"]) <= 400:
            return sign * int(match["whole"])
        value = float(match["real"] or "inf")
        if not math.isfinite(value):
            # JSON5 knows Infinity and NaN; no setting has a use for them, and no JSON can carry them on
            self._fail(_FINITE(), match.start())
        return sign * value

    def _object(self) -> Node:
        start = self._open()
        entries: list[Entry] = []
        value: dict[str, Any] = {}
        while True:
            self._skip()
            if self.text.startswith("}", self.at):
                return self._close(start, value, entries)
            key_start = self.at
            key = self._key()
            self.path.append(key)
            if key in value:
                first = next(entry for entry in entries if entry.key == key)
                line = Lines(self.text).at(first.start)[0]
                raise Json5Error(TWICE(key=repr(key), line=line), *self._here(key_start))
            self._skip()
            if not self.text.startswith(":", self.at):
                self._fail(_COLON())
            self.at += 1
            self._skip()
            node = self._value()
            self.path.pop()
            value[key] = node.value
            entries.append(Entry(key_start, node, self._comma("}"), key))

    def _array(self) -> Node:
        start = self._open()
        entries: list[Entry] = []
        while True:
            self._skip()
            if self.text.startswith("]", self.at):
                return self._close(start, [entry.node.value for entry in entries], entries)
            self.path.append(len(entries))
            node = self._value()
            self.path.pop()
            entries.append(Entry(node.start, node, self._comma("]"), len(entries)))

    def _open(self) -> int:
        if len(self.path) >= MAX_DEPTH:
            raise Json5Error(_DEEP(most=MAX_DEPTH), *self._here())
        self.at += 1
        return self.at - 1

    def _close(self, start: int, value: Any, entries: list[Entry]) -> Node:
        self.at += 1
        return Node(start, self.at, value, tuple(entries))

    def _comma(self, closing: str) -> int | None:
        self._skip()
        if self.text.startswith(",", self.at):
            self.at += 1
            return self.at - 1
        if not self.text.startswith(closing, self.at):
            self._fail(_COMMA(closing=closing))
        return None

    def _key(self) -> str:
        char = self.text[self.at : self.at + 1]
        if char in ('"', "'") and char:
            return self._string(char)
        name = _NAME.match(self.text, self.at)
        if name is None:
            self._fail(_KEY())
        self.at = name.end()
        return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), name.group())

    def _string(self, quote: str) -> str:
        text, start = self.text, self.at
        plain = _PLAIN[quote]
        parts: list[str] = []
        at = start + 1
        while True:
            match = plain.match(text, at)
            assert match is not None  # it matches the empty text
            parts.append(match.group())
            at = match.end()
            char = text[at : at + 1]
            if char == quote:
                break
            if char != "\\":
                raise Json5Error(_QUOTE(quote=quote), *self._here(start))
            part, at = self._escape(at)
            parts.append(part)
        self.at = at + 1
        value = "".join(parts)
        if not value.isascii() and _HALF_LETTER.search(value):
            try:
                value = value.encode("utf-16", "surrogatepass").decode("utf-16")
            except UnicodeDecodeError:
                raise Json5Error(_SURROGATE(), *self._here(start)) from None
        return value

    def _escape(self, at: int) -> tuple[str, int]:
        text = self.text
        char = text[at + 1 : at + 2]
        if char in ("u", "x"):
            width = 4 if char == "u" else 2
            digits = text[at + 2 : at + 2 + width]
            if not re.fullmatch(f"[0-9a-fA-F]{{{width}}}", digits):
                raise Json5Error(_HEX(width=width, char=char), *self._here(at))
            return chr(int(digits, 16)), at + 2 + width
        if char == "\r" and text[at + 2 : at + 3] == "\n":
            return "", at + 3
        if char in ("\n", "\r", "\u2028", "\u2029"):
            return "", at + 2
        if char == "0" and not text[at + 2 : at + 3].isdigit():
            return "\0", at + 2
        if char == "" or char.isdigit():
            raise Json5Error(_ESCAPE(), *self._here(at))
        return _SIMPLE_ESCAPES.get(char, char), at + 2
