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


class TableError(ValueError):
    """An entry of `shell.commands` is wrong; the message names it and the next step."""


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
                raise TableError(
                    f"shell.commands.{names}.extends: {spec['extends']!r} is not a program that is known; "
                    "name one of the table, such as 'git', or an entry above this one"
                )
            for name in names.split("|"):
                base = entries.get(spec.get("extends", ""), {})
                entries[name.strip()] = {**base, **spec}
        return CommandTable(entries)


def check_entry(name: str, spec: object) -> None:
    place = f"shell.commands.{name}"
    if not isinstance(spec, Mapping):
        raise TableError(f"{place} must be a table of settings, got {spec!r}")
    for key, value in spec.items():
        if key not in _KEYS:
            raise TableError(f"{place}: unknown key {key!r}; use one of {', '.join(sorted(_KEYS))}")
        if key == "risk" and value not in ("safe", "caution", "dangerous"):
            raise TableError(f"{place}.risk must be safe, caution or dangerous, got {value!r}")
        if key in ("ro", "recursive", "stop", "only") and not isinstance(value, bool):
            raise TableError(f"{place}.{key} must be true or false, got {value!r}")
        if key == "sub":
            if not isinstance(value, Mapping):
                raise TableError(f"{place}.sub must be a table of subcommands, got {value!r}")
            for sub, inner in value.items():
                check_entry(f"{name}.sub.{sub}", inner)
        if key == "default":
            check_entry(f"{name}.default", value)
        if key == "fx":
            _check_effects(place, value)
        if key == "pos":
            roles = [value] if isinstance(value, str) else value
            if not isinstance(roles, (list, tuple)) or not all(_is_role(role) for role in roles):
                raise TableError(f"{place}.pos: {value!r} is not a list of roles; use {', '.join(sorted(ROLES))}")
        if key == "opts" and not (isinstance(value, Mapping) and all(_is_role(role) for role in value.values())):
            raise TableError(f"{place}.opts must map options to roles, got {value!r}")
        if key == "handler":
            raise TableError(f"{place}.handler is reserved for programs that ship with Holdfast; use 'extends'")
        if key == "when":
            for pair in value:
                if not (isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str)):
                    raise TableError(f"{place}.when must hold [condition, changes] pairs, got {pair!r}")
                _check_condition(f"{place}.when", pair[0])
                check_entry(f"{name}.when", pair[1])
        if key == "dry":
            _check_condition(f"{place}.dry", value)


def _check_effects(place: str, value: object) -> None:
    if not isinstance(value, (list, tuple)):
        raise TableError(f"{place}.fx must be a list of effects, got {value!r}")
    for effect in value:
        if not isinstance(effect, str) or effect.partition(":")[0] not in get_args(EffectKind):
            known = ", ".join(get_args(EffectKind))
            raise TableError(
                f"{place}.fx: {effect!r} is no effect; use one of {known}, with ':' and a detail behind it"
            )


def _check_condition(place: str, condition: object) -> None:
    from holdfast.shell.options import Arguments, holds  # noqa: PLC0415 - only the entries of users are checked

    if not isinstance(condition, str):
        raise TableError(f"{place}: a condition is a text such as '-f|--force !--dry-run', got {condition!r}")
    try:
        holds(condition, Arguments())
    except re.error as error:
        raise TableError(f"{place}: the pattern in {condition!r} is not right: {error}") from None


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
