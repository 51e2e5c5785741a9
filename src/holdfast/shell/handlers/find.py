"""find and fd: a walk through a tree that may run, write and delete."""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.expand import FROM_SECRET, Field, Output
from holdfast.shell.lazy import Lazy

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_WRITES = frozenset(("-fprint", "-fprint0", "-fls"))
_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
# Tests that narrow the result to something one could name.
_NARROW = frozenset(
    "-name -iname -path -ipath -wholename -regex -iregex -mtime -mmin -atime -amin -ctime -cmin -newer"
    " -size -empty -user -group -perm -inum -samefile -links -nouser -nogroup -lname -anewer -cnewer"
    " -newermt -uid -gid".split()
)
# Tests and actions that stand alone; every other one is followed by a value.
_ALONE = frozenset(
    "-print -print0 -ls -delete -prune -quit -empty -nouser -nogroup -readable -writable -executable -true -false -and"
    " -a -or -o -not -depth -d -mount -xdev -x -follow -daystart -noleaf -nowarn -warn -ignore_readdir_race"
    " -noignore_readdir_race".split()
)
_ALL_NAMES = Lazy(r"\*+(?:\.\*)?\Z")


def find(walker: Caller, call: Call) -> Output:
    # A dash pasted from a web page is meant as one; find itself would stop there.
    fields = [
        Field("-" + f.text[1:], f.dynamic, f.glob, f.taint) if f.text[:1] in "–—" and f.text else f for f in call.fields
    ]
    walker.note(call)
    starts: list[Field] = []
    index = 0
    while index < len(fields) and re.match(r"-[HLPDO]", fields[index].text) and fields[index].text not in ("-D",):
        index += 1
    while index < len(fields) and not fields[index].text.startswith(("-", "(", "!", ",")):
        if starts and fields[index].dynamic:  # a second name that nobody knows may as well be `-delete`
            walker.record.read_only = False
        starts.append(fields[index])
        index += 1
    if not starts:
        starts = [Field(".")]
    taint = 0
    for start in starts:
        walker.record.reads(start, call.scope, call.context, call.command)
        taint |= start.taint
    narrow = _is_narrow(fields[index:])
    for before, value in zip(fields[index:], fields[index + 1 :], strict=False):
        wanted = value.text.lstrip("*")
        if before.text in ("-name", "-iname", "-path", "-wholename") and len(wanted) > 3 and paths.is_secret(wanted):
            taint |= FROM_SECRET
    while index < len(fields):
        text = fields[index].text
        if fields[index].dynamic and not text.startswith("-"):
            walker.record.cannot_know(f"the test {text} of find is only known when it runs")
        index += 1
        if text == "-delete":
            for start in starts:
                _delete(walker, call, start, narrow)
        elif text in _WRITES and index < len(fields):
            walker.record.writes(fields[index], call.scope, call.context, call.command)
            index += 1
        elif text == "-fprintf" and index < len(fields):
            walker.record.writes(fields[index], call.scope, call.context, call.command)
            index += 2
        elif text == "-files0-from" and index < len(fields):
            walker.record.reads(fields[index], call.scope, call.context, call.command)
            walker.record.cannot_know("where find begins stands in a file")
            index += 1
        elif text in _RUNS:
            end = index
            while end < len(fields) and not (
                fields[end].text == ";" or (fields[end].text == "+" and fields[end - 1].text.endswith("{}"))
            ):
                end += 1
            _run(walker, call, fields[index:end], starts, narrow, text)
            index = end + 1
        elif text.startswith("-") and text not in _ALONE and _is_value(fields[index : index + 1]):
            index += 1
    return Output(None, taint)


def _is_value(following: list[Field]) -> bool:
    """What follows a test belongs to it, unless it is an action: a test may be one that nobody told us."""
    return bool(following) and following[0].text not in _RUNS | _WRITES | {"-delete", "-fprintf"}


def _is_narrow(tests: list[Field]) -> bool:
    texts = [f.text for f in tests]
    for position, text in enumerate(texts):
        if text in _NARROW and not (position and texts[position - 1] in ("!", "-not")):
            value = texts[position + 1] if position + 1 < len(texts) else ""
            if not (text in ("-name", "-iname", "-path") and _ALL_NAMES.match(value)):
                return True
    return False


def _delete(walker: Caller, call: Call, start: Field, narrow: bool) -> None:
    walker.record.deletes(start, call.scope, call.context, call.command, recursive=True, narrow=narrow, detail="find")


def _run(walker: Caller, call: Call, command: list[Field], starts: list[Field], narrow: bool, option: str) -> None:
    if not command:
        return
    context = call.context.through(f"find {option}")
    if len(command) == 1 and command[0].text.rsplit("/", 1)[-1] in ("sh", "bash", "zsh", "dash", "ksh"):
        walker.record.finding("dangerous", "escape", program="find")
    name = command[0].text.rsplit("/", 1)[-1]
    places = [paths.absolute(s.text, call.scope.cwd, call.scope.home) for s in starts]
    for start in starts[:4]:
        base = start.text.rstrip("/") or "/"
        below = "$found" if narrow or option.startswith("-ok") else "*"
        found = Field(f"{base.rstrip('/')}/{below}", dynamic=True, glob=True, taint=start.taint)
        replaced = []
        for value in command:
            if value.text == "{}":
                replaced.append(found)
            elif "{}" in value.text:
                in_code = name in ("sh", "bash", "zsh", "dash", "ksh", "perl", "python", "python3", "awk")
                filler = "$found" if in_code else found.text
                replaced.append(Field(value.text.replace("{}", filler), not in_code, taint=value.taint))
            else:
                replaced.append(value)
        if (
            name == "rm"
            and (narrow or option.startswith("-ok"))
            and not any(re.fullmatch(r"-\w*[rR]\w*|--recursive", f.text) for f in command)
        ):
            walker.record.commands.append(walker.command("rm", replaced, context))
            for target in places[:1]:
                walker.record.deletes(
                    Field(target, glob=True),
                    call.scope,
                    context,
                    walker.record.commands[-1],
                    narrow=True,
                    detail="find",
                )
            continue
        walker.run_fields(replaced, call.scope, Output(None), context)
