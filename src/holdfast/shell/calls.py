"""One program call: find it in the table, read its arguments, follow what it runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import Any

from holdfast.shell import paths
from holdfast.shell.commands import CommandTable, Spec
from holdfast.shell.expand import (
    FROM_DECODER,
    FROM_FILE,
    FROM_NETWORK,
    FROM_OUTPUT,
    FROM_SECRET,
    FROM_SHELL,
    Field,
    Output,
    Scope,
)
from holdfast.shell.options import Arguments, holds, split_arguments
from holdfast.shell.reading import RISK_ORDER, EffectKind, Risk, SimpleCommand
from holdfast.shell.record import Context, Record
from holdfast.shell.verbs import DESTROYS, READS, STRONG, verb_of

_SAFE_WORD = re.compile(r"[\w@%+=:,./~^-]+\Z")
_BIN = re.compile(r"(?:/(?:usr|opt|run)(?:/[\w.@+-]+)*)?/s?bin/[^/]+\Z|/nix/store/.*/bin/[^/]+\Z|/snap/bin/[^/]+\Z")
_UNKNOWN = Output(None)
_CODE_VARIABLES = frozenset(
    ["PAGER", "GIT_PAGER", "MANPAGER", "GIT_EDITOR", "EDITOR", "VISUAL", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_SEQUENCE_EDITOR", "GIT_PROXY_COMMAND", "LESSOPEN", "LESSCLOSE", "BROWSER", "SUDO_ASKPASS", "SSH_ASKPASS", "PROMPT_COMMAND", "PS4", "TAR_OPTIONS", "SYSTEMD_PAGER", "SYSTEMD_EDITOR", "FCEDIT", "KUBE_EDITOR", "PSQL_EDITOR", "DIFFPROG", "RSYNC_RSH", "CVS_RSH"]
)
_LOADER_VARIABLES = frozenset(
    ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "BASH_ENV", "ENV", "PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "GCONV_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_TEMPLATE_DIR", "GIT_EXEC_PATH", "SHELLOPTS", "BASHOPTS", "PYTHONWARNINGS"]
)
# A shell handed to a program that has no business with one: `genie -c /bin/sh`, `dhclient -sf /bin/sh`.
_SHELL_PATH = r"(?:(?:\.\./)+|/)(?:usr/|local/)*bin/(?:env\s+)?(?:ba|da|z|k|c|tc|a|mk|fi|po|ya|rba)?sh"
_HANDED_SHELL = re.compile(
    r"(?:--?[\w-]+[=,]|[\w.:-]+=)?[\s;!@'\"(|}%{\\]*(?:exec\s+|reset;\s*)?" + _SHELL_PATH + r"(?=\Z|[\s,;#)'\"&<>|}-])"
)
_HELD_SHELL = re.compile(r"(?<!#!)(?<!#! )" + _SHELL_PATH + r"(?![\w./-])")
_CODE_LIKE = re.compile(r"[(){};|<>!\\=\"']")
_SHELL_CHOICE = frozenset(("-s", "--shell", "SHELL", "shell", "--default-shell", "default-shell", "--login-shell"))
_OUTPUT_OPTION = re.compile(
    r"--?(?:out(?:put|file|dir|path|-)?|dump|write|save|exec|run$|command|cmd$|eval|listen|script|editor|pager|delete|remove"
    r"|fix$|in-?place|install|uninstall|edit$|log-?file|rsh|plugin|load|overwrite|replace|update|upload|send|apply|reset|clear|kill|purge)"
)
_USERS = frozenset(("useradd", "usermod", "adduser", "chsh", "git", "tmux", "mail", "logger", "notify-send"))
_ALWAYS_FINE = ("--help", "--version")


@dataclass(slots=True)
class Call:
    """What a handler or a role needs to know about the program that is being read."""

    name: str
    spec: Mapping[str, Any]
    fields: list[Field]
    scope: Scope
    stdin: Output
    context: Context
    command: SimpleCommand
    arguments: Arguments = field(default_factory=Arguments)
    taint: int = 0
    path: tuple[str, ...] = ()
    environment: Mapping[str, Field] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return " ".join((self.name, *self.path))


class Caller:
    """The half of the walker that knows programs; the other half knows the grammar."""

    def __init__(self, table: CommandTable, record: Record) -> None:
        self.table = table
        self.record = record

    # Given by the walker.
    def run_text(self, text: str, scope: Scope, stdin: Output, context: Context) -> Output:
        raise NotImplementedError

    def call_function(self, name: str, arguments: list[Field], scope: Scope, stdin: Output, context: Context) -> Output:
        raise NotImplementedError

    # -- entry --------------------------------------------------------------------------------------

    def run_fields(
        self,
        fields: list[Field],
        scope: Scope,
        stdin: Output,
        context: Context,
        environment: Mapping[str, Field] | None = None,
    ) -> Output:
        name_field = fields[0]
        for name, value in (environment or {}).items():
            self.environment_variable(name, value, scope, lasting=False)
        if name_field.dynamic or name_field.taint & (FROM_NETWORK | FROM_DECODER):
            return self.dynamic_name(fields, scope, context)
        text = name_field.text
        if text[:1] == "!" and (len(text) > 1 or len(fields) > 1):
            self.record.finding("dangerous", "escape", program="an interactive program")
            return self.run_fields([Field(text[1:].lstrip() or fields[1].text), *fields[2 if len(text) == 1 else 1 :]], scope, stdin, context)
        if text in scope.functions:
            return self.call_function(text, fields[1:], scope, stdin, context)
        spec, name = self.resolve(name_field, scope, context)
        command = self.command(name, fields, context)
        if spec is None:
            return self.unknown_program(name, fields, scope, stdin, context, command)
        call = Call(name, spec, fields[1:], scope, stdin, context, command, environment=environment or {})
        return self.apply(call)

    def command(self, name: str, fields: list[Field], context: Context) -> SimpleCommand:
        argv = tuple(f.text for f in fields)
        words = [
            name,
            *(f.text if f.dynamic or f.glob or _SAFE_WORD.match(f.text) else _quoted(f.text) for f in fields[1:]),
        ]
        dynamic = any(f.dynamic for f in fields)
        return SimpleCommand(name, argv, " ".join(words), context.span, context.via, dynamic)

    def note(self, call: Call) -> None:
        """The program itself runs (a wrapper with nothing to run, or no wrapper at all)."""
        self.record.commands.append(call.command)

    def resolve(self, name_field: Field, scope: Scope, context: Context) -> tuple[Spec | None, str]:
        text = name_field.text
        if name_field.glob and text not in ("[", "[["):
            return self.resolve_glob(text, scope)
        base = text.rsplit("/", 1)[-1] if "/" in text else text
        spec = self.table.find(base)
        if spec is not None:
            base = self.table.canonical(base)
        if "/" not in text:
            return spec, base
        if _BIN.match(paths.normalise(text)):
            return spec, base
        path = paths.absolute(text, scope.cwd, scope.home)
        if path in scope.files or scope.origins.get(path, 0) or spec is None:
            return None, base
        self.record.cannot_know(f"{text} is a file of its own, not the {base} of the system")
        return spec, base

    def resolve_glob(self, text: str, scope: Scope) -> tuple[Spec | None, str]:
        """`/b?n/r?`: a pattern where a name should be hides the name."""
        base = text.rsplit("/", 1)[-1]
        if not text.startswith("/") or not re.search(r"[A-Za-z]|\?\?", base):
            return None, base
        expression = re.compile(_glob_expression(base))
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
        return _UNKNOWN

    def unknown_program(
        self, name: str, fields: list[Field], scope: Scope, stdin: Output, context: Context, command: SimpleCommand
    ) -> Output:
        text = fields[0].text
        path = paths.absolute(text, scope.cwd, scope.home)
        self.record.commands.append(command)
        if "/" in text:
            return self.run_script(fields[0], scope, stdin, context, command, fields[1:])
        if text.startswith(("!", ":!")) and len(text) > 1:
            self.record.finding("dangerous", "escape", program="an interactive program")
        self.record.add("runs", path if "/" in text else name, command)
        self.record.cannot_know(f"{name} is not a program that is known")
        self.smuggled(name, fields[1:], scope, positionals=True, unknown=True)
        self.guess_by_verb(name, fields[1:])
        return Output(None, stdin.taint)

    def smuggled(
        self, name: str, fields: list[Field], scope: Scope, positionals: bool, unknown: bool = False
    ) -> None:
        """A program that is not known to need a shell is given one, or a file that starts one."""
        before = ""
        for value in fields:
            text = value.text
            option = text.startswith("-") or before.startswith("-")
            if (positionals or option) and "sh" in text and (
                _HANDED_SHELL.match(text)
                or ((unknown or _CODE_LIKE.search(text)) and _HELD_SHELL.search(text))
            ):
                if before not in _SHELL_CHOICE and text.partition("=")[0] not in _SHELL_CHOICE:
                    self.record.finding("dangerous", "escape", program=name)
                    return
            before = text
        if scope.files:
            given = " ".join(f.text for f in fields)
            for path, content in scope.files.items():
                if _HELD_SHELL.search(content) and (unknown or path in given):
                    self.record.finding("dangerous", "escape", program=name)
                    return

    def guess_by_verb(self, name: str, fields: list[Field]) -> None:
        """An unknown tool that says `delete` or `destroy` is believed."""
        words = [f.text for f in fields if not f.text.startswith("-")][:3]
        for word in words[:2]:
            if verb_of(word) in STRONG and not any(f.text in ("--help", "-h", "--dry-run", "-n") for f in fields):
                self.record.finding("dangerous", "program", program=name, why=f"{word!r} destroys something")
                return

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
        self.record.cannot_know(f"the file {target.text} is run and not read here")
        return Output(None, stdin.taint)

    def run_code(
        self, language: str, code: Field, scope: Scope, stdin: Output, context: Context, command: SimpleCommand | None
    ) -> Output:
        from holdfast.shell.handlers.code import read_code  # noqa: PLC0415 - most commands hold no program

        return read_code(self, language, code, scope, stdin, context, command)

    def environment_variable(self, name: str, value: Field | list[Field], scope: Scope, lasting: bool) -> None:
        """Some variables are programs in disguise: PAGER, GIT_SSH_COMMAND, LD_PRELOAD, PROMPT_COMMAND."""
        if not isinstance(value, Field):
            return
        if name in _LOADER_VARIABLES and value.text:
            self.record.cannot_know(f"{name} changes which code runs")
            if name in ("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GCONV_PATH"):
                self.record.finding("dangerous", "hides", how=f"{name} loads {value.text} into the program")
        elif name in _CODE_VARIABLES and value.text and not lasting:
            context = Context().through(name, escaped=name)
            self.run_text(value.text, scope.copy(), _UNKNOWN, context)
        elif name == "PROMPT_COMMAND" and lasting:
            self.run_text(value.text, scope.copy(), _UNKNOWN, Context().through(name))
        elif not lasting and name != "SHELL" and (
            _HANDED_SHELL.match(value.text)
            or _HELD_SHELL.search(scope.files.get(paths.absolute(value.text, scope.cwd, scope.home), ""))
        ):
            self.record.finding("dangerous", "escape", program=name)
        elif name == "PATH" and not lasting:
            self.record.cannot_know("PATH is changed, so names may mean other programs")

    def socket_shell(self, fields: list[Field], stdin: Output, context: Context) -> None:
        name = fields[0].text.rsplit("/", 1)[-1]
        if name in ("bash", "sh", "zsh", "ksh", "dash", "exec", "fish"):
            self.record.finding("dangerous", "reverse_shell", target=name)

    # -- table entries ------------------------------------------------------------------------------

    def apply(self, call: Call) -> Output:
        spec = call.spec
        handler = spec.get("handler")
        if handler is not None:
            from holdfast.shell.handlers import HANDLERS  # noqa: PLC0415 - they need the walker's types

            result: Output | None = HANDLERS[handler](self, call)
            if result is not None:
                return result
            spec = call.spec
        if "sub" in spec or "verbs" in spec:
            return self.apply_subcommand(call)
        return self.apply_leaf(call)

    def apply_subcommand(self, call: Call) -> Output:
        spec = call.spec
        call.arguments = split_arguments(call.fields, spec.get("opts", {}), spec.get("style", ""), True)
        if len(call.arguments.positionals) < len(call.fields):
            self.smuggled(call.label, call.fields, call.scope, positionals=False)
        self.option_roles(call)
        positionals = call.arguments.positionals
        if not positionals:
            if "default" in spec and "verbs" not in spec:
                call.spec = {**spec["default"], "handler": None}
                return self.apply_leaf(call)
            self.note(call)
            if not (call.fields == [] or call.arguments.has("--help", "-h", "--version", "-v", "-V", "version")):
                self.unlisted(call, "")
            elif not spec.get("ro", True):
                self.base(call, spec)
            return _UNKNOWN
        word = positionals[0].text
        if positionals[0].dynamic:
            self.note(call)
            self.record.cannot_know(f"the subcommand {word} of {call.label} is only known when it runs")
            return _UNKNOWN
        sub = find_sub(spec.get("sub", {}), word)
        call.path = (*call.path, word)
        outer_flags = call.arguments.flags
        call.fields = positionals[1:]
        if sub is None:
            if "verbs" in spec:
                return self.by_verb(call, spec, word)
            sub = spec.get("default")
            if sub is None:
                self.note(call)
                self.unlisted(call, word)
                return _UNKNOWN
            call.fields = positionals if sub.get("target") == "keep" else positionals[1:]
        inherited = {
            key: spec[key] for key in ("verbs", "destroys", "reads", "style") if key in spec and key not in sub
        }
        if "sub" not in sub:
            inherited.pop("verbs", None)
        call.spec = {**inherited, **sub}
        if outer_flags and "dry" in spec and holds(spec["dry"], Arguments(outer_flags)):
            call.spec = {"ro": True}
        if outer_flags:
            call.environment = {**call.environment}
        return self.apply(call)

    def by_verb(self, call: Call, spec: Spec, word: str) -> Output:
        """`noun verb` or `verb noun`, as cloud tools are built: the first verb that is known decides."""
        words = [word, *(f.text for f in call.fields if not f.text.startswith("-"))][:4]
        self.note(call)
        detail = spec["verbs"]
        extra_destroys: str = spec.get("destroys", "")
        extra_reads: str = spec.get("reads", "")
        if any(f.text in ("--help", "-h", "help", "--dry-run", "--dryrun", "--dry-run=client") for f in call.fields):
            return _UNKNOWN
        for position, candidate in enumerate(words):
            verb = verb_of(candidate)
            full = " ".join((call.name, *call.path[:-1], *words[: position + 1]))
            if candidate in extra_destroys.split() or (verb in DESTROYS and verb not in extra_reads.split()):
                self.record.add("external_state", " ".join(words[position + 1 :]), call.command, detail)
                self.record.finding("dangerous", "program", program=full, why=f"it destroys {detail} state")
                return _UNKNOWN
            if verb in READS or candidate in extra_reads.split():
                self.record.add("network", call.name, call.command, detail)
                call.taint |= FROM_NETWORK
                self.file_options(call)
                return Output(None, call.stdin.taint)
        self.smuggled(call.name, call.fields, call.scope, positionals=detail not in ("container", "virtual machine"))
        self.record.add("external_state", " ".join(words), call.command, detail)
        self.record.finding("caution", "external_state", detail=detail)
        self.file_options(call)
        return _UNKNOWN

    def file_options(self, call: Call) -> None:
        for previous, current in zip(call.fields, call.fields[1:], strict=False):
            if previous.text in ("--output-file", "--outfile", "--out-file", "--output-path"):
                self.record.writes(current, call.scope, call.context, call.command)

    def unlisted(self, call: Call, word: str) -> None:
        self.record.cannot_know(f"{word or 'this use'} of {call.name} is not known")
        self.record.add("runs", call.label, call.command)
        self.smuggled(call.name, call.fields, call.scope, positionals=True, unknown=True)
        self.guess_by_verb(call.name, [Field(word), *call.fields])

    def apply_leaf(self, call: Call) -> Output:
        spec = call.spec
        conditions = spec.get("when", ())
        pos = spec.get("pos", "val")
        roles = (pos,) if isinstance(pos, str) else pos
        stops = spec.get("stop", roles[-1] in ("argv", "envargv", "cmdline", "remote"))
        call.arguments = split_arguments(call.fields, spec.get("opts", {}), spec.get("style", ""), stops, _longs(spec))
        arguments = call.arguments
        if arguments.has(*_ALWAYS_FINE) and not arguments.positionals:
            self.note(call)
            return _UNKNOWN
        if "dry" in spec and holds(spec["dry"], arguments):
            self.note(call)
            self.read_roles(call, roles)
            return Output(None, call.taint)
        if conditions:
            merged: dict[str, Any] = dict(spec)
            for condition, changes in conditions:
                if holds(condition, arguments):
                    before: Risk = merged.get("risk", "safe")
                    merged.update(changes)
                    if changes.get("only"):
                        break
                    if "risk" in changes and RISK_ORDER[before] > RISK_ORDER[changes["risk"]] and not changes.get("ro"):
                        merged["risk"] = before
            spec = call.spec = merged
            pos = spec.get("pos", "val")
            roles = (pos,) if isinstance(pos, str) else pos
        if spec.get("ro"):
            declared = spec.get("opts", {})
            for option in arguments.flags:
                if len(option) > 2 and option not in declared and _OUTPUT_OPTION.match(option) and conditions == ():
                    self.record.cannot_know(f"the option {option} of {call.label} is not known")
        elif roles[-1] not in ("argv", "envargv", "cmdline", "remote"):
            about_text = roles[0] in ("text", "val") and not spec.get("fx", ("",))[:1] == ["git_history:commit"]
            runs_project = bool(spec.get("unknown")) or any(e.startswith("installs") for e in spec.get("fx", ()))
            self.smuggled(
                call.label, call.fields, call.scope, positionals=about_text and call.name not in _USERS, unknown=runs_project
            )
        runs_inner = roles[-1] in ("argv", "envargv", "cmdline", "remote") and len(arguments.positionals) >= len(roles)
        if not runs_inner:
            self.note(call)
        self.base(call, spec)
        self.option_roles(call)
        output = self.position_roles(call, roles)
        if call.taint & FROM_SECRET and spec.get("out") is None and self.sends(call):
            self.exfiltration(call)
        if output is not None:
            return output
        out = spec.get("out", "")
        if out:
            call.taint |= {"secret": FROM_SECRET, "network": FROM_NETWORK, "decoded": FROM_DECODER}.get(out, 0)
        return Output(None, call.taint | FROM_OUTPUT * 0)

    def base(self, call: Call, spec: Spec) -> None:
        """Risk and effects that every run of the entry has."""
        if not spec.get("ro", False):
            self.record.read_only = False
        risk: Risk = spec.get("risk", "safe")
        if risk != "safe":
            why = spec.get("why")
            if why is not None:
                self.record.finding(risk, "program", program=call.label, why=why)
        target = call.arguments.positionals[0].text if call.arguments.positionals else ""
        for effect in spec.get("fx", ()):
            kind, _, detail = effect.partition(":")
            self.effect(call, kind, detail, target)
        if spec.get("unknown"):
            self.record.cannot_know(str(spec["unknown"]))
            self.record.add("runs", call.label, call.command, "project")
        if risk != "safe" and spec.get("why") is None:
            self.record.finding(risk, "program", program=call.label, why="it changes something")

    def effect(self, call: Call, kind: EffectKind | str, detail: str, target: str) -> None:
        if kind == "writes":
            self.record.writes(Field(detail or "."), call.scope, call.context, call.command, detail="inside")
            return
        if kind == "network":
            asks_only = call.spec.get("ro", False)
            self.record.add("network", target or call.label, call.command, detail)
            if not asks_only:
                self.record.read_only = False
                self.record.finding("caution", "network", target=target or call.label)
            if call.stdin.taint & FROM_SHELL and not asks_only:
                self.record.finding("dangerous", "reverse_shell", target=call.label)
            if (call.stdin.taint & FROM_SECRET) and not asks_only:
                self.exfiltration(call)
            return
        self.record.add(kind, target or call.label, call.command, detail)  # type: ignore[arg-type]
        params = {"target": target or call.label, "detail": detail or call.label}
        self.record.finding("caution", kind, **params)

    def sends(self, call: Call) -> bool:
        return any(effect.startswith("network") for effect in call.spec.get("fx", ())) and not call.spec.get("ro")

    def exfiltration(self, call: Call) -> None:
        self.record.finding("dangerous", "exfiltrates", source="secret data", target=call.label)

    # -- roles --------------------------------------------------------------------------------------

    def option_roles(self, call: Call) -> None:
        opts = call.spec.get("opts")
        if not opts:
            return
        for name, values in call.arguments.flags.items():
            role = opts.get(name)
            if role is None or role in ("val", "?val", "text"):
                continue
            for value in values:
                if value is not None:
                    self.role(role.lstrip("?"), value, call, option=name)

    def read_roles(self, call: Call, roles: tuple[str, ...] | list[str]) -> None:
        for index, value in enumerate(call.arguments.positionals):
            role = roles[min(index, len(roles) - 1)]
            if role in ("read", "print", "copy", "move", "dir"):
                call.taint |= self.record.reads(value, call.scope, call.context, call.command)

    def position_roles(self, call: Call, roles: tuple[str, ...] | list[str]) -> Output | None:
        positionals = call.arguments.positionals
        first = roles[0]
        if first in ("copy", "move", "link"):
            from holdfast.shell.handlers.files import transfer  # noqa: PLC0415

            transfer(self, call, first)
            return None
        for index, value in enumerate(positionals):
            role = roles[min(index, len(roles) - 1)]
            if role in ("argv", "envargv", "cmdline", "remote"):
                return self.inner(call, role, positionals[index:], positionals[:index])
            if role != "val":
                self.role(role, value, call)
            call.taint |= value.taint
        if call.spec.get("ro") or "read" in roles or "print" in roles:
            reads_stdin = not positionals or any(p.text == "-" for p in positionals)
            if reads_stdin or first not in ("read", "print"):
                call.taint |= call.stdin.taint
        return None

    def inner(self, call: Call, role: str, fields: list[Field], before: list[Field]) -> Output:
        """A wrapper: what follows is what really runs."""
        label = call.label
        context = call.context.through(label)
        if call.spec.get("flags") == "elevated":
            context = changed(context, elevated=True)
        elif call.spec.get("flags") == "container":
            context = changed(context, machine="container")
            call.scope = call.scope.copy()
            call.scope.cwd = None
        if role == "envargv":
            environment: dict[str, Field] = {}
            while fields and re.match(r"[A-Za-z_]\w*=", fields[0].text):
                name, _, value = fields[0].text.partition("=")
                environment[name] = Field(value, fields[0].dynamic, taint=fields[0].taint)
                fields = fields[1:]
            if not fields:
                self.note(call)
                return Output(None, FROM_SECRET)
            return self.run_fields(fields, call.scope, call.stdin, context, environment)
        if role in ("cmdline", "remote"):
            if role == "remote":
                context = changed(context, machine=f"ssh:{before[-1].text if before else ''}")
                call.scope = call.scope.copy()
                call.scope.cwd, call.scope.home = None, None
            text = " ".join(f.text for f in fields)
            if any(f.taint & FROM_NETWORK for f in fields):
                self.record.finding("dangerous", "downloads_and_runs", target=text)
            return self.run_text(text, call.scope.copy(), call.stdin, context)
        return self.run_fields(fields, call.scope, call.stdin, context, call.environment)

    def role(self, role: str, value: Field, call: Call, option: str = "") -> None:
        record, scope, context, by = self.record, call.scope, call.context, call.command
        match role:
            case "read" | "dir":
                call.taint |= record.reads(value, scope, context, by) | FROM_FILE
                call.taint |= scope.origins.get(paths.absolute(value.text, scope.cwd, scope.home), 0)
            case "print":
                call.taint |= record.reads(value, scope, context, by, whole=True) | FROM_FILE
                call.taint |= scope.origins.get(paths.absolute(value.text, scope.cwd, scope.home), 0)
            case "write" | "append":
                record.writes(value, scope, context, by, append=role == "append")
                if any(e.startswith("network") for e in call.spec.get("fx", ())):
                    scope.origins[paths.absolute(value.text, scope.cwd, scope.home)] = FROM_NETWORK
            case "touch":
                record.writes(value, scope, context, by, append=True, detail="attributes")
            case "mkdir":
                record.writes(value, scope, context, by, append=True, detail="directory")
            case "rmdir":
                record.deletes(value, scope, context, by, narrow=True, detail="empty directory")
            case "delete" | "rdelete":
                recursive = role == "rdelete" or bool(call.spec.get("recursive"))
                record.deletes(value, scope, context, by, recursive=recursive)
            case "perm":
                self.permission(value, call)
            case "shell" | "prog":
                inner = context.through(f"{call.label} {option}".strip(), escaped=call.label if option else "")
                self.run_string(value, scope, call.stdin, inner)
            case "url" | "host":
                self.network(value, call)
            case "pkg":
                record.add("installs", value.text, by, "package", value.certain)
            case "script":
                self.run_script(value, scope, call.stdin, context, by, [])
            case "upload":
                self.upload(value, call)
            case "uploadfile":
                self.upload(Field("@" + value.text, value.dynamic, value.glob, value.taint), call)
            case "device":
                self.device(value, call)
            case "aptoption":
                self.apt_option(value, call)
            case "nmap":
                if "/" in value.text or value.text.endswith(".nse"):
                    self.run_script(value, scope, call.stdin, context, by, [], "lua")
            case "sql":
                from holdfast.shell.handlers.sql import read_sql  # noqa: PLC0415

                read_sql(self, value, call)
            case "image":
                record.add("runs", value.text, by, "image")
            case _:
                if role.startswith("code:"):
                    self.run_code(
                        role[5:], value, scope, call.stdin, context.through(f"{call.label} {option}".strip()), by
                    )

    def run_string(self, value: Field, scope: Scope, stdin: Output, context: Context) -> Output:
        """A string that a shell will read."""
        if value.taint & FROM_NETWORK:
            self.record.finding("dangerous", "downloads_and_runs", target=value.text)
        elif value.taint & FROM_DECODER:
            self.record.finding("dangerous", "decodes_and_runs")
        return self.run_text(value.text, scope, stdin, context)

    def network(self, value: Field, call: Call) -> None:
        self.record.add("network", value.text, call.command, certain=value.certain)
        if value.taint & FROM_SECRET:
            self.record.finding("dangerous", "exfiltrates", source="secret data", target=call.label)
        if value.dynamic and value.taint & FROM_OUTPUT and call.spec.get("ro"):
            self.record.read_only = False

    def upload(self, value: Field, call: Call) -> None:
        text = value.text
        if "@" in text and not text.startswith("@"):
            text = text.partition("@")[2] if "=@" in text else ""
        text = text.removeprefix("@")
        if value.taint & FROM_SECRET or (text in ("-", "") and value.text != text and call.stdin.taint & FROM_SECRET):
            self.exfiltration(call)
        if not text or text == "-" or (value.text == text and call.spec.get("target") == "at"):
            return
        target = Field(text.split(";")[0], value.dynamic, value.glob)
        if self.record.reads(target, call.scope, call.context, call.command) & FROM_SECRET:
            self.record.finding("dangerous", "exfiltrates", source=text, target=call.label)

    def device(self, value: Field, call: Call) -> None:
        self.record.add("reads" if call.spec.get("ro") else "writes", value.text, call.command, "device", value.certain)

    def apt_option(self, value: Field, call: Call) -> None:
        """`apt -o APT::Update::Pre-Invoke::=/bin/sh`: settings of apt may hold commands."""
        key, _, text = value.text.partition("=")
        if "invoke" in key.lower() or key.lower().startswith("dpkg::options") or "pager" in key.lower():
            context = call.context.through(f"{call.label} -o", escaped=call.name)
            self.run_string(Field(text, value.dynamic), call.scope.copy(), Output(None), context)
            if "invoke" in key.lower():
                self.record.finding("dangerous", "escape", program=call.name)

    def permission(self, value: Field, call: Call) -> None:
        path, certain = self.record.locate(value, call.scope, call.context)
        self.record.add("changes_permissions", path, call.command, certain=certain)
        self.record.finding("caution", "changes_permissions", target=path)
        bare = paths.absolute(value.text, call.scope.cwd, call.scope.home)
        recursive = call.arguments.has("-R", "--recursive", "-r")
        system_root = re.fullmatch(r"/(?:bin|boot|dev|etc|home|lib\w*|proc|root|run|sbin|sys|usr|var)?(?:/\*)?", bare)
        if (recursive and system_root) or bare == "/" or re.match(r"/etc/(?:shadow|passwd|sudoers)", bare):
            self.record.finding("dangerous", "opens_to_all", target=value.text)


def names_shell(text: str) -> bool:
    """Code that bash cannot read, calling a shell: typed into some other program's prompt."""
    return re.search(r"[(\"'`]\s*" + _SHELL_PATH + r"\b", text) is not None


def find_sub(subs: Mapping[str, Any], word: str) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = subs.get(word)
    if found is not None:
        return found
    for names, spec in subs.items():
        if "|" in names and word in names.split("|"):
            return spec  # type: ignore[no-any-return]
    return None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _glob_expression(glob: str) -> str:
    from fnmatch import translate  # noqa: PLC0415

    return translate(glob)


_LONGS: dict[int, frozenset[str]] = {}


def _longs(spec: Spec) -> frozenset[str]:
    """Every long option that the entry speaks of: only those need to be recognised when abbreviated."""
    key = id(spec)
    found = _LONGS.get(key)
    if found is None:
        text = " ".join(pair[0] for pair in spec.get("when", ())) + " " + spec.get("dry", "")
        names = set(re.findall(r"--[\w-]+", text)) | {n for n in spec.get("opts", {}) if n.startswith("--")}
        found = _LONGS[key] = frozenset(names)
    return found
