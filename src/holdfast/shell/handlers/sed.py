"""sed: an editor whose scripts can also write files (`w`) and run programs (`e`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell.expand import FROM_FILE, Field, Output
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import split_arguments

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_TAKES = {
    "-e": "val", "--expression": "val", "-f": "val", "--file": "val", "-l": "val", "--line-length": "val",
    "-i": "?val", "--in-place": "?val", "-I": "?val",
}  # fmt: skip
_FLAGS = Lazy(r"[gpiImM0-9eE]*")

MAX_SCRIPT = 8192


def sed(walker: Caller, call: Call) -> Output:
    arguments = split_arguments(call.fields, _TAKES)
    walker.note(call)
    record, scope, context, by = walker.record, call.scope, call.context, call.command
    names = list(arguments.positionals)
    scripts = arguments.values("-e", "--expression")
    if not scripts and not arguments.has("-f", "--file") and names:
        if arguments.has("-i") and names[0].text == "" and len(names) > 2:
            names.pop(0)  # BSD: -i '' takes an empty suffix
        scripts = [names.pop(0)]
    for value in arguments.values("-f", "--file"):
        record.reads(value, scope, context, by)
        record.cannot_know(f"the sed script {value.text} is not read here")
    for script in scripts:
        read_sed_script(walker, call, script)
    in_place = arguments.has("-i", "--in-place", "-I")
    taint = call.stdin.taint if not names else 0
    for value in names:
        taint |= record.reads(value, scope, context, by) | FROM_FILE
        if in_place:
            record.writes(value, scope, context, by, detail="in place")
    return Output(None, taint)


def read_sed_script(walker: Caller, call: Call, script: Field) -> None:
    if len(script.text) > MAX_SCRIPT:
        walker.record.cannot_know("the sed script is longer than is followed")
        return
    if script.dynamic and re.fullmatch(r"\$(?:\w+|\{\w+\}|\(.*\))", script.text):
        walker.record.cannot_know(f"the sed script {script.text} is only known when it runs")
        return
    for kind, text in sed_actions(script.text):
        if kind == "w":
            walker.record.writes(Field(text, script.dynamic), call.scope, call.context, call.command)
        elif kind == "r":
            walker.record.reads(Field(text, script.dynamic), call.scope, call.context, call.command)
        elif kind == "e":
            inner = call.context.through("sed e", escaped="sed")
            if text:
                walker.run_string(Field(text, script.dynamic), call.scope.copy(), Output(None), inner)
                walker.record.finding("caution", "runs", target=text)
                walker.record.read_only = False
            else:
                walker.record.add("runs", "the text it edits", call.command, "sed e", certain=False)
                walker.record.finding("dangerous", "hides", how="sed runs the text it edits as a command")
        elif kind == "?":
            walker.record.cannot_know(f"the sed script {script.text[:60]!r} is not understood")


def sed_actions(script: str) -> list[tuple[str, str]]:  # noqa: PLR0915 - one branch a command of sed
    """Every file written or read and every program run by the script: [("w", "out"), ("e", "date")]."""
    actions: list[tuple[str, str]] = []
    at, length = 0, len(script)
    while at < length:
        char = script[at]
        if char in " \t\n;{}!,+~0123456789$":
            at += 1
        elif char in "/\\":
            if char == "\\":
                at += 1
            delimiter = script[at : at + 1]
            at = _closing(script, at + 1, delimiter)
            while at < length and script[at] in "IM":
                at += 1
        elif char == "#":
            at = _line_end(script, at)
        elif char in "sy":
            delimiter = script[at + 1 : at + 2]
            if not delimiter:
                return [*actions, ("?", "")]
            at = _closing(script, at + 2, delimiter)
            begin = at
            at = _closing(script, at, delimiter)
            replacement = script[begin : at - 1]
            if char == "s":
                flags = _FLAGS.match(script, at)
                assert flags is not None
                at = flags.end()
                if "e" in flags[0].lower().replace("i", ""):
                    if "&" not in replacement and replacement:
                        actions.append(("e", re.sub(r"\\(.)", r"\1", replacement)))
                    actions.append(("e", ""))
                if script[at : at + 1] == "w":
                    end = _line_end(script, at)
                    actions.append(("w", script[at + 1 : end].strip()))
                    at = end
        elif char in "wWrR":
            end = _line_end(script, at)
            name = script[at + 1 : end].strip()
            if name:
                actions.append((char.lower(), name))
            at = end
        elif char == "e":
            end = _line_end(script, at)
            actions.append(("e", script[at + 1 : end].strip().rstrip(";}")))
            at = end
        elif char in "aic":
            at += 1
            while True:  # text, continued by a backslash at the line's end
                end = _line_end(script, at)
                if not script[at:end].endswith("\\"):
                    break
                at = end + 1
            at = end
        elif char in "btT:":
            while at < length and script[at] not in "\n;}":
                at += 1
        elif char in "pPdDgGhHxnNqQl=zvF":
            at += 1
        else:
            return [*actions, ("?", "")]
    return actions


def _closing(script: str, at: int, delimiter: str) -> int:
    """The end of a pattern: the delimiter inside `[...]` is an ordinary character."""
    while at < len(script):
        char = script[at]
        if char == "\\":
            at += 2
            continue
        if char == "[" and delimiter != "[":
            end = script.find("]", at + (3 if script.startswith("[^", at) else 2))
            if (
                end > 0
                and "\n" not in script[at:end]
                and (script.count(delimiter, at, end) < 2 or "[:" in script[at:end])
            ):
                at = end + 1
                continue
        if char == delimiter:
            return at + 1
        at += 1
    return len(script)


def _line_end(script: str, at: int) -> int:
    end = script.find("\n", at)
    return end if end >= 0 else len(script)
