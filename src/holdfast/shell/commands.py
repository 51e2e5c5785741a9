"""The table of known programs: data under `table/`, which users extend by `shell.commands` in the config.

An entry says what the options and arguments of a program mean. Its keys are described in
docs/explanation/reading-commands.md; the important ones:

    ro      true: by itself the program only reads
    risk    safe, caution or dangerous (default: safe when ro, otherwise caution)
    why     half a sentence for the reason
    pos     what the arguments are, by position; the last role repeats: ["val", "read"]
    opts    options that take a value, and what the value is: {"-o": "write"}
    fx      effects of every run: ["network", "external_state:cloud"]
    sub     entries of subcommands, "a|b" for several names; default: for names not listed
    verbs   subcommands not listed are judged by their verb (list, get, delete ...); the value is the detail
    when    [condition, changes] pairs: ["-f|--force !--dry-run", {"risk": "dangerous"}]
    dry     options with which nothing happens: "-n|--dry-run"
    handler a reader in code, for languages that a table cannot describe (find, sed, awk, test)
"""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from holdfast.core.messages import Phrase, TellableError
from holdfast.shell.lazy import Lazy
from holdfast.shell.reading import EffectKind

Spec = Mapping[str, Any]

_VERSIONED = Lazy(r"(?P<name>[A-Za-z][A-Za-z+_]*(?:-[A-Za-z+]+)*)-?\d+(?:\.\d+)*\Z")
_WINDOWS = Lazy(r"(?P<name>.+)\.(?:exe|cmd|bat)\Z", re.IGNORECASE)
ROLES = frozenset(
    "val text read print write append delete rdelete shell argv envargv sql url host pkg script prog perm"
    " upload dir copy move link image remote cmdline uploadfile device touch mkdir rmdir setting plugin".split()
)
_KEYS = frozenset(
    "ro risk why pos opts fx sub default verbs when dry handler style destroys reads extends recursive"
    " target out flags unknown stop only".split()
)


# Only these the shell keeps to itself; `/usr/bin/echo` and `/bin/kill` are programs as well.
_BUILTINS = frozenset(
    "command builtin eval exec source alias unalias export declare typeset local readonly unset set shift trap read"
    " mapfile readarray cd pushd popd history fc enable hash type let return break continue exit wait jobs".split()
)


_SCRIPTS = frozenset(
    "script test install run build start stop setup deploy clean configure update upgrade backup restore"
    " dump init format watch at batch release check lint serve dev task launch server client main app demo"
    " example bootstrap".split()
)


class TableError(TellableError, ValueError):
    """An entry of `shell.commands` is wrong; the message names it and the next step."""


_NO_BASE = Phrase(
    "shell.no_base",
    "{place}.extends: {got} is not a program that is known; name one of the table, such as 'git', or an entry above "
    "this one",
    "{place}.extends：{got} 不是已知的程序；请写表中的一个，例如 'git'，或上方的一个条目",
)
_NO_TABLE = Phrase(
    "shell.no_table", "{place} must be a table of settings, got {got}", "{place} 须为设置表，实际为 {got}"
)
_NO_KEY = Phrase(
    "shell.no_key", "{place}: unknown key {key}; use one of {known}", "{place}：未知的键 {key}；可用：{known}"
)
_RISK = Phrase(
    "shell.risk",
    "{place}.risk must be safe, caution or dangerous, got {got}",
    "{place}.risk 须为 safe、caution 或 dangerous，实际为 {got}",
)
_BOOLEAN = Phrase(
    "shell.boolean", "{place} must be true or false, got {got}", "{place} 须为 true 或 false，实际为 {got}"
)
_SUB = Phrase(
    "shell.sub", "{place}.sub must be a table of subcommands, got {got}", "{place}.sub 须为子命令表，实际为 {got}"
)
_POS = Phrase(
    "shell.pos",
    "{place}.pos: {got} is not a list of roles; use {known}",
    "{place}.pos：{got} 不是角色列表；可用：{known}",
)
_OPTS = Phrase(
    "shell.opts", "{place}.opts must map options to roles, got {got}", "{place}.opts 须把选项对应到角色，实际为 {got}"
)
_HANDLER = Phrase(
    "shell.handler",
    "{place}.handler is reserved for programs that ship with Holdfast; use 'extends'",
    "{place}.handler 仅供 Holdfast 自带的程序使用；请用 'extends'",
)
_WHEN = Phrase(
    "shell.when",
    "{place}.when must hold [condition, changes] pairs, got {got}",
    "{place}.when 须由 [条件, 更改] 对组成，实际为 {got}",
)
_EFFECTS = Phrase(
    "shell.effects", "{place}.fx must be a list of effects, got {got}", "{place}.fx 须为效果列表，实际为 {got}"
)
_NO_EFFECT = Phrase(
    "shell.no_effect",
    "{place}.fx: {got} is no effect; use one of {known}, with ':' and a detail behind it",
    "{place}.fx：{got} 不是效果；可用：{known}，后面可加 ':' 和细节",
)
_CONDITION = Phrase(
    "shell.condition",
    "{place}: a condition is a text such as '-f|--force !--dry-run', got {got}",
    "{place}：条件是形如 '-f|--force !--dry-run' 的文本，实际为 {got}",
)
_BAD_CONDITION = Phrase(
    "shell.bad_condition",
    "{place}: the pattern in {got} is not right: {error}",
    "{place}：{got} 中的模式不正确：{error}",
)


class CommandTable:
    """Programs by name. Immutable: `extended` gives a new one."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, Spec]) -> None:
        self._entries = entries

    def find(self, name: str) -> Spec | None:
        entry = self._entries.get(name)
        if entry is not None:
            return entry
        match = _WINDOWS.match(name)
        if match is not None:
            return self.find(match["name"].lower())
        match = _VERSIONED.match(name)
        if match is not None:  # python3.11, gcc-12, ruby2.7
            entry = self._entries.get(match["name"])
            if entry is not None:
                return entry
        family, dot, _ = name.partition(".")
        return self._entries.get(family + ".*") if dot else None

    def canonical(self, name: str) -> str:
        """The name under which the program is known: `python` for `python3.11`."""
        if name in self._entries:
            return name
        match = _WINDOWS.match(name)
        if match is not None:
            return self.canonical(match["name"].lower())
        match = _VERSIONED.match(name)
        if match is not None and match["name"] in self._entries:
            return match["name"]
        return name

    def is_own(self, name: str) -> bool:
        """A file of that name is somebody's own: a command of the shell, or what people call their scripts."""
        return name in _BUILTINS or name in _SCRIPTS

    def names(self) -> Iterable[str]:
        return self._entries.keys()

    def extended(self, additions: Mapping[str, Any]) -> CommandTable:
        """This table with the user's entries on top; an entry with `extends` starts from that program."""
        entries: dict[str, Spec] = dict(self._entries)
        for names, spec in additions.items():
            check_entry(names, spec)
            if "extends" in spec and spec["extends"] not in entries:
                raise TableError(_NO_BASE(place=f"shell.commands.{names}", got=repr(spec["extends"])))
            for name in names.split("|"):
                base = entries.get(spec.get("extends", ""), {})
                entries[name.strip()] = {**base, **spec}
        return CommandTable(entries)


def check_entry(name: str, spec: object) -> None:
    place = f"shell.commands.{name}"
    if not isinstance(spec, Mapping):
        raise TableError(_NO_TABLE(place=place, got=repr(spec)))
    for key, value in spec.items():
        if key not in _KEYS:
            raise TableError(_NO_KEY(place=place, key=repr(key), known=", ".join(sorted(_KEYS))))
        if key == "risk" and value not in ("safe", "caution", "dangerous"):
            raise TableError(_RISK(place=place, got=repr(value)))
        if key in ("ro", "recursive", "stop", "only") and not isinstance(value, bool):
            raise TableError(_BOOLEAN(place=f"{place}.{key}", got=repr(value)))
        if key == "sub":
            if not isinstance(value, Mapping):
                raise TableError(_SUB(place=place, got=repr(value)))
            for sub, inner in value.items():
                check_entry(f"{name}.sub.{sub}", inner)
        if key == "default":
            check_entry(f"{name}.default", value)
        if key == "fx":
            _check_effects(place, value)
        if key == "pos":
            roles = [value] if isinstance(value, str) else value
            if not isinstance(roles, (list, tuple)) or not all(_is_role(role) for role in roles):
                raise TableError(_POS(place=place, got=repr(value), known=", ".join(sorted(ROLES))))
        if key == "opts" and not (isinstance(value, Mapping) and all(_is_role(role) for role in value.values())):
            raise TableError(_OPTS(place=place, got=repr(value)))
        if key == "handler":
            raise TableError(_HANDLER(place=place))
        if key == "when":
            for pair in value:
                if not (isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str)):
                    raise TableError(_WHEN(place=place, got=repr(pair)))
                _check_condition(f"{place}.when", pair[0])
                check_entry(f"{name}.when", pair[1])
        if key == "dry":
            _check_condition(f"{place}.dry", value)


def _check_effects(place: str, value: object) -> None:
    if not isinstance(value, (list, tuple)):
        raise TableError(_EFFECTS(place=place, got=repr(value)))
    for effect in value:
        if not isinstance(effect, str) or effect.partition(":")[0] not in get_args(EffectKind):
            known = ", ".join(get_args(EffectKind))
            raise TableError(_NO_EFFECT(place=place, got=repr(effect), known=known))


def _check_condition(place: str, condition: object) -> None:
    from holdfast.shell.options import Arguments, holds  # noqa: PLC0415 - only the entries of users are checked

    if not isinstance(condition, str):
        raise TableError(_CONDITION(place=place, got=repr(condition)))
    try:
        holds(condition, Arguments())
    except re.error as error:
        raise TableError(_BAD_CONDITION(place=place, got=repr(condition), error=error)) from None


def is_known_key(key: str) -> bool:
    return key in _KEYS


def _is_role(role: object) -> bool:
    return isinstance(role, str) and (role.lstrip("?") in ROLES or role.startswith("code:"))


_default: list[CommandTable] = []


def default_table() -> CommandTable:
    """The table that ships with Holdfast, built on first use."""
    if not _default:
        from holdfast.shell.table import ALL  # noqa: PLC0415 - the data is loaded on first use only

        entries: dict[str, Spec] = {}
        for family in ALL:
            for names, spec in family.items():
                for name in names.split("|"):
                    entries[name] = spec
        _default.append(CommandTable(entries))
    return _default[0]
