"""Where a command reads from and where its output goes: files, here-documents, descriptors, sockets."""

from __future__ import annotations

from holdfast.shell import paths
from holdfast.shell.calls import Caller
from holdfast.shell.expand import (
    FROM_FILE,
    FROM_NETWORK,
    FROM_SECRET,
    FROM_TREE,
    MAX_FIELD_LENGTH,
    Expander,
    Field,
    Output,
    Scope,
)
from holdfast.shell.record import Context
from holdfast.shell.smuggle import HELD_SHELL
from holdfast.shell.syntax import Redirect

NOTHING = Output("")
UNSEEN = Output(None)
Sink = tuple[str, int]
"""(path, 1 append | 64 socket)"""


class Redirecting(Caller):
    expander: Expander

    def redirects(
        self, redirects: list[Redirect], scope: Scope, stdin: Output, context: Context
    ) -> tuple[Output, Sink | None]:
        """What the command reads from, and where its output goes."""
        sink: Sink | None = None
        for redirect in redirects:
            operator = redirect.operator
            target = self.expander.single(redirect.target, scope)
            number = self.descriptor(redirect.descriptor, scope)
            if redirect.heredoc or operator == "<<<":
                end = "" if redirect.heredoc else "\n"
                stdin = self.comes_in(Output(target.text + end, target.taint), number, scope, stdin)
                continue
            if operator in ("<&", ">&") and (target.text.rstrip("-").isdigit() or target.text == "-"):
                from_number = target.text.rstrip("-")
                if operator == "<&" and from_number not in ("", "0", "1", "2"):
                    path = f"/dev/fd/{from_number}"
                    given = Output(scope.files.get(path), scope.origins.get(path, 0))
                    stdin = self.comes_in(given, number, scope, stdin)
                elif operator == ">&" and from_number in scope.descriptors:
                    if number in ("", "1"):
                        sink = scope.descriptors[from_number]
                    else:
                        scope.descriptors[number] = scope.descriptors[from_number]
                continue
            if target.text == "-":  # only after & does it mean closing; here it is a file of that name
                target = Field("./-")
            if target.text.startswith(("/dev/tcp/", "/dev/udp/")):
                self.socket(target, operator, stdin)
                if operator == "<":
                    stdin = self.comes_in(Output(None, FROM_NETWORK), number, scope, stdin)
                elif number in ("", "1"):
                    sink = (target.text, 64)
                else:
                    scope.descriptors[number] = (target.text, 64)
                continue
            if operator == "<" and (target.text == "/dev/tty" or target.text in ("$(tty)", "`tty`")):
                stdin = UNSEEN
                continue
            if operator == "<":
                taint = self.record.reads(target, scope, context, None)
                path = paths.absolute(target.text, scope.cwd, scope.home)
                given = Output(scope.files.get(path), taint | target.taint | FROM_FILE | scope.origins.get(path, 0))
                stdin = self.comes_in(given, number, scope, stdin)
                continue
            append = operator in (">>", "&>>")
            self.record.writes(target, scope, context, None, append=append)
            if operator == "<>":
                self.record.reads(target, scope, context, None)
            path = paths.absolute(target.text, scope.cwd, scope.home)
            if number in ("", "1"):
                sink = (path, 1 if append else 0)
            elif number != "2":
                scope.descriptors[number] = (path, 1)
        return stdin, sink

    def descriptor(self, text: str, scope: Scope) -> str:
        """`3`, or the number that bash puts into the variable of `{name}`."""
        if not text.startswith("{"):
            return text
        number = str(10 + len(scope.variables))
        scope.variables[text[1:-1]] = Field(number)
        return number

    def comes_in(self, given: Output, number: str, scope: Scope, stdin: Output) -> Output:
        """Standard input, or what another descriptor will give when somebody reads it."""
        if number in ("", "0"):
            return given
        path = f"/dev/fd/{number}"
        scope.files.pop(path, None)
        if given.text is not None:
            scope.files[path] = given.text
        scope.origins[path] = given.taint
        return stdin

    def socket(self, target: Field, operator: str, stdin: Output) -> None:
        host = target.text.split("/", 3)[3]
        self.record.add("network", host, None, "socket", target.certain)
        self.record.read_only = False
        self.record.finding("caution", "network", target=host)
        if operator == "<>" or stdin.taint & (FROM_SECRET | FROM_FILE):
            self.record.finding("dangerous", "reverse_shell", target=host)

    def emptied(self, sink: Sink, context: Context) -> None:
        """`: > file`: nothing is written, what was there is gone. For a log or a setting that is destruction."""
        path, mode = sink
        if mode == 0 and not context.machine and (paths.is_system(path) or paths.is_secret(path)):
            self.record.finding("dangerous", "empties", target=path)

    def into(self, sink: Sink | None, output: Output, scope: Scope) -> Output:
        """Keep what is written to a file, so that running the file later is seen through."""
        if sink is None:
            return output
        path, mode = sink
        if mode & 64:
            if output.taint & (FROM_SECRET | FROM_TREE):
                self.record.finding("dangerous", "exfiltrates", source="secret data", target=path)
            return UNSEEN
        if paths.is_harmless_device(path):
            return output if path in ("/dev/stdout", "/dev/tty", "/dev/stderr") else NOTHING
        if output.text is None:
            scope.files.pop(path, None)
        elif mode & 1 and path not in scope.files:
            pass  # what stood in it before is not known
        else:
            before = scope.files.get(path, "") if mode & 1 else ""
            if len(before) + len(output.text) <= MAX_FIELD_LENGTH:
                scope.files[path] = before + output.text
        if output.text and "/." in path and "sh" in output.text and HELD_SHELL.search(output.text):
            self.record.finding("dangerous", "persists", target=path)  # settings of a program that start a shell
        scope.origins[path] = output.taint | (scope.origins.get(path, 0) if mode & 1 else 0)
        return Output("", 0)
