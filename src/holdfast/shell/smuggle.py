"""A shell handed to a program that has no business with one: `genie -c /bin/sh`, `dhclient -sf /bin/sh`.

That is how an allowed program is used to get past a rule. It holds for programs that no table knows, too:
by option, by environment variable, or by a file that the same script wrote.
"""

from __future__ import annotations

import re

from holdfast.shell.expand import Field, Scope
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import acts
from holdfast.shell.record import Record

_SHELL_PATH = r"(?:(?:\.\./)+|/)(?:usr/|local/)*bin/(?:env\s+)?(?:ba|da|z|k|c|tc|a|mk|fi|po|ya|rba)?sh"
HANDED_SHELL = Lazy(
    r"(?:--?[\w-]+[=,]|[\w.:-]+=)?[\s;!@'\"(|}%{\\]*(?:exec\s+|reset;\s*)?" + _SHELL_PATH + r"(?=\Z|[\s,;#)'\"&<>|}-])"
)
HELD_SHELL = Lazy(r"(?<!#!)(?<!#! )" + _SHELL_PATH + r"(?![\w./-])")
_CODE_LIKE = Lazy(r"[(){};|<>!\\=\"']")
_SHELL_CHOICE = frozenset(("-s", "--shell", "SHELL", "shell", "--default-shell", "default-shell", "--login-shell"))


def smuggled(
    record: Record, name: str, fields: list[Field], scope: Scope, positionals: bool, unknown: bool = False
) -> None:
    """A program that is not known to need a shell is given one, or a file that starts one."""
    before = ""
    for value in fields:
        text = value.text
        option = text.startswith("-") or before.startswith("-")
        chosen = text.startswith("SHELL=") or (
            not unknown and (before in _SHELL_CHOICE or text.partition("=")[0] in _SHELL_CHOICE)
        )
        if (positionals or option) and "sh" in text and not chosen:
            held = (unknown or _CODE_LIKE.search(text)) and HELD_SHELL.search(text)
            if held or HANDED_SHELL.match(text):
                record.finding("dangerous", "escape", program=name)
                return
        before = text
    if unknown and len(fields) == 1 and fields[0].text in ("shell", "sh"):
        record.finding("dangerous", "escape", program=name)  # `tool shell` opens one
    smuggled_by_file(record, name, fields, scope, unknown)


def smuggled_to_reader(record: Record, name: str, fields: list[Field], scope: Scope) -> None:
    """A program that only reads is told to run a shell: `dmsetup ls --exec /bin/sh`, but not `file -b /bin/sh`."""
    for before, value in zip([Field(""), *fields], fields, strict=False):
        option, equals, text = value.text.partition("=") if value.text.startswith("-") else ("", "", "")
        given = text if equals else value.text
        if acts(option if equals else before.text) and HANDED_SHELL.match(given):
            record.finding("dangerous", "escape", program=name)
            return
    smuggled_by_file(record, name, fields, scope, False)


def smuggled_by_file(record: Record, name: str, fields: list[Field], scope: Scope, unknown: bool) -> None:
    """The same script wrote a file that starts a shell, and the program is given that file."""
    if not scope.files:
        return
    given = " ".join(f.text for f in fields)
    for path, content in scope.files.items():
        if "sh" in content and HELD_SHELL.search(content) and (unknown or path in given):
            record.finding("dangerous", "escape", program=name)
            return


def names_shell(text: str) -> bool:
    """Code that bash cannot read, calling a shell: typed into some other program's prompt."""
    return _TYPED.search(text) is not None


# A shell, or a call that starts a process, in a language that is not bash; a socket whose input is run.
_TYPED = Lazy(
    r"[(\"'`]\s*" + _SHELL_PATH + r"\b|getRuntime\(\)\.exec\s*\(|\bos\.(?:system|execute|popen|exec\w*|spawn\w*)\s*\("
    r"|\bsubprocess\.\w+\s*\(|child_process|\bsocket\b[^;\n]*\b\d{2,5}\b.*\b(?:exec|eval)\b",
    re.DOTALL,
)
