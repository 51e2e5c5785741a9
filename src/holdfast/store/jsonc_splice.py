"""Changes a JSONC text at one place: a value is set, an item inserted or something removed; all else stays (PE7).

Comments, blank lines, line ends, quotes, trailing commas and the order of keys are the user's and are not touched.
An insertion only ever adds bytes. Whoever calls this parses the result and compares it before writing it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.core.decode import Path, dotted
from holdfast.core.messages import Phrase, TellableError
from holdfast.store.json5_tree import Entry, Node, find, parse

EMPTY_FILE = "{\n}\n"
_WIDEST_LINE = 100
_COMMENT = re.compile(r"(?P<line>//[^\n\r\u2028\u2029]*)|(?P<block>/\*[\s\S]*?\*/)")
_BLANKS = re.compile(r"[ \t\f\v\u00a0\ufeff]*")
_LINE_END = re.compile(r"\r\n|\n|\r")


class SpliceError(TellableError, ValueError):
    """A place that is not there, or cannot hold what it is given."""


_FILE = Phrase("splice.file", "the file", "文件")
_NOT_A_LIST = Phrase("splice.not_a_list", "{key} is not a list", "{key} 不是列表")
_NO_PLACE = Phrase("splice.no_place", "{key} has no place {index}", "{key} 没有第 {index} 个位置")
_NO_PART = Phrase("splice.no_part", "{key} has no part {part}", "{key} 没有 {part} 部分")
_NOT_THERE = Phrase(
    "splice.not_there", "{key} cannot be removed: there is no such place", "无法移除 {key}：没有这个位置"
)


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


def insert_item(text: str, path: Path, index: int, value: Any) -> str:
    """With `value` as item `index` of the list at `path`; list and parents are made when they are missing."""
    place = find(parse(text), path)
    if place is None:
        return set_value(text, path, [value])
    node = place.node if isinstance(place, Entry) else place
    if not isinstance(node.value, list):
        raise SpliceError(_NOT_A_LIST(key=dotted(path)))
    if not 0 <= index <= len(node.value):
        raise SpliceError(_NO_PLACE(key=dotted(path), index=index))
    return _Splicer(text).insert(node, index, lambda indent, broad: _Splicer(text).render(value, indent, broad))


def set_value(text: str, path: Path, value: Any) -> str:
    """With `value` at `path`; parents that are missing are made."""
    root = parse(text)
    splicer = _Splicer(text)
    depth = len(path)
    while (place := find(root, path[:depth])) is None:
        depth -= 1
    node = place.node if isinstance(place, Entry) else place
    if depth < len(path) and node.value is None:  # null where an object belongs is as good as nothing
        value, path = nested(path[depth:], value), path[:depth]
    if depth == len(path):
        return splicer.replace(node, value)
    if not node.is_object or not all(isinstance(part, str) for part in path[depth:]):
        raise SpliceError(_NO_PART(key=dotted(path[:depth]) or _FILE(), part=dotted(path[depth:])))
    inner = nested(path[depth + 1 :], value)
    key = _scalar(path[depth])
    count = len(node.entries or ())
    return splicer.insert(node, count, lambda indent, broad: f"{key}: {splicer.render(inner, indent, broad)}")


def nested(path: Path, value: Any) -> Any:
    """`{"a": {"b": value}}` for the path `a.b`."""
    for part in reversed(path):
        value = {part: value}
    return value


def remove(text: str, path: Path) -> str:
    """Without the member or item at `path`; comments stay, also those that stood beside it."""
    place = find(parse(text), path)
    if not isinstance(place, Entry):
        raise SpliceError(_NOT_THERE(key=dotted(path) or _FILE()))
    parent = find(parse(text), path[:-1])
    node = parent.node if isinstance(parent, Entry) else parent
    assert node is not None  # it holds `place`
    assert node.entries is not None
    return _Splicer(text).remove(
        node.entries, next(i for i, entry in enumerate(node.entries) if entry.start == place.start)
    )


def with_empty_parents(text: str, path: Path) -> Path:
    """The topmost object that holds nothing but what is at `path`, not even a comment, so that it may go as well."""
    root = parse(text)
    while len(path) > 1:
        parent = find(root, path[:-1])
        if not isinstance(parent, Entry) or not parent.node.is_object or len(parent.node.entries or ()) != 1:
            break
        (entry,) = parent.node.entries or ()
        around = text[parent.node.start + 1 : entry.start] + text[entry.end : parent.node.end - 1]
        if around.replace(",", "", 1).strip():
            break
        path = path[:-1]
    return path


class _Splicer:
    """The text with its habits: line ends and depth of indentation."""

    def __init__(self, text: str) -> None:
        self.text = text
        ends = _LINE_END.findall(text)
        self.newline = max(("\n", "\r\n", "\r"), key=ends.count)
        self.is_broad = bool(ends) and bool(_LINE_END.search(text.strip("\ufeff \t\r\n")))
        self.unit = self._unit()

    def _unit(self) -> str:
        """One step of indentation: the smallest one that the text uses."""
        indents = re.findall(r"(?:^|[\r\n])([ \t]+)(?=[^\s/*])", self.text)
        return min(indents, key=len, default="  ") if indents else "  "

    def apply(self, *edits: _Edit) -> str:
        text = self.text
        for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text

    def replace(self, node: Node, value: Any) -> str:
        broad = self.is_broad or bool(_LINE_END.search(self.text, node.start, node.end))
        return self.apply(_Edit(node.start, node.end, self.render(value, self.indent_at(node.start), broad)))

    # -- inserting

    def insert(self, container: Node, index: int, render: Callable[[str, bool], str]) -> str:
        """`render(indent, broad)` gives the new entry's text; broad: it may take several lines."""
        entries = container.entries or ()
        indent = self._entry_indent(container, index)
        if not entries:
            return self._insert_first(container, indent, render)
        following = container.end - 1 if index == len(entries) else entries[index].start
        before = entries[index - 1] if index else None
        anchor = container.start + 1
        comma = ""
        if before is not None:
            anchor = before.end if before.comma is None else before.comma + 1
            comma = "," if before.comma is None else ""
        # an entry that comes last takes a comma only where the user writes them there
        closing = "," if not comma else ""
        end, breaks = self._end_of_line(anchor, following)
        if breaks:
            body = self.newline + indent + render(indent, True) + closing
            return (
                self.apply(_Edit(end, end, comma + body))
                if end == anchor
                else self.apply(_Edit(anchor, anchor, comma), _Edit(end, end, body))
            )
        spaced = self.text[anchor : anchor + 1] in (" ", "\t")
        lead = " " if spaced or before is not None else ""
        trail = " " if not spaced and index < len(entries) else ""
        return self.apply(_Edit(anchor, anchor, comma + lead + render(indent, False) + closing + trail))

    def _insert_first(self, container: Node, indent: str, render: Callable[[str, bool], str]) -> str:
        start, end = container.start + 1, container.end - 1
        comments = list(_COMMENT.finditer(self.text, start, end))
        place = comments[-1].end() if comments else start
        if re.compile("[\n\r\u2028\u2029]").search(self.text, place, end):
            return self.apply(_Edit(place, place, self.newline + indent + render(indent, True)))
        if comments:
            return self.apply(_Edit(place, place, " " + render(indent, False)))
        is_root = not self.text[: container.start].strip("\ufeff \t\r\n")
        if self.is_broad or is_root:
            closing = self.newline + self.indent_at(container.start)
            return self.apply(_Edit(end, end, self.newline + indent + render(indent, True) + closing))
        return self.apply(_Edit(end, end, render(indent, False)))

    def _end_of_line(self, start: int, limit: int) -> tuple[int, bool]:
        """Behind the comments that belong to the line of `start`, and whether the line ends there, before `limit`."""
        at = end = start
        while True:
            blanks = _BLANKS.match(self.text, at)
            at = blanks.end() if blanks else at
            if at < limit and _LINE_END.match(self.text, at):
                return end, True
            comment = _COMMENT.match(self.text, at)
            if at >= limit or comment is None or _LINE_END.search(comment.group()):
                return start, False
            at = end = comment.end()

    def _entry_indent(self, container: Node, index: int) -> str:
        entries = container.entries or ()
        for entry in (*reversed(entries[:index]), *entries[index:]):
            blanks = self.text[self._line_start(entry.start) : entry.start]
            if not blanks.strip("\ufeff \t"):
                return blanks.strip("\ufeff")
        return self.indent_at(container.start) + self.unit

    def indent_at(self, offset: int) -> str:
        """The white space that the line of `offset` begins with."""
        match = re.compile(r"\ufeff?([ \t]*)").match(self.text, self._line_start(offset))
        return match[1] if match else ""

    def _line_start(self, offset: int) -> int:
        return max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset)) + 1

    # -- removing

    def remove(self, entries: tuple[Entry, ...], index: int) -> str:
        entry = entries[index]
        edits = []
        end = entry.end
        if entry.comma is not None:
            if _COMMENT.search(self.text, entry.end, entry.comma):
                edits.append(_Edit(entry.comma, entry.comma + 1, ""))
            else:
                end = entry.comma + 1
        elif index and (comma := entries[index - 1].comma) is not None:
            edits.append(_Edit(comma, comma + 1, ""))
        start, end = self._with_its_blanks(entry.start, end)
        return self.apply(*edits, _Edit(start, end, ""))

    def _with_its_blanks(self, start: int, end: int) -> tuple[int, int]:
        """The span with the whole line when nothing else stands on it, else with the blanks behind it."""
        line = self._line_start(start)
        blanks = _BLANKS.match(self.text, end)
        after = blanks.end() if blanks else end
        line_end = _LINE_END.match(self.text, after)
        if line_end and not self.text[line:start].strip("\ufeff \t"):
            bom = 1 if self.text.startswith("\ufeff", line) else 0
            return line + bom, line_end.end()
        if line_end or self.text[after : after + 1] not in "]}":
            return start, end if line_end else after
        # the last one on its line: the blank before it goes with it
        return len(self.text[:start].rstrip(" \t")), end

    # -- writing values

    def render(self, value: Any, indent: str, broad: bool) -> str:
        """JSON, on one line when it is short and flat or when `broad` is False."""
        flat = _flat(value)
        nests = isinstance(value, dict | list) and any(isinstance(part, dict | list) for part in _parts(value))
        if not broad or not isinstance(value, dict | list) or not value or (not nests and len(flat) <= _WIDEST_LINE):
            return flat
        inner = indent + self.unit
        lines = (
            [f"{_scalar(key)}: {self.render(part, inner, True)}" for key, part in value.items()]
            if isinstance(value, dict)
            else [self.render(part, inner, True) for part in value]
        )
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return opening + ",".join(f"{self.newline}{inner}{line}" for line in lines) + f"{self.newline}{indent}{closing}"


def _parts(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_scalar(key)}: {_flat(part)}" for key, part in value.items()) + " }" if value else "{}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flat, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    """JSON, with everything invisible written as an escape: what the user sees is what counts."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
