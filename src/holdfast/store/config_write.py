"""Changes `config.jsonc` for the user: locked, spliced, checked by two readers, then replaced as a whole (PE7).

Nothing is written unless the file was right before and says exactly the expected thing afterwards. A change that
takes anything away keeps the whole file as it was under `config-backups/`, for ever: it is the user's text.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from holdfast.core.decode import Path, encode
from holdfast.core.messages import Phrase, TellableError
from holdfast.core.patterns import Rule
from holdfast.core.setting_keys import RULES, key_text
from holdfast.core.settings import RuleSetting
from holdfast.store import jsonc_splice
from holdfast.store.atomic_file import LockTimeout, file_lock, sweep_temporaries, write_atomic
from holdfast.store.config_file import Inline, LoadedConfig, load_text
from holdfast.store.config_layers import read_text, value_in
from holdfast.store.config_problems import ConfigError, ConfigProblem
from holdfast.store.json5_tree import parse
from holdfast.store.jsonc_splice import EMPTY_FILE, SpliceError

BACKUPS = "config-backups"
LOCK_SECONDS = 10.0
_BACKUP_NAME = re.compile(r"(?P<number>\d+)-(?P<digest>[0-9a-f]{12})\.jsonc")


_NO_PLACE = Phrase(
    "write.no_place",
    "{path}: {key} has no place {index}; there are {count} items",
    "{path}：{key} 没有第 {index} 个位置；共有 {count} 项",
)
_NO_RULE = Phrase(
    "write.no_rule",
    "{path}: {key} has no rule {index}; there are {count}",
    "{path}：{key} 没有规则 {index}；共有 {count} 条",
)
_OTHER_RULE = Phrase(
    "write.other_rule",
    "{path}: rule {index} has been changed by somebody else meanwhile; look again",
    "{path}：规则 {index} 已被他人更改；请重新查看",
)
_CANNOT_WRITE = Phrase(
    "write.cannot", "{path}: cannot be written: {error}; nothing was changed", "{path}：无法写入：{error}；没有任何更改"
)
_AT = Phrase("write.at", "{path}: {what}", "{path}：{what}")
_NOTHING_WRITTEN = Phrase("write.nothing", "{what}; nothing was written", "{what}；没有写入任何内容")
_BY_HAND = Phrase(
    "write.by_hand",
    "{path}: this file is written in a way that cannot be changed safely; edit it by hand",
    "{path}：此文件的写法无法安全地自动更改；请手动编辑",
)


class ConfigWriteError(TellableError):
    """The change was not made, and the file is as it was; the message says why."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a change."""

    changed: bool
    config: LoadedConfig
    """The file as it is now, without anything inline."""
    backup: FilePath | None = None


@dataclass(frozen=True, slots=True)
class RuleWritten:
    changed: bool
    """False when the very rule was in force already."""
    rule: Rule
    """As it stands in the file, with its line and index."""
    shadowed_by: Rule | None = None
    """A rule further down of the same domain that may take the decision back: say so."""


# text and plain value before -> text and plain value after
_Change = Callable[[str, dict[str, Any]], tuple[str, dict[str, Any]]]


def add_rule(path: FilePath, setting: RuleSetting, *, deadline_seconds: float = LOCK_SECONDS) -> RuleWritten:
    """Write a rule so that it takes effect without overriding any deny rule of the user."""
    plain = rule_value(setting)
    place = -1

    def change(text: str, value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        nonlocal place
        rules = value_in(value, RULES)[1] or []
        place = rule_place(rules, plain)
        held = _already_there(rules, plain, place)
        if held is not None:
            place = held
            return text, value
        expected = _with(value, RULES, [*rules[:place], plain, *rules[place:]])
        return jsonc_splice.insert_item(text, RULES, place, plain), expected

    written = _change(path, change, deadline_seconds)
    rules = written.config.rules
    later = [rule for rule in rules[place + 1 :] if rule.domain == setting.domain and rule.decision != setting.decision]
    shadow = next((rule for rule in later if rule.decision != "deny"), None)
    return RuleWritten(written.changed, rules[place], shadow)


def rule_place(rules: list[Any], plain: dict[str, Any]) -> int:
    """Where a new rule goes: a deny at the end; all else above the deny rules, as far down as that allows.

    That is above the first deny of any domain, unless a later rule of the rule's own domain would then win over it:
    in that case above the first deny of its own domain, the only ones it could override.
    """
    if plain["decision"] == "deny":
        return len(rules)
    domain = plain["domain"]
    denies = [index for index, rule in enumerate(rules) if rule["decision"] == "deny"]
    above_all = denies[0] if denies else len(rules)
    own = next((index for index in denies if rules[index]["domain"] == domain), len(rules))
    wins_later = any(rule["domain"] == domain and rule["decision"] != "deny" for rule in rules[above_all:own])
    return own if wins_later else above_all


def _already_there(rules: list[Any], plain: dict[str, Any], place: int) -> int | None:
    """The index of the same rule, when nothing of its domain between it and `place` could decide otherwise."""
    for index in range(place - 1, -1, -1):
        if rules[index] == plain:
            return index
        if rules[index]["domain"] == plain["domain"] and rules[index]["decision"] != plain["decision"]:
            return None
    return None


def remove_rule(
    path: FilePath, index: int, *, expected: RuleSetting | None = None, deadline_seconds: float = LOCK_SECONDS
) -> Written:
    """Remove the rule at `index`; with `expected`, only if it is that one (the file may have changed meanwhile)."""

    def change(text: str, value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        rules = _rules_with(path, value, index, expected)
        return jsonc_splice.remove(text, (*RULES, index)), _with(value, RULES, rules[:index] + rules[index + 1 :])

    return _change(path, change, deadline_seconds)


def put_rule_back(
    path: FilePath, index: int, setting: RuleSetting, *, deadline_seconds: float = LOCK_SECONDS
) -> RuleWritten:
    """Write a rule at exactly this place: the undo of `remove_rule`. Unlike `add_rule` it may stand below a deny."""
    written = insert_item(path, RULES, index, rule_value(setting), deadline_seconds=deadline_seconds)
    return RuleWritten(written.changed, written.config.rules[index])


def insert_item(
    path: FilePath, key: Path, index: int, value: Any, *, deadline_seconds: float = LOCK_SECONDS
) -> Written:
    """Put one item into a list of the file; a list that is not there yet is made."""

    def change(text: str, before: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        items: list[Any] = value_in(before, key)[1] or []
        if not 0 <= index <= len(items):
            raise ConfigWriteError(_NO_PLACE(path=path, key=key_text(key), index=index, count=len(items)))
        expected = _with(before, key, [*items[:index], value, *items[index:]])
        return jsonc_splice.insert_item(text, key, index, value), expected

    return _change(path, change, deadline_seconds)


def set_value(path: FilePath, key: Path, value: Any, *, deadline_seconds: float = LOCK_SECONDS) -> Written:
    """Set one setting in the file."""

    def change(text: str, before: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        there, old = value_in(before, key)
        if there and _same(old, value):
            return text, before
        return jsonc_splice.set_value(text, key, value), _with(before, key, value)

    return _change(path, change, deadline_seconds)


def unset_value(path: FilePath, key: Path, *, deadline_seconds: float = LOCK_SECONDS) -> Written:
    """Take one setting out of the file, so that its default holds again."""

    def change(text: str, before: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if not value_in(before, key)[0]:
            return text, before
        whole = jsonc_splice.with_empty_parents(text, key)
        after = copy.deepcopy(before)
        del value_in(after, whole[:-1])[1][whole[-1]]
        return jsonc_splice.remove(text, whole), after

    return _change(path, change, deadline_seconds)


def rule_value(setting: RuleSetting) -> dict[str, Any]:
    """The rule as it is written: without what is not set."""
    return {key: value for key, value in encode(setting).items() if value is not None}


def _rules_with(path: FilePath, value: dict[str, Any], index: int, expected: RuleSetting | None) -> list[Any]:
    rules: list[Any] = value_in(value, RULES)[1] or []
    if not 0 <= index < len(rules):
        raise ConfigWriteError(_NO_RULE(path=path, key=key_text(RULES), index=index, count=len(rules)))
    if expected is not None and rules[index] != rule_value(expected):
        raise ConfigWriteError(_OTHER_RULE(path=path, index=index))
    return rules


def _with(value: dict[str, Any], path: Path, part: Any) -> dict[str, Any]:
    """A copy that has `part` at the path."""
    result = copy.deepcopy(value)
    place: Any = result
    for key in path[:-1]:
        if isinstance(key, str) and place.get(key) is None:
            place[key] = {}
        place = place[key]
    place[path[-1]] = part
    return result


def _change(path: FilePath, change: _Change, deadline_seconds: float) -> Written:
    real = FilePath(os.path.realpath(path))
    try:
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with file_lock(real.with_name(f"{real.name}.lock"), deadline_seconds=deadline_seconds):
            return _change_locked(path, real, change)
    except LockTimeout as error:
        raise ConfigWriteError(error.message) from None
    except OSError as error:
        raise ConfigWriteError(_CANNOT_WRITE(path=path, error=error.strerror or error)) from None


def _change_locked(path: FilePath, real: FilePath, change: _Change) -> Written:
    nothing_inline = Inline(environ={})
    on_disk = read_text(path)
    text = EMPTY_FILE if on_disk is None else on_disk
    before = load_text(path, text, nothing_inline)  # a broken file is never rewritten
    value = dict(before.layers[0].data)
    try:
        after, expected = change(text, value)
    except SpliceError as error:
        raise ConfigWriteError(_AT(path=path, what=error.message)) from None
    if after == text:
        return Written(False, before)
    _verify(path, text, after, expected)
    config = _checked(path, after, nothing_inline)
    backup = _keep(real, text) if on_disk is not None and _takes_away(text, after) else None
    sweep_temporaries(real)
    write_atomic(real, after.encode())
    return Written(True, config, backup)


def _checked(path: FilePath, after: str, inline: Inline) -> LoadedConfig:
    try:
        return load_text(path, after, inline)
    except ConfigError as error:
        # without line and column: they would be those of a text that nobody will ever see
        problems = (ConfigProblem(str(path), _NOTHING_WRITTEN(what=said.message), said.key) for said in error.problems)
        raise ConfigError(problems) from None


def _verify(path: FilePath, before: str, after: str, expected: dict[str, Any]) -> None:
    """Our reader and an independent one must both find exactly what was meant."""
    ours = parse(after).value
    theirs = _second_opinion(after)
    wanted_by_theirs = theirs if _second_opinion(before) is None else expected
    if not _same(ours, expected) or not _same(theirs, wanted_by_theirs):
        raise ConfigWriteError(_BY_HAND(path=path))


def _second_opinion(text: str) -> Any:
    import pyjson5  # noqa: PLC0415 (only writing needs it)

    with contextlib.suppress(pyjson5.Json5Exception):
        return pyjson5.decode(text, maxdepth=None)
    return None


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1 there."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _takes_away(before: str, after: str) -> bool:
    """Whether a character of `before` is missing in `after`."""
    rest = iter(after)
    return not all(char in rest for char in before)


def _keep(real: FilePath, text: str) -> FilePath:
    folder = real.parent / BACKUPS
    folder.mkdir(mode=0o700, exist_ok=True)
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()[:12]
    kept = [match for old in folder.iterdir() if (match := _BACKUP_NAME.fullmatch(old.name))]
    for match in kept:
        if match["digest"] == digest:
            return folder / match.group()
    number = 1 + max((int(match["number"]) for match in kept), default=0)
    backup = folder / f"{number:06d}-{digest}.jsonc"
    write_atomic(backup, data)
    return backup
