"""A settings file in JSON or JSONC that gets a few entries of ours: hooks, a plugin, an MCP server.

Everything else in it stays as it is, byte for byte. Our entries are recognised by what they run, so they are found
again wherever the user has moved them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from holdfast.core.messages import Phrase, TellableError, message_of
from holdfast.hosts.attach.ours import is_our_hook, is_our_server
from holdfast.store.json5_tree import Json5Error, parse
from holdfast.store.jsonc_splice import EMPTY_FILE, SpliceError, insert_item, remove, set_value

Keys = tuple[str | int, ...]
T = TypeVar("T")


TAKEN = Phrase(
    "attach.taken",
    "{name} is used for something else already; rename that entry and attach again",
    "{name} 已用于其他用途；请重命名该条目后重新接入",
)
_NO_OBJECT = Phrase("attach.no_object", "{path} does not hold a JSON object", "{path} 中不是 JSON 对象")
_NO_JSON = Phrase(
    "attach.no_json", "{path} is not valid JSON ({error}); mend it first", "{path} 不是有效的 JSON（{error}）；请先修复"
)
_MEND = Phrase("attach.mend", "{path}: {error}; mend it first", "{path}：{error}；请先修复")


class AttachError(TellableError):
    """The settings cannot be changed as wanted; the message names the file and what to do."""


@dataclass(frozen=True, slots=True)
class HookGroups:
    """`hooks.<event>` as Claude Code, Codex and Gemini CLI all have it: a list of groups, each with its handlers."""

    events: Mapping[str, Sequence[Mapping[str, Any]]]
    path: Keys = ("hooks",)

    def is_there(self, data: Any) -> bool:
        found = _at(data, self.path)
        found = found if isinstance(found, Mapping) else {}
        names = {*self.events, *(str(name) for name in found)}
        return all(_our_groups(found.get(name)) == list(self.events.get(name, ())) for name in names)

    def add(self, text: str) -> str:
        for event, groups in self.events.items():
            for group in groups:
                place = (*self.path, event)
                there = _at(parse(text).value, place)
                text = insert_item(text, place, len(there) if isinstance(there, list) else 0, _plain(group))
        return text

    def take_out(self, text: str) -> str:
        found = _at(parse(text).value, self.path)
        for event in found if isinstance(found, Mapping) else ():
            groups = found[event]
            for number in reversed(range(len(groups) if isinstance(groups, list) else 0)):
                text = self._group(text, (*self.path, event, number), groups[number])
        return text

    def _group(self, text: str, place: Keys, group: Any) -> str:
        handlers = group.get("hooks") if isinstance(group, Mapping) else None
        if not isinstance(handlers, list) or not any(map(is_our_hook, handlers)):
            return text
        if all(map(is_our_hook, handlers)):
            return remove(text, place)
        for number in reversed(range(len(handlers))):
            if is_our_hook(handlers[number]):
                text = remove(text, (*place, "hooks", number))
        return text


@dataclass(frozen=True, slots=True)
class ListItem:
    """One item of a list, such as a plugin."""

    path: Keys
    value: Any

    def is_there(self, data: Any) -> bool:
        found = _at(data, self.path)
        return [item for item in found if is_our_hook(item)] == [self.value] if isinstance(found, list) else False

    def add(self, text: str) -> str:
        there = _at(parse(text).value, self.path)
        return insert_item(text, self.path, len(there) if isinstance(there, list) else 0, self.value)

    def take_out(self, text: str) -> str:
        found = _at(parse(text).value, self.path)
        for number in reversed(range(len(found) if isinstance(found, list) else 0)):
            if is_our_hook(found[number]):
                text = remove(text, (*self.path, number))
        return text


@dataclass(frozen=True, slots=True)
class Server:
    """An entry under a name: our MCP server. The same name used for something else is the user's, and left alone."""

    path: Keys
    value: Mapping[str, Any] | None
    """None: none of ours is to be there."""

    def is_there(self, data: Any) -> bool:
        there = _at(data, self.path)
        return not is_our_server(there) if self.value is None else bool(there == self.value)

    def add(self, text: str) -> str:
        if self.value is None:
            return text
        there = _at(parse(text).value, self.path)
        if there is not None and not is_our_server(there):
            name = ".".join(map(str, self.path))
            raise AttachError(TAKEN(name=name))
        return set_value(text, self.path, dict(self.value))

    def take_out(self, text: str) -> str:
        return remove(text, self.path) if is_our_server(_at(parse(text).value, self.path)) else text


Entry = HookGroups | ListItem | Server


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A file and what it is to hold of ours."""

    path: Path
    entries: tuple[Entry, ...]
    secret: bool = False
    """True when an entry holds the token: then nobody else may read the file."""
    kind: Literal["json"] = "json"

    def applied(self, text: str | None) -> str:
        """The text with our entries; the same text when it has them all."""
        return self._guarded(lambda: self._applied(text))

    def _applied(self, text: str | None) -> str:
        text = EMPTY_FILE if text is None or not text.strip() else text
        data = parse(text).value
        if not isinstance(data, dict):
            raise AttachError(_NO_OBJECT(path=self.path))
        if all(entry.is_there(data) for entry in self.entries):
            return text
        for entry in self.entries:
            if not entry.is_there(parse(text).value):
                text = entry.add(entry.take_out(text))
        return text

    def stripped(self, text: str, before: str | None) -> str | None:
        """The text without our entries and without what they alone needed; None when nothing is left of it."""
        return self._guarded(lambda: self._stripped(text, before))

    def _stripped(self, text: str, before: str | None) -> str | None:
        known = parse(before).value if before and before.strip() else {}
        for entry in self.entries:
            text = entry.take_out(text)
        for place in _parents(self.entries):
            there = _at(parse(text).value, place)
            if there in ({}, []) and _at(known, place) is None:
                text = remove(text, place)
        return None if before is None and parse(text).value == {} else text

    def _guarded(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except Json5Error as error:
            raise AttachError(_NO_JSON(path=self.path, error=error)) from None
        except SpliceError as error:
            raise AttachError(_MEND(path=self.path, error=message_of(error))) from None


def _parents(entries: Sequence[Entry]) -> list[Keys]:
    """Every place that may have been made for an entry, the deepest first."""
    places: dict[Keys, None] = {}
    for entry in entries:
        ends = [(*entry.path, event) for event in entry.events] if isinstance(entry, HookGroups) else [entry.path]
        for end in ends:
            start = len(end) if not isinstance(entry, Server) else len(end) - 1
            places.update({end[:length]: None for length in range(start, 0, -1)})
    return sorted(places, key=len, reverse=True)


def _our_groups(groups: Any) -> list[Any]:
    """Groups that hold only handlers of ours."""
    if not isinstance(groups, list):
        return []
    return [group for group in groups if isinstance(group, Mapping) and any(map(is_our_hook, group.get("hooks") or ()))]


def _at(data: Any, path: Keys) -> Any:
    for key in path:
        if isinstance(data, Mapping):
            data = data.get(key)
        elif isinstance(data, list) and isinstance(key, int) and key < len(data):
            data = data[key]
        else:
            return None
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
