"""Shells and interpreters: where text becomes a program."""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.expand import FROM_DECODER, FROM_FILE, FROM_NETWORK, FROM_SECRET, FROM_SHELL, Field, Output
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import acts, split_arguments

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

# Options whose value is code that is loaded beside the program.
_LOADS = {
    "node": ("-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file"),
    "lua": ("-l",),
    "php": ("-d", "-c", "-z"),
    "perl": ("-I",),
    "ruby": ("-I",),
}
# Options by which the file is only looked at, not run.
_CHECKS = {
    "node": ("-c", "--check"),
    "perl": (),  # perl -c runs BEGIN blocks
    "ruby": ("-c",),
    "php": ("-l", "--syntax-check"),
}
_PHP_SETTING = Lazy(r"(?:display_errors|error_reporting|memory_limit|date\.timezone|xdebug\.mode=off)\b")
_SHELL_OPTIONS = {"-O": "val", "-o": "val", "+O": "val", "+o": "val", "--rcfile": "script", "--init-file": "script"}


def shell(walker: Caller, call: Call) -> Output:  # noqa: PLR0915 - one step after the other
    """`bash -c text`, `bash file`, `bash <<EOF`, `... | bash`, or an interactive shell."""
    code: Field | None = None
    rest = call.fields
    interactive = privileged = from_stdin = False
    while rest:
        text = rest[0].text
        if text == "--":
            rest = rest[1:]
            break
        if len(text) < 2 or text[0] not in "-+" or rest[0].dynamic:
            break
        name = rest[0].text.split("=", 1)[0]
        rest = rest[1:]
        if name in _SHELL_OPTIONS:
            if name in ("--rcfile", "--init-file") and rest:
                walker.run_script(rest[0], call.scope, Output(""), call.context, call.command, [])
            if "=" not in text:
                rest = rest[1:]
            continue
        if not text.startswith("--"):
            letters = text[1:]
            interactive = interactive or "i" in letters
            privileged = privileged or "p" in letters
            from_stdin = from_stdin or "s" in letters
            runs_again = any(re.fullmatch(r"\+[a-zA-Z]*n[a-zA-Z]*", f.text) for f in rest)  # `bash -n +n`
            if "n" in letters and text[0] == "-" and "c" not in letters and not runs_again:
                walker.note(call)
                for value in rest:
                    walker.record.reads(value, call.scope, call.context, call.command)
                return Output(None)
            if "o" in letters and rest:
                rest = rest[1:]
            if "c" in letters and rest:
                while rest and re.fullmatch(r"[-+][a-zA-Z]+", rest[0].text):
                    rest = rest[1:]
                if rest:
                    code, rest = rest[0], rest[1:]
                break
        elif text in ("--version", "--help"):
            walker.note(call)
            return Output(None)
    if privileged and call.name in ("bash", "sh", "dash", "ksh"):
        walker.record.finding("dangerous", "escalates", how=f"{call.name} -p keeps the rights of its owner")
    label = f"{call.name} -c" if code is not None else call.name
    inner = call.context.through(label)
    child = call.scope.copy()
    if code is not None:
        child.positional, child.positional_known = rest[1:], True
        walker.record.structured = True
        before = len(walker.record.commands)
        return _noted(walker, call, walker.run_string(code, child, call.stdin, inner), before)
    if rest and not from_stdin:
        walker.note(call)
        child.positional, child.positional_known = rest[1:], True
        return walker.run_script(rest[0], child, call.stdin, call.context, call.command, rest[1:])
    child.positional, child.positional_known = rest, True
    return _from_input(walker, call, child, interactive)


def _from_input(walker: Caller, call: Call, child: object, interactive: bool) -> Output:
    stdin = call.stdin
    walker.note(call)
    if stdin.taint & FROM_NETWORK:
        walker.record.finding("dangerous", "downloads_and_runs", target=f"... | {call.name}")
    elif stdin.taint & FROM_DECODER:
        walker.record.finding("dangerous", "decodes_and_runs")
    if stdin.text is not None and stdin.text.strip():
        walker.record.commands.pop()
        inner = call.context.through(call.name)
        return walker.run_text(stdin.text, child, Output(None), inner)  # type: ignore[arg-type]
    walker.record.read_only = False
    if stdin.taint:
        walker.record.cannot_know(f"{call.name} runs what it is given")
        walker.record.add("runs", call.name, call.command, "input", certain=False)
        return Output(None, FROM_SHELL)
    walker.record.add("runs", call.name, call.command, "interactive")
    walker.record.cannot_know(f"{call.name} is an interactive shell")
    context = call.context
    remote = bool(context.machine)
    if context.elevated and not remote:
        walker.record.finding("dangerous", "escalates", how=f"{context.via[-1]} opens a shell with more rights")
    elif context.escaped or context.inline:
        walker.record.finding("dangerous", "escape", program=context.escaped or context.via[-1])
    elif not remote and context.via != ("exec",):
        program = context.via[-1] if context.via else call.name
        walker.record.finding("dangerous", "escape", program=program)
    return Output(None, FROM_SHELL)


def _noted(walker: Caller, call: Call, output: Output, before: int) -> Output:
    """Text that runs no program (`eval a=1`) leaves the one that read it as what ran."""
    if len(walker.record.commands) == before:
        walker.note(call)
    return output


def evaluate(walker: Caller, call: Call) -> Output:
    fields = call.fields[1:] if call.fields and call.fields[0].text == "--" else call.fields
    text = " ".join(f.text for f in fields)
    taint = 0
    for value in fields:
        taint |= value.taint
    if not text.strip():
        walker.note(call)
        return Output("")
    before = len(walker.record.commands)
    joined = Field(text, any(f.dynamic for f in fields), taint=taint)
    walker.record.structured = True
    return _noted(walker, call, walker.run_string(joined, call.scope, call.stdin, call.context.through("eval")), before)


def source(walker: Caller, call: Call) -> Output:
    walker.note(call)
    if not call.fields:
        walker.record.cannot_know("what comes in is run")  # bash refuses it, fish runs its input
        return Output(None)
    target = call.fields[0]
    path = paths.absolute(target.text, call.scope.cwd, call.scope.home)
    if target.taint & FROM_NETWORK or call.scope.origins.get(path, 0) & FROM_NETWORK:
        walker.record.finding("dangerous", "downloads_and_runs", target=target.text)
    content = call.scope.files.get(path)
    if content is None and target.text in ("/dev/stdin", "-", "/dev/fd/0", "/proc/self/fd/0"):
        content = call.stdin.text
        if call.stdin.taint & FROM_NETWORK:
            walker.record.finding("dangerous", "downloads_and_runs", target=target.text)
    if content is not None:
        return walker.run_text(content, call.scope, call.stdin, call.context.through(f"source {target.text}"))
    walker.record.add("runs", path, call.command, "script", target.certain)
    walker.record.cannot_know(f"the file {target.text} is run and not read here")
    for name, value in call.scope.variables.items():  # it may set any of them anew
        if isinstance(value, Field) and not value.dynamic:
            call.scope.variables[name] = Field(f"${name}", dynamic=True, taint=value.taint)
    return Output(None)


def execute(walker: Caller, call: Call) -> Output:
    """`exec cmd` is the command; `exec > file` only redirects."""
    arguments = split_arguments(call.fields, {"-a": "val"}, stop_at_first=True)
    if any(name not in ("-a", "-c", "-l", "--") for name in arguments.flags):
        walker.record.cannot_know("bash refuses this option of exec")
    if not arguments.positionals:
        walker.note(call)
        return Output("")
    return walker.run_fields(
        arguments.positionals, call.scope, call.stdin, call.context.through("exec"), call.environment
    )


def interpreter(walker: Caller, call: Call) -> Output:  # noqa: PLR0915 - one step after the other
    """python, node, perl, ruby, php, lua ...: code in an option, in a file or on standard input."""
    spec = call.spec
    language: str = spec["target"]
    opts: dict[str, str] = spec.get("opts", {})
    own, rest = _own_options(call.fields) if language == "python" else (call.fields, [])
    arguments = split_arguments(own, opts, spec.get("style", ""), stop_at_first=True)
    arguments.positionals.extend(rest)
    call.arguments = arguments
    walker.note(call)
    by, scope, context = call.command, call.scope, call.context
    ran = False
    for name in (
        ("--version", "--help", "-V", "-h")
        + (("-v", "-i", "-m") if language == "php" else ())
        + (("-v",) if language in ("node", "php", "ruby", "lua") else ())
    ):
        if arguments.has(name) and len(call.fields) == 1:
            return Output(None)
    in_place = arguments.has("-i") and language in ("perl", "ruby")
    for name in arguments.flags:
        if name not in opts and acts(name):
            walker.record.cannot_know(f"the option {name} of {call.name} is not known")
    if language == "python" and arguments.has("-i"):
        walker.record.cannot_know(f"{call.name} goes on with what it is given")
    if language == "perl" and arguments.has("-d", "-D"):
        walker.record.cannot_know("perl runs a debugger")
    for loaded in arguments.values(*_LOADS.get(language, ())):
        if language != "php" or not _PHP_SETTING.match(loaded.text):
            walker.record.cannot_know(f"{loaded.text} is loaded into {call.name}")
    pieces = [v for name, role in opts.items() if role.startswith("code:") for v in arguments.values(name)]
    if language == "powershell" and [v.text for v in pieces] == ["-"]:
        pieces = []  # `-Command -`: what comes in is run
    if pieces:
        ran = True
        text = "\n".join(v.text for v in pieces)
        for loaded in arguments.values("-M", "-m") if language == "perl" else ():
            text = f"use {loaded.text.partition('=')[0]};\n{text}"
        for loaded in arguments.values("-r") if language == "ruby" else ():
            if loaded.text not in (
                "json",
                "csv",
                "date",
                "time",
                "set",
                "yaml",
                "erb",
                "digest",
                "pp",
                "fileutils",
                "base64",
            ):
                walker.record.cannot_know(f"the library {loaded.text} is loaded")
            text = f"require '{loaded.text}'\n{text}"
        taint = 0
        for value in pieces:
            taint |= value.taint
        code = Field(text, any(v.dynamic for v in pieces), taint=taint)
        flag = next(name for name, role in opts.items() if role.startswith("code:") and arguments.has(name))
        # The words after the code are its arguments; for perl -n and ruby -n they are files it reads.
        loops = any(f in arguments.flags for f in ("-n", "-p")) or "<>" in text
        reads_files = language in ("perl", "ruby") and loops
        for value in arguments.positionals:
            if reads_files and re.match(r"\s*[|>+]|.*[|]\s*\Z", value.text, re.DOTALL):
                # perl opens such a name as a command or for writing
                walker.record.finding("dangerous", "hides", how=f"{call.name} opens {value.text!r} as a command")
            if reads_files:
                call.taint |= walker.record.reads(value, scope, context, by)
                if in_place:
                    walker.record.writes(value, scope, context, by)
        spoken = opts[flag].removeprefix("code:")
        walker.run_code(spoken, code, scope, call.stdin, context.through(f"{call.name} {flag}"), by)
    module = arguments.value("-m") if opts.get("-m") == "module" else None
    if module is not None:
        ran = True
        _module(walker, call, module, arguments.positionals)
    if ran:
        return Output(None, call.taint | call.stdin.taint)
    if arguments.positionals and arguments.positionals[0].text != "-":
        target = arguments.positionals[0]
        if arguments.has(*_CHECKS.get(language, ())):
            walker.record.reads(target, scope, context, by)
            return Output(None)
        return walker.run_script(target, scope, call.stdin, context, by, arguments.positionals[1:], language)
    stdin = call.stdin
    if stdin.taint & FROM_NETWORK:
        walker.record.finding("dangerous", "downloads_and_runs", target=f"... | {call.name}")
    elif stdin.taint & FROM_DECODER:
        walker.record.finding("dangerous", "decodes_and_runs")
    if stdin.text is not None and stdin.text.strip():
        walker.run_code(language, Field(stdin.text), scope, Output(None), context.through(call.name), by)
        return Output(None)
    walker.record.read_only = False
    walker.record.add("runs", call.name, by, "interactive", certain=False)
    walker.record.cannot_know(f"{call.name} runs what it is given")
    unseen = context.elevated or context.escaped or (language == "powershell" and not context.machine)
    if stdin.taint & FROM_FILE == 0 and unseen:
        walker.record.finding("dangerous", "escape", program=context.via[-1] if context.via else call.name)
    return Output(None, stdin.taint & FROM_SECRET)


def _own_options(fields: list[Field]) -> tuple[list[Field], list[Field]]:
    """What follows `-m name` and `-c code` belongs to the module or the code, options too."""
    for index, value in enumerate(fields):
        if re.fullmatch(r"-[A-Za-z]*[mc]", value.text):
            return fields[: index + 2], fields[index + 2 :]
        if not value.text.startswith("-"):
            break
    return fields, []


_READING_MODULES = frozenset("json.tool tabnanny tokenize ast dis calendar this platform site sysconfig".split())


def _module(walker: Caller, call: Call, module: Field, rest: list[Field]) -> None:
    """`python -m name`: some modules are programs of their own, the rest is unknown."""
    spec = walker.table.find(f"python -m {module.text}")
    if spec is not None:
        fields = [Field(module.text), *rest]
        command = walker.command(module.text, fields, call.context.through(f"{call.name} -m"))
        inner = replace(call, name=module.text, spec=spec, fields=rest, command=command)
        walker.record.commands.pop()
        walker.apply(inner)
        return
    if any(acts(f.text.partition("=")[0]) for f in rest):
        walker.record.cannot_know(f"the module {module.text} is told to do more than read")
    if module.text in _READING_MODULES:
        for value in rest:
            if not value.text.startswith("-"):
                walker.record.reads(value, call.scope, call.context, call.command)
        if module.text == "json.tool" and len([f for f in rest if not f.text.startswith("-")]) > 1:
            walker.record.writes(rest[-1], call.scope, call.context, call.command)
        return
    known = walker.table.find(module.text)
    if known is not None and module.text not in ("http",):
        walker.record.commands.pop()
        walker.run_fields([Field(module.text), *rest], call.scope, call.stdin, call.context.through(f"{call.name} -m"))
        return
    walker.record.add("runs", module.text, call.command, "module")
    walker.record.cannot_know(f"the module {module.text} is run")
