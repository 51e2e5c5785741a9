"""awk: programs that print, and may write files, run commands and open sockets."""

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
    "-f": "val", "--file": "val", "-v": "val", "--assign": "val", "-F": "val", "--field-separator": "val",
    "-e": "val", "--source": "val", "-E": "val", "--exec": "val", "-i": "val", "--include": "val", "-l": "val",
    "--load": "val", "-o": "?val", "-d": "?val", "-p": "?val", "-W": "val",
}  # fmt: skip
_TOKEN = Lazy(
    r'(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<comment>\#[^\n]*)|(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<space>\s+)'
    r"|(?P<op>>>|\|&|\|\||&&|[<>=!]=|!~|[-+*/%^]=|\+\+|--|.)",
    re.DOTALL,
)
_OPTIONS_THAT_ACT = frozenset(
    ("-o", "--pretty-print", "-p", "--profile", "-d", "--dump-variables", "-l", "--load", "-D", "--debug", "-W")
)
_BEFORE_REGEX = frozenset(["(", ",", "{", "}", ";", "!", "~", "&&", "||", "?", ":", "=", "==", "!=", "!~", "\n"]) | {
    "",
    "\n",
}
_WORDS_BEFORE_REGEX = frozenset(("print", "printf", "return", "in", "case"))

MAX_PROGRAM = 8192


def awk(walker: Caller, call: Call) -> Output:
    arguments = split_arguments(call.fields, _TAKES, stop_at_first=True)
    walker.note(call)
    record, scope, context, by = walker.record, call.scope, call.context, call.command
    names = list(arguments.positionals)
    programs = arguments.values("-e", "--source")
    in_place = any(v.text == "inplace" for v in arguments.values("-i", "--include"))
    if arguments.has("--help", "--version", "-V") and not names:
        return Output(None)
    for name in arguments.flags:
        if name in _OPTIONS_THAT_ACT or any(long.startswith(name) for long in _OPTIONS_THAT_ACT if len(name) > 4):
            record.cannot_know(f"the option {name} of {call.name} writes a file or loads code")
    files = arguments.values("-f", "--file", "-E", "--exec")
    for value in files:
        path_content = scope.files.get(value.text)
        record.reads(value, scope, context, by)
        if path_content is None:
            record.cannot_know(f"the awk program {value.text} is not read here")
        else:
            programs.append(Field(path_content))
    if not programs and not files and names:
        programs = [names.pop(0)]
    variables = {}
    for value in arguments.values("-v", "--assign"):
        key, _, text = value.text.partition("=")
        variables[key] = text
    for program in programs:
        read_awk_program(walker, call, program, variables)
    taint = call.stdin.taint if not names else 0
    for value in names:
        if re.match(r"[A-Za-z_]\w*=", value.text):
            continue
        taint |= record.reads(value, scope, context, by) | FROM_FILE
        if in_place:
            record.writes(value, scope, context, by, detail="in place")
    return Output(None, taint)


def read_awk_program(walker: Caller, call: Call, program: Field, variables: dict[str, str]) -> None:
    record, by = walker.record, call.command
    if program.dynamic and re.fullmatch(r"\$(?:\w+|\{\w+\}|\(.*\))", program.text):
        record.cannot_know(f"the awk program {program.text} is only known when it runs")
    if len(program.text) > MAX_PROGRAM:
        record.cannot_know("the awk program is longer than is followed")
        return
    for kind, text in awk_actions(program.text, variables):
        if kind == "writes":
            if text is None:
                record.add("writes", "a file named by the awk program", by, certain=False)
                record.finding("caution", "writes", target="a file named by the awk program")
            elif text.startswith("/inet"):
                record.add("network", text, by, "socket")
                record.finding("dangerous", "reverse_shell", target=text)
            elif text not in ("/dev/stderr", "/dev/stdout", "/dev/tty"):
                record.writes(Field(text, program.dynamic), call.scope, call.context, by)
        elif kind == "reads":
            if text is not None and text.startswith("/inet"):
                record.add("network", text, by, "socket")
                record.finding("dangerous", "reverse_shell", target=text)
            elif text is not None:
                record.reads(Field(text, program.dynamic), call.scope, call.context, by)
        elif text is None:
            record.add("runs", "a command built by the awk program", by, "awk", certain=False)
            record.cannot_know("the awk program runs a command that it builds")
        else:
            if text.endswith("$field"):  # what stands in the data is read by a shell
                record.cannot_know("the awk program makes commands of the data it reads")
            inner = call.context.through("awk", escaped="awk", inline=True)
            walker.run_string(Field(text), call.scope.copy(), Output(None), inner)


def awk_actions(program: str, variables: dict[str, str]) -> list[tuple[str, str | None]]:
    """What the program writes, reads and runs; None stands for a name it computes."""
    actions: list[tuple[str, str | None]] = []
    tokens = _tokens(program)
    printing = False  # between print and the end of its statement `>` is a redirect
    depth = 0
    count = len(tokens)
    for index, (kind, text) in enumerate(tokens):
        if kind == "string" and text.startswith('"/inet'):
            actions.append(("reads", text[1:-1]))
        if kind == "name":
            if text in ("print", "printf"):
                printing, depth = True, 0
            elif text == "system" and index + 1 < count and tokens[index + 1][1] == "(":
                actions.append(("runs", _constant(tokens, index + 2, variables)))
            elif text == "getline":
                if index + 1 < count and tokens[index + 1][1] == "<":
                    actions.append(("reads", _constant(tokens, index + 2, variables)))
                elif index + 2 < count and tokens[index + 2][1] == "<":
                    actions.append(("reads", _constant(tokens, index + 3, variables)))
        elif text in ("(", "["):
            depth += 1
        elif text in (")", "]"):
            depth -= 1
        elif text in (";", "}", "\n") and depth <= 0:
            printing = False
        elif text in (">", ">>") and printing and depth <= 0:
            actions.append(("writes", _constant(tokens, index + 1, variables)))
        elif text in ("|", "|&"):
            if index + 1 < count and tokens[index + 1][1] == "getline":
                actions.append(("runs", _constant_before(tokens, index - 1, variables)))
            else:
                actions.append(("runs", _constant(tokens, index + 1, variables)))
    return actions


def _tokens(program: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    at = 0
    previous = ""
    previous_kind = ""
    while at < len(program):
        if program[at] == "/" and (
            previous in _BEFORE_REGEX or (previous_kind == "name" and previous in _WORDS_BEFORE_REGEX)
        ):
            end = at + 1
            in_class = False
            while end < len(program) and program[end] != "\n":
                if program[end] == "\\":
                    end += 1
                elif program[end] == "[":
                    in_class = True
                elif program[end] == "]":
                    in_class = False
                elif program[end] == "/" and not in_class:
                    break
                end += 1
            tokens.append(("regex", program[at : end + 1]))
            previous, previous_kind = "/re/", "regex"
            at = end + 1
            continue
        match = _TOKEN.match(program, at)
        assert match is not None
        at = match.end()
        kind = match.lastgroup or "op"
        if kind == "comment":
            continue
        if kind == "space":
            if "\n" in match[0] and previous not in (",", "{", "&&", "||", "\\"):
                tokens.append(("op", "\n"))
                previous, previous_kind = "\n", "op"
            continue
        if match[0] == "\n":
            kind = "op"
        tokens.append((kind, match[0]))
        previous, previous_kind = match[0], kind
    return tokens


def _constant(tokens: list[tuple[str, str]], index: int, variables: dict[str, str]) -> str | None:
    """Neighbouring strings (awk joins them), as long as nothing else is among them."""
    pieces: list[str] = []
    depth = 0
    while index < len(tokens):
        kind, text = tokens[index]
        if kind == "string":
            pieces.append(re.sub(r'\\(["\\/])', r"\1", text[1:-1]).replace("\\n", "\n").replace("\\t", "\t"))
        elif kind == "name" and text in variables:
            pieces.append(variables[text])
        elif text == "(":
            depth += 1
        elif text in (")", ";", "}", "\n", "|", "|&"):
            if text == ")" and depth > 0:
                depth -= 1
                index += 1
                continue
            break
        elif kind in ("name", "number") or text == "$":
            joined = "".join(pieces)
            return joined + "$field" if joined.strip() else None
        else:
            return None
        index += 1
    return "".join(pieces) if pieces else None


def _constant_before(tokens: list[tuple[str, str]], index: int, variables: dict[str, str]) -> str | None:
    while index > 0 and tokens[index - 1][0] == "string":
        index -= 1
    return _constant(tokens[: index + 1], index, variables) if tokens and tokens[index][0] == "string" else None
