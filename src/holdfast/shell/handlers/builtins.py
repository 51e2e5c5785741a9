"""What the shell itself does: directories, variables, aliases, traps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.expand import Field, Output
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import split_arguments
from holdfast.shell.record import Record

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_ASSIGNMENT = Lazy(r"([A-Za-z_]\w*)(\+?)=(.*)\Z", re.DOTALL)
_NAME = Lazy(r"[A-Za-z_]\w*\Z")
_ARRAY = Lazy(r"\((.*)\)\Z", re.DOTALL)


def change_directory(walker: Caller, call: Call) -> Output:
    """`cd`, `pushd`, `popd`: later relative paths mean something else."""
    walker.note(call)
    scope = call.scope
    targets = [
        f for f in call.fields if not (f.text.startswith("-") and len(f.text) > 1) and not f.text.startswith("+")
    ]
    if call.name == "popd" or (targets and targets[0].text == "-"):
        scope.cwd, scope.cwd_certain = None, False
    elif not targets:
        if call.name == "cd":
            scope.cwd = scope.home if scope.home is not None else "~"
    elif targets[0].certain:
        scope.cwd = paths.absolute(targets[0].text, scope.cwd, scope.home)
    elif targets[0].dynamic:
        scope.cwd, scope.cwd_certain = paths.absolute(targets[0].text, scope.cwd, scope.home), False
    else:
        scope.cwd, scope.cwd_certain = None, False
    return Output("")


def declare(walker: Caller, call: Call) -> Output:
    """`export`, `declare`, `local`, `readonly`, `typeset`."""
    walker.note(call)
    scope = call.scope
    local = call.name == "local" or (bool(call.context.calls) and call.name in ("declare", "typeset"))
    letters = "".join(f.text[1:] for f in call.fields if re.match(r"-[A-Za-z]+\Z", f.text))
    names_another = any(re.match(r"-[A-Za-z]*n", f.text) for f in call.fields) and call.name != "export"
    for value in call.fields:
        match = _ASSIGNMENT.match(value.text)
        if local and "g" not in letters:
            name = match[1] if match is not None else value.text
            if _NAME.match(name):
                scope.hidden.setdefault(name, scope.variables.get(name))
                if match is None:
                    scope.variables[name] = Field("")
        if match is None:
            continue
        name, append, text = match.groups()
        if "l" in letters or "u" in letters:
            text = text.lower() if "l" in letters else text.upper()
        if names_another:  # `declare -n a=b`: `$a` is whatever `b` will be, and what is put into `a` goes into `b`
            walker.record.cannot_know(f"{name} is another name for a variable")
            call.scope.variables[name] = Field(f"${name}", dynamic=True)
            continue
        walker.environment_variable(name, Field(text, value.dynamic), call.scope, lasting=True)
        array = _ARRAY.match(text)
        if array is not None:
            call.scope.variables[name] = [Field(piece) for piece in array[1].split()]
            continue
        before = call.scope.variables.get(name)
        if append and isinstance(before, Field):
            text = before.text + text
        call.scope.variables[name] = Field(text, value.dynamic, taint=value.taint)
    if "-p" in {f.text for f in call.fields} or (not call.fields and call.name != "local"):
        return Output(None, 2)  # prints every variable, secrets with them
    return Output("")


def set_arguments(walker: Caller, call: Call) -> Output:
    """`set -- a b`, `shift`: what `$1` and `"$@"` mean from here on."""
    walker.note(call)
    scope = call.scope
    words = [f.text for f in call.fields]
    if call.name == "shift":
        scope.positional, scope.positional_known = [Field("$@", dynamic=True)], True
        return Output("")
    if words[:2] == ["+o", "history"]:
        walker.record.finding("dangerous", "hides", how="the history of commands is switched off")
    start = words.index("--") + 1 if "--" in words else None
    if start is None:
        start = next((i for i, word in enumerate(words) if not word.startswith(("-", "+"))), None)
    if start is not None:
        scope.positional, scope.positional_known = call.fields[start:], True
    return Output("")


def unset(walker: Caller, call: Call) -> Output:
    walker.note(call)
    for value in call.fields:
        if value.text == "HISTFILE":
            walker.record.finding("dangerous", "hides", how="the history of commands is switched off")
        call.scope.variables.pop(value.text, None)
        call.scope.functions.pop(value.text, None)
    return Output("")


def alias(walker: Caller, call: Call) -> Output:
    walker.note(call)
    for value in call.fields:
        name, equals, text = value.text.partition("=")
        if equals:
            call.scope.aliases[name] = text
            _look_ahead(walker, call, name, text)
    return Output(None)


def _look_ahead(walker: Caller, call: Call, name: str, text: str) -> None:
    """What an alias would do is not done yet; but a shell that goes on has a command that means something else."""
    kept, walker.record = walker.record, Record()
    try:
        walker.run_text(text, call.scope.copy(), Output(None), call.context.through(f"alias {name}"))
    finally:
        seen, walker.record = walker.record, kept
    worst = seen.worst()
    hidden = walker.table.find(name) is not None and not re.match(rf"\S*{re.escape(name)}(?:\s|\Z)", text)
    if worst is not None and worst[0] == "dangerous" and hidden:
        kept.finding("dangerous", "hides", how=f"{name} will mean {text!r}")
    if not seen.read_only:
        kept.read_only = False


def kill(walker: Caller, call: Call) -> Output:
    walker.note(call)
    words = [f.text for f in call.fields]
    if words[:1] in (["-l"], ["-L"], ["--list"], ["-0"]) or words[:2] == ["-s", "0"]:
        return Output(None)
    walker.record.read_only = False
    walker.record.finding("caution", "program", program="kill", why="it stops processes")
    targets = words[1:] if words and words[0].startswith("-") else words
    if any(w in ("-1", "1") for w in targets if w != "--") and words[:1] not in (["-n"], ["-s"]):
        walker.record.finding("dangerous", "program", program="kill", why="it stops every process or the first one")
    return Output(None)


def trap(walker: Caller, call: Call) -> Output:
    """The action of a trap is run sooner or later."""
    walker.note(call)
    words = [f for f in call.fields if f.text not in ("--", "-l", "-p")]
    if len(words) >= 2 and words[0].text not in ("-", ""):
        walker.run_string(words[0], call.scope.copy(), Output(None), call.context.through("trap"))
    return Output("")


def read(walker: Caller, call: Call) -> Output:
    """`read`, `mapfile`: variables take what comes in, which is known when the input is."""
    walker.note(call)
    takes = dict.fromkeys(("-d", "-i", "-n", "-N", "-p", "-t", "-u", "-a", "-C", "-c", "-O", "-s"), "val")
    if call.name == "read":
        takes.pop("-s")
    else:
        takes.pop("-t")
    arguments = split_arguments(call.fields, takes)
    callback = arguments.value("-C")
    if callback is not None:
        walker.run_string(callback, call.scope.copy(), Output(None), call.context.through(f"{call.name} -C"))
    names = [f.text for f in arguments.positionals] or ["REPLY"]
    array = arguments.value("-a")
    descriptor = arguments.value("-u")
    if descriptor is not None:
        path = f"/dev/fd/{descriptor.text}"
        call.stdin = Output(call.scope.files.get(path), call.scope.origins.get(path, 0))
    text = call.stdin.text
    line = text.split("\n", 1)[0] if text is not None else None
    if array is not None or call.name in ("mapfile", "readarray"):
        name = array.text if array is not None else names[0]
        pieces = (text or "").splitlines() if array is None else (line or "").split()
        if text is not None:
            call.scope.variables[name] = [Field(piece) for piece in pieces[:200]]
        else:
            call.scope.variables[name] = Field(f"${{{name}[@]}}", dynamic=True, taint=call.stdin.taint)
        return Output("")
    pieces = line.split(None, len(names) - 1) if line is not None else []
    for index, name in enumerate(names):
        if line is None:
            call.scope.variables[name] = Field(f"${name}", dynamic=True, taint=call.stdin.taint)
        else:
            call.scope.variables[name] = Field(pieces[index] if index < len(pieces) else "")
    return Output("")
