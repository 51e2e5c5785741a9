"""xargs and parallel: one command, run for each line that comes in."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from holdfast.shell.expand import FROM_DECODER, FROM_NETWORK, Field, Output
from holdfast.shell.options import split_arguments

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_XARGS = {
    "-I": "val", "-n": "val", "-P": "val", "-L": "val", "-d": "val", "-s": "val", "-a": "read", "-E": "val",
    "--max-args": "val", "--max-procs": "val", "--delimiter": "val", "--arg-file": "read", "--replace": "?val",
    "-i": "?val", "-J": "val", "-R": "val", "-S": "val", "--max-lines": "?val", "--max-chars": "val",
    "-e": "?val", "-l": "?val", "--eof": "?val", "--process-slot-var": "val",
}  # fmt: skip
_PARALLEL = {
    "-j": "val", "--jobs": "val", "-I": "val", "-n": "val", "-N": "val", "--colsep": "val", "-C": "val", "-a": "read",
    "--arg-file": "read", "--delay": "val", "--timeout": "val", "--retries": "val", "--joblog": "write", "-S": "val",
    "--sshlogin": "val", "--results": "write", "-d": "val", "--delimiter": "val", "-L": "val", "-X": "?val",
    "--max-args": "val", "--load": "val", "--memfree": "val", "--tmpdir": "val", "--halt": "val", "--workdir": "val",
}  # fmt: skip


def xargs(walker: Caller, call: Call) -> Output:
    arguments = split_arguments(call.fields, _XARGS, stop_at_first=True)
    for name in ("-a", "--arg-file"):
        for value in arguments.values(name):
            walker.record.reads(value, call.scope, call.context, call.command)
    command = arguments.positionals
    if not command:
        walker.note(call)
        return Output(call.stdin.text, call.stdin.taint)
    file = arguments.value("-a", "--arg-file")
    if file is not None:
        call.stdin = Output("" if file.text == "/dev/null" else call.scope.files.get(file.text))
    placeholder = arguments.value("-I", "-J", "--replace", "-i")
    mark = placeholder.text if placeholder is not None else "{}" if arguments.has("-i", "--replace") else ""
    given = _items(call.stdin, one_a_line=bool(mark))
    context = call.context.through("xargs")
    unknown = Field("$stdin", dynamic=True, taint=call.stdin.taint)
    inputs = given if given is not None else [unknown, unknown]  # two: the second may mean something else
    taint = call.stdin.taint
    name = command[0].text.rsplit("/", 1)[-1]
    last = next((f.text for f in reversed(command) if f.text != "--"), "")
    if len(command) >= 2 and last in ("-c", "-e", "-r", "-lc", "-ic", "-ec", "--eval") and _takes_code(walker, name):
        # `xargs bash -c` makes a program of every line
        if call.stdin.taint & (FROM_NETWORK | FROM_DECODER):
            walker.record.finding("dangerous", "downloads_and_runs", target="xargs")
        for item in inputs[:8] if given is not None else inputs[:1]:
            walker.run_fields([*command, item], call.scope, Output(None), context)
        return Output(None, taint)
    if mark:
        for item in inputs[:8] if given is not None else inputs[:1]:
            replaced = [_replace(value, mark, item, name) for value in command]
            walker.run_fields(replaced, call.scope, Output(None), context)
        return Output(None, taint)
    if name in ("sh", "bash", "zsh", "dash", "ksh") and len(command) == 1:
        if given is None:
            walker.record.cannot_know("xargs runs scripts that are not known")
        walker.run_fields([*command, *inputs], call.scope, Output(None), context)
        return Output(None, taint)
    walker.run_fields([*command, *inputs], call.scope, Output(None), context)
    return Output(None, taint)


def _takes_code(walker: Caller, name: str) -> bool:
    spec = walker.table.find(name)
    return spec is not None and spec.get("handler") in ("shell", "interpreter")


def _items(stdin: Output, one_a_line: bool) -> list[Field] | None:
    if stdin.text is None:
        return None
    if one_a_line:
        return [Field(line.strip()) for line in stdin.text.splitlines() if line.strip()][:64]
    try:
        return [Field(word) for word in shlex.split(stdin.text.replace("\0", "\n"))][:256]
    except ValueError:
        return [Field(word) for word in stdin.text.split()][:256]


def _replace(value: Field, mark: str, item: Field, name: str) -> Field:
    if mark not in value.text:
        return value
    if item.dynamic and value.text != mark:
        return Field(value.text.replace(mark, "$item"), False, taint=value.taint | item.taint)
    return Field(value.text.replace(mark, item.text), value.dynamic or item.dynamic, taint=value.taint | item.taint)


def parallel(walker: Caller, call: Call) -> Output:
    arguments = split_arguments(call.fields, _PARALLEL, stop_at_first=True)
    for name in ("--joblog", "--results"):
        for value in arguments.values(name):
            walker.record.writes(value, call.scope, call.context, call.command)
    if arguments.has("-S", "--sshlogin", "--slf", "--sshloginfile", "--record-env", "--embed", "--fifo", "--shebang"):
        walker.record.cannot_know("parallel runs on other machines or changes its own settings")
    words = arguments.positionals
    for position, value in enumerate(words):
        if value.text in (":::", "::::", ":::+", "::::+"):
            inputs = [f for f in words[position + 1 :] if f.text not in (":::", "::::", ":::+", "::::+")]
            words = words[:position]
            if value.text.startswith("::::"):
                for file in inputs:
                    walker.record.reads(file, call.scope, call.context, call.command)
                inputs = [Field("$line", dynamic=True)]
            break
    else:
        items = _items(call.stdin, one_a_line=True)
        inputs = items if items is not None else [Field("$line", dynamic=True, taint=call.stdin.taint)]
    context = call.context.through("parallel")
    if not words:  # every input is a command line of its own
        walker.note(call)
        for item in inputs[:8]:
            if item.dynamic:
                walker.record.cannot_know("parallel runs lines that are not known")
                if item.taint & FROM_NETWORK:
                    walker.record.finding("dangerous", "downloads_and_runs", target="parallel")
            else:
                walker.run_text(item.text, call.scope.copy(), Output(None), context)
        return Output(None)
    text = " ".join(w.text for w in words)
    for item in inputs[:8] or [Field("")]:
        shown = item.text if not item.dynamic else "$line"
        if re.search(r"\{[^{}\s]*\}", text):
            line = re.sub(r"\{[^{}\s]*\}", lambda _, shown=shown: shown, text)  # type: ignore[misc]
        else:
            line = f"{text} {shown}"
        walker.run_text(line, call.scope.copy(), Output(None), context)
        if any(w.text in ("-c", "-lc", "-e") for w in words) and _takes_code(walker, words[0].text.rsplit("/", 1)[-1]):
            # parallel joins the words and a shell reads them again, so the code falls apart. Whoever wrote it
            # meant the code as one word, and with -q it is
            filled = [Field(re.sub(r"\{[^{}\s]*\}", lambda _, shown=shown: shown, w.text)) for w in words]  # type: ignore[misc]
            if filled == words:
                filled.append(Field(shown))
            walker.run_fields(filled, call.scope.copy(), Output(None), context)
    return Output(None, call.stdin.taint)
