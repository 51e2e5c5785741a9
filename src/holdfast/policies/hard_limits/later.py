"""What takes effect later, where nobody judges it: scheduled jobs, shell start-up files, units of the session (PE10).

The one place where text is searched for words: what such a file will do is known to nobody before it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.core.events import ToolCall
from holdfast.core.messages import Message
from holdfast.policies.hard_limits.path_set import PathSet
from holdfast.policies.hard_limits.phrases import STARTS_LATER
from holdfast.policies.hard_limits.protected import Protected

_NEXT_COMMAND = re.compile("[;|&]")
_SCHEDULERS = frozenset(("at", "batch", "crontab"))
START_FILES: tuple[str, ...] = (
    "/**/.bashrc", "/**/.bash_{profile,login,aliases,logout}", "/**/.profile", "/**/.{zshrc,zshenv,zprofile,zlogin}",
    "/**/.config/fish/**", "/**/.config/environment.d/**", "/**/.pam_environment", "/**/.{xprofile,xinitrc,xsessionrc}",
    "/**/.config/systemd/**", "/**/.config/autostart/**", "/**/.config/plasma-workspace/env/**",
    "/**/Library/{LaunchAgents,LaunchDaemons}/**", "/**/.ssh/{rc,environment}", "/**/.env", "/**/.envrc",
    "/etc/{environment,profile,bash.bashrc,zshrc,zshenv}", "/etc/profile.d/**", "/etc/zsh/**", "/etc/systemd/**",
    "/etc/{crontab,anacrontab}", "/etc/cron.*/**", "/var/spool/cron/**",
)  # fmt: skip


class Later:
    """Finds what a call would leave behind for later that concerns the guard."""

    def __init__(self, protected: Protected) -> None:
        self._start_files = PathSet(START_FILES)
        self._protected = protected
        self._signs: _Signs | None = None

    def judge(self, call: ToolCall) -> Iterator[Message]:
        places = [
            access.path for access in call.accesses if access.domain == "edit" and self._start_files.holds(access.path)
        ]
        reading = call.reading
        scheduled = [c.text for c in reading.simple_commands if c.name in _SCHEDULERS] if reading else []
        if not places and not scheduled:
            return
        text = reading.command if reading is not None else "\n".join(_strings(call.input))
        if self._signs is None:
            self._signs = _Signs(self._protected)
        found = self._signs.first_in(text.replace("'\\''", "").replace("\\\n", " "))
        if found:
            yield STARTS_LATER(what=(scheduled or places)[0], how=found)


_EVERYBODYS = frozenset(("HOME", "XDG_CONFIG_HOME"))


class _Signs:
    """What in a text concerns the guard: our name, a host's variables, options that hide it, its folder.

    An agent writes the text, and it may be long: nothing here takes more time than in proportion to its length.
    """

    def __init__(self, protected: Protected) -> None:
        hosts = protected.host_programs
        variables = sorted({name for host in hosts for name in host.variables if name not in _EVERYBODYS})
        flags = sorted({flag for host in hosts for flag in host.flags if flag.startswith("--")})
        names = "|".join(re.escape(name[:-1]) + r"\w+" if name.endswith("*") else re.escape(name) for name in variables)
        programs = "|".join(map(re.escape, sorted(protected.programs)))
        called = "|".join(re.escape(host.name) for host in hosts)
        self._words = (*protected.programs, *(host.name for host in hosts), *(name.rstrip("*") for name in variables))
        self._alone = re.compile(
            rf"(?<![\w-])(?:{programs})(?![\w-])"
            rf"|\b(?:{names})\b"
            rf"|(?:\balias\s+|\bfunction\s+|^\s*)(?:{called})\s*(?:=|\()"
            rf"|\.(?:{called})\b(?!/(?:local/)?bin)"
        )
        self._called = re.compile(rf"\b(?:{called})\b")
        self._hiding = re.compile(rf"\s(?:{'|'.join(map(re.escape, flags))})(?![\w-])")

    def first_in(self, text: str) -> str:
        if not self._mentions(text):
            return ""
        for line in filter(self._mentions, text.split("\n")):
            if found := self._alone.search(line):
                return found.group().strip()
            for command in _NEXT_COMMAND.split(line):
                called = self._called.search(command)
                hiding = self._hiding.search(command, called.end()) if called else None
                if called and hiding:
                    return command[called.start() : hiding.end()].strip()
        return ""

    def _mentions(self, text: str) -> bool:
        return any(word in text for word in self._words)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)
