"""Editors: commands of theirs that leave the editor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell.expand import Field, Output
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import split_arguments

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_VIM_SHELL = Lazy(
    r"^:*\s*(?:silent!?\s+|sil!?\s+|exe(?:cute)?\s+[\"'])*(?:%|\d+,\d+|r(?:ead)?\s*|w(?:rite)?\s*)?!+\s*(?P<code>[^|\"']*)"
)


_VIM_LUA = Lazy(r":*\s*(?:py(?:thon)?3?x?|lua|ruby|perl|tcl|mzscheme)\b\s*(?P<code>.*)", re.DOTALL)


def vim(walker: Caller, call: Call) -> Output | None:
    """`vim -c ':!cmd'`: commands of the editor that leave it."""
    arguments = call.arguments = split_arguments(call.fields, call.spec["opts"], "plus")
    walker.note(call)
    walker.record.read_only = False
    commands = arguments.values("-c", "--cmd")
    commands += [Field(f.text[1:]) for f in call.fields if f.text.startswith("+") and len(f.text) > 1]
    context = call.context.through(call.name, escaped=call.name)
    for value in commands:
        editor_command(walker, call, value, context)
    for value in arguments.values("-S", "-s"):
        walker.run_script(value, call.scope, Output(None), call.context, call.command, [], "other")
    for value in arguments.values("-w", "-W"):
        walker.record.writes(value, call.scope, call.context, call.command)
    for value in arguments.positionals:
        if value.text in ("-",) or value.text.startswith("+"):
            continue
        if call.name in ("view", "rview"):
            walker.record.reads(value, call.scope, call.context, call.command, whole=True)
        else:
            walker.record.writes(value, call.scope, call.context, call.command, append=True, detail="edits")
    walker.record.finding("caution", "program", program=call.name, why="it opens an editor")
    return Output(None)


def editor_command(walker: Caller, call: Call, value: Field, context: object) -> None:
    text = value.text.strip()
    shell = _VIM_SHELL.match(text)
    lua = _VIM_LUA.match(text)
    if shell is not None:
        walker.run_string(Field(shell["code"].strip() or "sh"), call.scope.copy(), Output(None), context)  # type: ignore[arg-type]
        walker.record.finding("dangerous", "escape", program=call.name)
    elif (
        re.match(r":*\s*(?:sh(?:ell)?|term(?:inal)?|suspend|stop)\b", text)
        or "shell=" in text
        or re.search(r"\|\s*!|\bsystem\s*\(|termopen|jobstart", text)
    ):
        walker.record.finding("dangerous", "escape", program=call.name)
    elif lua is not None:
        language = "python" if text.lstrip(":").startswith("py") else "lua"
        walker.run_code(language, Field(lua["code"]), call.scope, Output(None), context, call.command)  # type: ignore[arg-type]
    elif re.match(r":*\s*(?:w(?:rite)?|sav(?:eas)?)!?\s+(?P<path>\S+)", text):
        match = re.match(r":*\s*(?:w(?:rite)?|sav(?:eas)?)!?\s+(?P<path>\S+)", text)
        assert match is not None
        walker.record.writes(Field(match["path"]), call.scope, call.context, call.command)
    elif re.match(r":*\s*(?:so(?:urce)?|luafile|pyfile)\s", text):
        walker.record.cannot_know("the editor runs a file of commands")


def ed(walker: Caller, call: Call) -> Output:
    walker.note(call)
    walker.record.read_only = False
    text = call.stdin.text
    for value in call.fields:
        if value.text.startswith("!"):
            walker.run_string(
                Field(value.text[1:]), call.scope.copy(), Output(None), call.context.through("ed", escaped="ed")
            )
        elif not value.text.startswith("-"):
            walker.record.writes(value, call.scope, call.context, call.command)
    if text is not None:
        for line in text.splitlines():
            if line.strip().startswith("!"):
                walker.run_string(
                    Field(line.strip()[1:]), call.scope.copy(), Output(None), call.context.through("ed", escaped="ed")
                )
    return Output(None)


def pager(walker: Caller, call: Call) -> Output | None:
    """`less '+!cmd' file`: what follows the plus is typed when the file is open."""
    context = call.context.through(call.name, escaped=call.name)
    for value in call.fields:
        typed = value.text.lstrip("+").lstrip()
        if not value.text.startswith("+") or not typed:
            continue
        if typed[0] in "!|#":
            walker.run_string(Field(typed[1:].strip() or "sh", value.dynamic), call.scope.copy(), Output(None), context)
            walker.record.finding("dangerous", "escape", program=call.name)
        elif typed[0] in "vsoO":  # the editor, or a log of what is shown
            walker.record.cannot_know(f"{call.name} is told to type {typed!r}")
    if call.name == "less" and any(f.text.startswith(("-k", "--lesskey")) for f in call.fields):
        walker.record.cannot_know("less takes its keys from a file or from the command line")
    return None
