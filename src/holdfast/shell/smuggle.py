"""A shell handed to a program that has no business with one: `genie -c /bin/sh`, `dhclient -sf /bin/sh`.

That is how an allowed program is used to get past a rule. It holds for programs that no table knows, too:
by option, by environment variable, or by a file that the same script wrote.
"""

from __future__ import annotations

import re

from holdfast.shell.expand import Field, Scope
from holdfast.shell.lazy import Lazy
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
        if (
            (
                (positionals or option)
                and "sh" in text
                and (HANDED_SHELL.match(text) or ((unknown or _CODE_LIKE.search(text)) and HELD_SHELL.search(text)))
            )
            and before not in _SHELL_CHOICE
            and text.partition("=")[0] not in _SHELL_CHOICE
        ):
            record.finding("dangerous", "escape", program=name)
            return
        before = text
    if scope.files:
        given = " ".join(f.text for f in fields)
        for path, content in scope.files.items():
            if HELD_SHELL.search(content) and (unknown or path in given):
                record.finding("dangerous", "escape", program=name)
                return


def names_shell(text: str) -> bool:
    """Code that bash cannot read, calling a shell: typed into some other program's prompt."""
    return re.search(r"[(\"'`]\s*" + _SHELL_PATH + r"\b", text) is not None
