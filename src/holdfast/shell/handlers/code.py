"""Inline programs: what the code in `python -c`, `node -e`, `perl -e` ... would do.

Python is read by its own grammar (python_code.py); the others by the calls that matter in them
(lexical.py). What is not understood is unknown, never safe.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.shell.expand import FROM_DECODER, FROM_NETWORK, Field, Output, Scope
from holdfast.shell.handlers.lexical import read_lexically
from holdfast.shell.handlers.python_code import read_python
from holdfast.shell.handlers.sql import destroying
from holdfast.shell.lazy import Lazy
from holdfast.shell.reading import SimpleCommand
from holdfast.shell.record import Context
from holdfast.shell.syntax import TooComplex

if TYPE_CHECKING:
    from holdfast.shell.calls import Caller


class CodeSink:
    """What a reader of inline code reports to."""

    def __init__(self, walker: Caller, scope: Scope, context: Context, command: SimpleCommand | None) -> None:
        self.walker = walker
        self.record = walker.record
        self.scope = scope
        self.context = replace(context, inline=True)
        self.command = command
        self.secret = False
        self.sends = False
        self.starts = False

    def reads(self, path: str | None, whole: bool = False) -> None:
        if path is None:
            self.record.add("reads", "a file named by the program", self.command, certain=False)
            return
        if self.record.reads(Field(path), self.scope, self.context, self.command, whole=whole):
            self.secret = True

    def writes(self, path: str | None, append: bool = False) -> None:
        if path is None:
            self.record.add("writes", "a file named by the program", self.command, certain=False)
            self.record.finding("caution", "writes", target="a file named by the program")
        else:
            self.record.writes(Field(path), self.scope, self.context, self.command, append=append)

    def deletes(self, path: str | None, recursive: bool) -> None:
        if path is None:
            self.record.add("deletes", "files named by the program", self.command, certain=False)
            risk = "dangerous" if recursive else "caution"
            self.record.finding(risk, "deletes_in_program", target="files named by the program")  # type: ignore[arg-type]
        else:
            self.record.deletes(Field(path), self.scope, self.context, self.command, recursive=recursive)

    def runs(self, code: str | list[str] | None) -> None:
        """A process is started: a shell text, an argument list, or something not known."""
        context = replace(self.context, escaped=self.context.via[-1] if self.context.via else "program")
        if code is None:
            self.starts = True
            self.record.add("runs", "a command built by the program", self.command, certain=False)
            self.record.cannot_know("the inline program starts a command that is not known")
        elif isinstance(code, list):
            if code:
                self.walker.run_fields([Field(c) for c in code], self.scope.copy(), Output(None), context)
        elif code.strip():
            self.walker.run_text(code, self.scope.copy(), Output(None), context)

    def network(self, target: str | None, sends: bool = False) -> None:
        self.record.add("network", target or "a host named by the program", self.command, "program", target is not None)
        self.record.read_only = False
        self.record.finding("caution", "network", target=target or "a host named by the program")
        self.sends = True

    def hides(self, how: str) -> None:
        self.record.finding("dangerous", "hides", how=how)

    def reverse_shell(self) -> None:
        self.record.finding("dangerous", "reverse_shell", target="a shell started by the program")

    def permissions(self, path: str | None) -> None:
        self.record.add("changes_permissions", path or "a file named by the program", self.command)
        self.record.finding("caution", "changes_permissions", target=path or "a file named by the program")

    def escalates(self, how: str) -> None:
        self.record.finding("dangerous", "escalates", how=how)

    def sql(self, statement: str) -> None:
        found = destroying(statement)
        if found:
            self.record.finding("dangerous", "sql_destroys", statement=found)

    def unknown(self, why: str) -> None:
        self.record.cannot_know(why)

    def finish(self) -> None:
        if self.starts and self.sends:  # it connects, and runs what it is told
            self.reverse_shell()
        if self.secret and self.sends:
            self.record.finding("dangerous", "exfiltrates", source="a secret file", target="the network")


# Something is decoded, and something is run: in one line of code the one is there for the other.
_DECODES = Lazy(
    r"b(?:16|32|64|85)decode|base64_decode|\batob\s*\(|decode_?64|decode_base64|fromhex|hex2bin|codecs\.decode|marshal\.loads"
    r"|pickle\.loads|gzinflate|str_rot13|zlib\.(?:decompress|inflate)|['\"]base64['\"]\s*\)|unpack\s*\(\s*['\"][mHh]"
)
_STARTS = Lazy(
    r"(?<![\w.])(?:exec|eval|system|passthru|shell_exec|assert|execfile|compile)\s*\(|os\.(?:system|popen|exec\w*|spawn\w*)\s*\("
    r"|subprocess\.\w+\s*\(|\bPopen\s*\(|(?:exec|execFile|spawn)(?:Sync)?\s*\(|new\s+Function\s*\(|child_process|IO\.popen|Kernel\.\w+"
)
_LOADS_LIBRARY = Lazy(
    r"(?:CDLL|LoadLibrary|PyDLL|dlopen|dl_load_file|loadlib|load_extension|enable_dl)\s*\(\s*[\"'](?:[^\"']*/[^\"']+|[^\"']+\.(?:so|dylib|dll))[\"']"
)
_DO_SHELL = Lazy(r'do\s+shell\s+script\s+"((?:[^"\\]|\\.)*)"|do\s+script\s+"((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_ASKS_PASSWORD = Lazy(r"hidden\s+answer", re.IGNORECASE)


def _applescript(text: str, sink: CodeSink) -> None:
    """AppleScript: the shell commands in it, and what it asks people for."""
    for found in _DO_SHELL.finditer(text[:16384]):
        sink.runs((found[1] or found[2] or "").replace('\\"', '"').replace("\\\\", "\\"))
    if "administrator privileges" in text:
        sink.escalates("a shell command with the rights of an administrator")
    if _ASKS_PASSWORD.search(text):
        sink.record.finding("dangerous", "escalates", how="it asks for a password in a window of its own")


def read_code(
    walker: Caller,
    language: str,
    code: Field,
    scope: Scope,
    stdin: Output,
    context: Context,
    command: SimpleCommand | None,
) -> Output:
    if len(context.via) > 20:
        raise TooComplex("wrapped deeper than is followed")
    if code.taint & FROM_NETWORK:
        walker.record.finding("dangerous", "downloads_and_runs", target=language)
    elif code.taint & FROM_DECODER:
        walker.record.finding("dangerous", "decodes_and_runs")
    if language == "shell":
        return walker.run_string(code, scope.copy(), stdin, context)
    sink = CodeSink(walker, scope, context, command)
    if language == "applescript":
        _applescript(code.text, sink)
    if _DECODES.search(code.text[:16384]) and _STARTS.search(code.text[:16384]):
        walker.record.finding("dangerous", "decodes_and_runs")
    if _LOADS_LIBRARY.search(code.text[:16384]):
        sink.hides("code of a library is loaded into the program")
    if language == "python":
        read_python(code.text, sink, code.dynamic)
    else:
        read_lexically(language, code.text, sink, code.dynamic)
    sink.finish()
    return Output(None, stdin.taint)
