"""Options and arguments of a program, told apart the way the program itself would."""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from holdfast.shell.expand import Field
from holdfast.shell.lazy import Lazy

_NUMBER = Lazy(r"-\d+\Z")


@dataclass(slots=True)
class Arguments:
    """`flags` holds every option with the values it was given (None for a bare one)."""

    flags: dict[str, list[Field | None]] = field(default_factory=dict)
    positionals: list[Field] = field(default_factory=list)
    separated: int = -1
    """How many positionals stood before `--`; -1 without one."""

    def add(self, name: str, value: Field | None) -> None:
        self.flags.setdefault(name, []).append(value)

    def has(self, *names: str) -> bool:
        return any(name in self.flags for name in names)

    def value(self, *names: str) -> Field | None:
        for name in names:
            for value in self.flags.get(name, ()):
                if value is not None:
                    return value
        return None

    def values(self, *names: str) -> list[Field]:
        return [value for name in names for value in self.flags.get(name, ()) if value is not None]


def split_arguments(
    fields: list[Field],
    takes_value: Mapping[str, str],
    style: str = "",
    stop_at_first: bool = False,
    known_longs: frozenset[str] = frozenset(),
) -> Arguments:
    """`takes_value` maps an option to the role of its value; a role beginning with `?` is optional (`-i[x]`).

    style "dash": long options with one dash (`-name x`); "bsd": the first word may be options without a dash.
    """
    result = Arguments()
    index, count = 0, len(fields)
    options_ended = False
    while index < count:
        current = fields[index]
        text = current.text
        index += 1
        if options_ended or len(text) < 2 or text[0] not in "-+" or (text[0] == "+" and style != "plus"):
            if style == "bsd" and index == 1 and text and not options_ended:
                index = _cluster(result, "-" + text, current, fields, index, takes_value)
                continue
            result.positionals.append(current)
            if stop_at_first:
                result.positionals.extend(fields[index:])
                break
            continue
        if text == "--":
            options_ended = True
            result.add("--", None)
            result.separated = len(result.positionals)
            if stop_at_first:
                result.positionals.extend(fields[index:])
                break
            continue
        if text.startswith("--") or style == "dash":
            name, equals, value = text.partition("=")
            if name not in takes_value and name not in known_longs and name.startswith("--"):
                name = _complete(name, known_longs)
            if equals:
                result.add(name, Field(value, current.dynamic, current.glob, current.taint))
            elif name in takes_value and not takes_value[name].startswith("?") and index < count:
                result.add(name, fields[index])
                index += 1
            else:
                result.add(name, None)
            continue
        index = _cluster(result, text, current, fields, index, takes_value)
    return result


def _cluster(
    result: Arguments, text: str, current: Field, fields: list[Field], index: int, takes_value: Mapping[str, str]
) -> int:
    if _NUMBER.match(text):
        result.add("-#", Field(text[1:]))
        return index
    at = 1
    while at < len(text):
        name = text[0] + text[at]
        at += 1
        role = takes_value.get(name)
        if role is None:
            result.add(name, None)
            continue
        rest = text[at:]
        if role == "?num":  # perl -l012ne: only digits belong to it
            digits = len(rest) - len(rest.lstrip("0123456789"))
            result.add(name, Field(rest[:digits]) if digits else None)
            at += digits
            continue
        if rest:
            result.add(name, Field(rest.removeprefix("="), current.dynamic, current.glob, current.taint))
        elif not role.startswith("?") and index < len(fields):
            result.add(name, fields[index])
            index += 1
        else:
            result.add(name, None)
        break
    return index


def _complete(name: str, known: frozenset[str]) -> str:
    """GNU programs accept `--recurs` for `--recursive`."""
    if len(name) < 3:
        return name
    matches = [long for long in known if long.startswith(name)]
    return matches[0] if len(matches) == 1 else name


# Words in the name of an option that say that the program does more than read.
_ACTS = frozenset(
    "ackrc add agent apply bind browser build bump bundle clear cmd command commit compile config convert copy"
    " create cursor daemon debug debugger decrypt define delete destroy diagnostic disable dotfile download dry dump"
    " edit editor enable encrypt engine erase eval exec execute export expr extract filter fix flush generate"
    " heapprof history hook hookdir hooks httpd import init inplace inspect install interactive kill kubeconfig"
    " lesskey link listen load loader log logfile macros migrate module move off on out outdir outfile outpath"
    " output outputdir overlay overwrite pager persist photo place plugin plugins post pre preload prof profile"
    " program provider proxycommand publish purge push python rcfile rebuild record redirect remove rename renderer"
    " repair report require reset restore rotate rsh run save script send serve server set setopt shell sign split"
    " ssh store tool toolexec trace uninstall update upgrade upload vacuum vettool viewer web wipe wrapper"
    " write".split()
)
# The same words in names that are known to be harmless in the programs that have them.
_SHOWS = Lazy(
    r"--?(?:no|without|skip|exclude|ignore|show|list|print|display|only|with|hide|max|min|sort|group|color|colour|word"
    r"|context|after|before|human|follow|full|all|quiet|silent|verbose|help|version|long|short|json|yaml|format|dry-run"
    r"|diff-filter|name|merge|first|include|output[-_]format|output-delimiter|output-duplicates|(?:raw|compact|color|ascii|join|pretty|plain|tab|null)-output|log-size|log-level|loglevel)(?:[-_=].*)?\Z"
    r"|--[\w-]+-(?:ids?|names?|arns?|pattern|status-filter)\Z|--(?:filter|interactive|expr|debug|trace|config-only|edit-distance|pre-context|post-context|link"
    r"|remove-empty|on|off|pre|profile|python-version|filter-platform|report-identical-files)\Z"
)
_WORDS = Lazy(r"[-_.]+")


def acts(option: str) -> bool:
    """An option by whose name the program writes, runs or changes something: `--log-file`, `--password-command`."""
    if len(option) < 4 or _SHOWS.match(option) is not None:
        return False
    return any(word in _ACTS for word in _WORDS.split(option.lower()))


# -- conditions of the table --------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _terms(condition: str) -> tuple[tuple[bool, str, tuple[str, ...], re.Pattern[str] | None], ...]:
    result: list[tuple[bool, str, tuple[str, ...], re.Pattern[str] | None]] = []
    for term in condition.split():
        negated = term.startswith("!")
        body = term[1:] if negated else term
        name, tilde, pattern = body.partition("~")
        if tilde:
            result.append((negated, "match", tuple(name.split("|")), re.compile(pattern, re.IGNORECASE)))
        elif re.fullmatch(r"n[<=>]\d+", body):
            result.append((negated, body[:2], (body[2:],), None))
        else:
            result.append((negated, "has", tuple(body.split("|")), None))
    return tuple(result)


def holds(condition: str, arguments: Arguments) -> bool:
    """`-r|-R -f !--dry-run -X~^DELETE$ arg~^s3: n>1`: all terms must hold."""
    for negated, kind, names, pattern in _terms(condition):
        if kind == "has":
            truth = any(name in arguments.flags and not _switched_off(arguments.flags[name]) for name in names)
        elif kind == "match":
            assert pattern is not None
            truth = any(pattern.search(f.text) for f in _candidates(names, arguments))
        else:
            count, wanted = len(arguments.positionals), int(names[0])
            truth = count < wanted if kind == "n<" else count > wanted if kind == "n>" else count == wanted
        if truth == negated:
            return False
    return True


def raw_matches(pattern: str, fields: list[Field]) -> bool:
    """An argument as it is written, option or not: for programs whose options follow no common form."""
    return any(re.search(pattern, f.text) is not None for f in fields)


def _switched_off(values: list[Field | None]) -> bool:
    """`--dry-run=none`, `--force=false`."""
    return all(value is not None and value.text.lower() in ("none", "false", "no") for value in values)


def _candidates(names: tuple[str, ...], arguments: Arguments) -> list[Field]:
    found: list[Field] = []
    for name in names:
        if name == "arg":
            found.extend(arguments.positionals)
        elif name == "arg0":
            found.extend(arguments.positionals[:1])
        elif name == "arg1":
            found.extend(arguments.positionals[1:2])
        elif name == "opt":
            found.extend(Field(flag) for flag in arguments.flags)
        else:
            found.extend(arguments.values(name))
    return found
