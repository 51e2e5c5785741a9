"""Which program a name means, and what runs when it is not in the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate

from holdfast.shell import environment as env
from holdfast.shell import paths
from holdfast.shell.call import MAX_DEPTH, Call
from holdfast.shell.commands import CommandTable, Spec
from holdfast.shell.entries import Entries
from holdfast.shell.expand import FROM_DECODER, FROM_NETWORK, FROM_SECRET, Field, Output, Scope
from holdfast.shell.lazy import Lazy
from holdfast.shell.reading import SimpleCommand
from holdfast.shell.record import Context, Record
from holdfast.shell.smuggle import HANDED_SHELL, HELD_SHELL, smuggled
from holdfast.shell.statements import destructive_statement
from holdfast.shell.syntax import TooComplex

_SAFE_WORD = Lazy(r"[\w@%+=:,./~^-]+\Z")
_SAFE_NAME = Lazy(r"[^\s'\"|&;<>()$`\\]+\Z")
_BIN = Lazy(r"(?:/(?:usr|opt|run)(?:/[\w.@+-]+)*)?/s?bin/[^/]+\Z|/nix/store/.*/bin/[^/]+\Z|/snap/bin/[^/]+\Z")
_UNKNOWN = Output(None)
_NO_HISTORY = {("HISTSIZE", "0"), ("HISTFILESIZE", "0"), ("HISTFILE", "/dev/null"), ("SAVEHIST", "0")}
# A name that is looked up, or a variable that is called like a program.
_LOOKED_UP = Lazy(r"(?:\$\(|`)\s*(?:which|command\s+-v|type\s+-[pP])\s+(?P<name>[\w./+-]+)")
_SPELT = Lazy(r"\$\{?(?P<name>[A-Za-z_][A-Za-z_0-9]*)\}?\Z")
_TYPED_ESCAPE = Lazy(r"""^\s*:?!\s*(?:exec\b\s*)?["']?(?:/\S*/)?(?:ba|z|k|da|c|tc|a)?sh\b""", re.MULTILINE)
_NEARLY_ASSIGNED = Lazy(r"[\w.-]*=")
# Options that say openly that a command follows.
_RUNNER = Lazy(
    r"(?:^|\s)(?:-c|-C|-x|-X|-a|--(?:command|run|prepare|setup|cleanup|conclude|preview|bind|exec|exec-batch|call|stdin-from-command"
    r"|password-command|on-\S+|filter))\Z|^(?:EDITOR|VISUAL|GIT_EDITOR|GIT_SSH_COMMAND|\w*ASKPASS|BORG_PASSCOMMAND|\w*PASSWORD_COMMAND|BROWSER)\Z"
)


MAX_WORDS = 10_000


class Caller(Entries):
    """The half of the walker that knows programs; the other half knows the grammar."""

    def __init__(self, table: CommandTable, record: Record) -> None:
        self.table = table
        self.record = record
        self.words = MAX_WORDS

    def run_fields(
        self,
        fields: list[Field],
        scope: Scope,
        stdin: Output,
        context: Context,
        environment: Mapping[str, Field] | None = None,
    ) -> Output:
        if context.depth > MAX_DEPTH:
            raise TooComplex("wrapped deeper than is followed")
        name_field = fields[0]
        for name, value in (environment or {}).items():
            self.environment_variable(name, value, scope, lasting=False)
        if name_field.dynamic or name_field.taint & (FROM_NETWORK | FROM_DECODER):
            return self.dynamic_name(fields, scope, context)
        text = name_field.text
        if text[:1] == "!" and re.match(r"!\s*(?:[A-Za-z/.~]|\Z)", text) and (len(text) > 1 or len(fields) > 1):
            self.record.finding("dangerous", "escape", program="an interactive program")
            return self.run_fields(
                [Field(text[1:].lstrip() or fields[1].text), *fields[2 if len(text) == 1 else 1 :]],
                scope,
                stdin,
                context.through("!"),  # in a script `!git` is a program of that name, no `git`
            )
        if text in scope.functions:
            output = self.call_function(text, fields[1:], scope, stdin, context)
            if not context.via:
                return output
            # `command rm` and `env rm` pass by a function of that name: what it hides is looked at as well
        spec, name = self.resolve(name_field, scope, context)
        command = self.command(name, fields, context)
        if environment:
            self.unlisted_variables(name, environment)
        if spec is None:
            return self.unknown_program(name, fields, scope, stdin, context, command)
        call = Call(name, spec, fields[1:], scope, stdin, context, command, environment=environment or {})
        if name == "truncate":  # a program and a statement have this name
            self.mistyped(fields, scope, stdin, context)
        self.typed_escape(call)
        self.eats_code(call)
        return self.shows_secret(call, self.apply(call))

    def typed_escape(self, call: Call) -> None:
        """`echo '!sh' | program`: what is typed into a program that has a prompt."""
        typed = call.stdin.text
        if not typed or "!" not in typed or call.spec.get("ro"):
            return
        takes_text = call.spec.get("handler") in ("echo", "cat", "tee", "shell", "sed", "awk", "interpreter")
        if not takes_text and _TYPED_ESCAPE.search(typed):
            self.record.finding("dangerous", "escape", program=call.name)

    def eats_code(self, call: Call) -> None:
        """`curl url | deno`: programs that run what comes in when they are given nothing else."""
        if call.name not in env.EATS_CODE or not call.stdin.taint & (FROM_NETWORK | FROM_DECODER):
            return
        if all(f.text.startswith("-") or f.text in ("run", "repl", "eval") for f in call.fields):
            self.record.finding("dangerous", "downloads_and_runs", target=f"... | {call.name}")

    def shows_secret(self, call: Call, output: Output) -> Output:
        """`gcloud auth print-access-token`: what it prints is worth as much as a key file."""
        from holdfast.shell.table import DISCLOSES  # noqa: PLC0415 - the data is loaded on first use only

        pattern = DISCLOSES.get(call.name)
        if pattern is None or re.search(pattern, call.command.text) is None:
            return output
        self.record.finding("caution", "shows_secret", target=call.command.text[:80])
        return Output(output.text, output.taint | FROM_SECRET)

    def command(self, name: str, fields: list[Field], context: Context) -> SimpleCommand:
        self.words -= len(fields)  # `sudo sudo sudo ...` is a command of its own at every depth
        if self.words < 0:
            raise TooComplex("more words than are followed")
        argv = tuple(f.text for f in fields)
        plain = fields[0].dynamic or _SAFE_NAME.match(name) is not None
        words = [
            name if plain else _quoted(name),  # `'git status'` is one strange name, not git
            *(f.text if f.dynamic or f.glob or _SAFE_WORD.match(f.text) else _quoted(f.text) for f in fields[1:]),
        ]
        dynamic = any(f.dynamic for f in fields)
        return SimpleCommand(name, argv, " ".join(words), context.span, context.via, dynamic)

    def resolve(self, name_field: Field, scope: Scope, context: Context) -> tuple[Spec | None, str]:
        text = name_field.text
        if name_field.glob and text not in ("[", "[["):
            return self.resolve_glob(text, scope)
        base = text.rsplit("/", 1)[-1] if "/" in text else text
        search = scope.variables.get("PATH")
        if isinstance(search, Field) and "/" not in text and not search.text.startswith(("$PATH", "${PATH}")):
            self.record.cannot_know(f"PATH was changed, so {base} may be another program")
        spec = self.table.find(base)
        if spec is None and base.lower() != base:
            spec = self.table.find(base.lower())
            if spec is not None:  # where the disk does not tell upper from lower case, `RM` is `rm`
                self.record.cannot_know(f"{base} is {base.lower()} on some machines")
                base = base.lower()
        if spec is not None:
            base = self.table.canonical(base)
        if "/" not in text:
            return spec, base
        if _BIN.match(paths.normalise(text)):
            return spec, base
        path = paths.absolute(text, scope.cwd, scope.home)
        if path in scope.files or scope.origins.get(path, 0) or spec is None or self.table.is_own(base):
            return None, base  # a file that is called `command` or `build` is just a file
        self.record.cannot_know(f"{text} is a file of its own, not the {base} of the system")
        return spec, base

    def resolve_glob(self, text: str, scope: Scope) -> tuple[Spec | None, str]:
        """`/b?n/r?`: a pattern where a name should be hides the name."""
        base = text.rsplit("/", 1)[-1]
        if not text.startswith("/") or not re.search(r"[A-Za-z]|\?\?", base):
            return None, base
        expression = re.compile(translate(base))
        for candidate in ("rm", "cat", "bash", "sh", "nc", "curl", *self.table.names()):
            if expression.fullmatch(candidate):
                self.record.finding("dangerous", "hides", how=f"{text} matches {candidate}")
                return self.table.find(candidate), candidate
        return None, base

    def dynamic_name(self, fields: list[Field], scope: Scope, context: Context) -> Output:
        first = fields[0]
        command = self.command(first.text, fields, context)
        self.record.commands.append(command)
        self.record.add("runs", first.text, command, certain=False)
        if first.taint & FROM_NETWORK:
            self.record.finding("dangerous", "downloads_and_runs", target=first.text)
        elif first.taint & FROM_DECODER:
            self.record.finding("dangerous", "decodes_and_runs")
        self.record.cannot_know(f"the command {first.text} is only known when it runs")
        words = {f.text for f in fields[1:]}
        if words & {"-rf", "-fr", "-Rf", "-fR"}:
            self.record.finding("dangerous", "hides", how=f"{first.text} is called with {' '.join(sorted(words))}")
        named = _LOOKED_UP.match(first.text) or _SPELT.match(first.text)
        name = named["name"].rsplit("/", 1)[-1] if named is not None else ""
        name = name if self.table.find(name) is not None else name.lower().removeprefix("which_").removesuffix("_bin")
        if named is not None and len(fields) > 1 and self.table.find(name) is not None:
            # `$(which python) -c ...`, `$PYTHON -c ...`: most likely it is what it says
            return self.run_fields([Field(name), *fields[1:]], scope, _UNKNOWN, context.through(first.text))
        return _UNKNOWN

    def unknown_program(
        self, name: str, fields: list[Field], scope: Scope, stdin: Output, context: Context, command: SimpleCommand
    ) -> Output:
        text = fields[0].text
        path = paths.absolute(text, scope.cwd, scope.home)
        self.record.commands.append(command)
        if "/" in text:
            return self.run_script(fields[0], scope, stdin, context, command, fields[1:])
        if "command_not_found_handle" in scope.functions and "command_not_found_handle" not in context.calls:
            self.call_function("command_not_found_handle", fields, scope, stdin, context)
        if text in ("$", "%", ">", "#") and len(fields) > 1:  # the prompt was copied with the command
            self.record.cannot_know(f"{text} stands before the command")
            return self.run_fields(fields[1:], scope, stdin, context.through(text))
        if text.startswith(("!", ":!")) and len(text) > 1:
            self.record.finding("dangerous", "escape", program="an interactive program")
        self.record.add("runs", path if "/" in text else name, command)
        self.record.cannot_know(f"{name} is not a program that is known")
        self.mistyped(fields, scope, stdin, context)
        smuggled(self.record, name, fields[1:], scope, positionals=True, unknown=True)
        self.guess_by_verb(name, fields[1:])
        return Output(None, stdin.taint)

    def mistyped(self, fields: list[Field], scope: Scope, stdin: Output, context: Context) -> None:
        """Text for another prompt, or an assignment that is none: what it was meant to do is said as well."""
        first = fields[0].text
        statement = destructive_statement(" ".join(f.text for f in fields))
        if statement:
            self.record.add("external_state", statement, None, "database", certain=False)
            self.record.finding("dangerous", "sql_destroys", statement=statement)
        if "=" in first and len(fields) > 1 and _NEARLY_ASSIGNED.match(first):
            self.run_fields(fields[1:], scope, stdin, context.through(first))

    def run_script(
        self,
        target: Field,
        scope: Scope,
        stdin: Output,
        context: Context,
        command: SimpleCommand | None,
        arguments: list[Field],
        language: str = "shell",
    ) -> Output:
        """A file is run: seen through when this script wrote it, unknown otherwise."""
        path = paths.absolute(target.text, scope.cwd, scope.home)
        taint = target.taint | scope.origins.get(path, 0)
        content = scope.files.get(path)
        self.record.add("runs", path, command, "script", target.certain)
        if context.escaped and not context.inline and not _RUNNER.search(context.via[-1]):
            # a pager, a compressor, a setting: whoever allows the program did not mean this one
            self.record.finding("dangerous", "escape", program=context.escaped)
        if taint & FROM_NETWORK:
            self.record.finding("dangerous", "downloads_and_runs", target=target.text)
        elif taint & FROM_DECODER:
            self.record.finding("dangerous", "decodes_and_runs")
        if content is not None:
            inner = context.through(target.text)
            if language == "shell":
                child = scope.copy()
                child.positional, child.positional_known = arguments, True
                return self.run_text(content, child, stdin, inner)
            return self.run_code(language, Field(content), scope, stdin, inner, command)
        self.guess_task(target.text, arguments)
        self.record.cannot_know(f"the file {target.text} is run and not read here")
        return Output(None, stdin.taint)

    def environment_variable(self, name: str, value: Field | list[Field], scope: Scope, lasting: bool) -> None:
        """Some variables are programs in disguise: PAGER, GIT_SSH_COMMAND, LD_PRELOAD, PROMPT_COMMAND."""
        if not isinstance(value, Field) or not value.text:
            return
        starts_shell = not lasting and name != "SHELL" and "sh" in value.text
        if starts_shell and (HANDED_SHELL.match(value.text) or (HELD_SHELL.search(value.text) and name in env.LOADERS)):
            self.record.finding("dangerous", "escape", program=name)
        if lasting and (name, value.text) in _NO_HISTORY:
            self.record.finding("dangerous", "hides", how="the history of commands is switched off")
        if name in env.LOADERS:
            self.record.cannot_know(f"{name} changes which code runs")
            if name in env.INJECTED:
                self.record.finding("dangerous", "hides", how=f"{name} loads {value.text} into the program")
        elif name in env.CODE:
            if name == "PROMPT_COMMAND" or not lasting:
                escaped = "" if lasting else name
                self.run_text(value.text, scope.copy(), _UNKNOWN, Context().through(name, escaped=escaped))
            if not env.is_usual(value.text):
                self.record.cannot_know(f"{name} names a program that is run")
        elif name in env.PROMPTS:
            if not value.dynamic and ("$(" in value.text or "`" in value.text):
                self.run_text(f'echo "{value.text}"', scope.copy(), _UNKNOWN, Context().through(name, escaped=name))
        elif lasting:
            moved = name == "PATH" and not value.text.startswith(("$PATH", "${PATH}", "/usr", "/bin", "/opt"))
            if env.belongs_to_tool(name) or moved:
                self.record.read_only = False
        elif name != "SHELL" and HELD_SHELL.search(
            scope.files.get(paths.absolute(value.text, scope.cwd, scope.home), "")
        ):
            self.record.finding("dangerous", "escape", program=name)
        elif name == "PATH":
            self.record.cannot_know("PATH is changed, so names may mean other programs")

    def unlisted_variables(self, program: str, environment: Mapping[str, Field]) -> None:
        """A variable that may change what the program does leaves nothing proven."""
        for name in environment:
            if not env.is_harmless(name) and name not in env.CODE and not env.ignores(program, name):
                self.record.read_only = False

    def socket_shell(self, fields: list[Field], stdin: Output, context: Context) -> None:
        name = fields[0].text.rsplit("/", 1)[-1]
        if name in ("bash", "sh", "zsh", "ksh", "dash", "exec", "fish"):
            self.record.finding("dangerous", "reverse_shell", target=name)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
