"""Starting a coding agent where Holdfast does not see it, or changing what it loads by its own commands (PE10)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from holdfast.core.messages import Message
from holdfast.policies.hard_limits.phrases import CHANGES_HOST, UNGUARDED_AGENT
from holdfast.policies.hard_limits.protected import HostProgram, Protected
from holdfast.shell.reading import CommandReading, SimpleCommand

_OTHER_ACCOUNTS = frozenset(("sudo", "doas", "su", "runuser", "chroot", "pkexec", "machinectl", "setpriv"))
_EXPORTS = frozenset(("export", "declare", "typeset", "readonly", "local", "unset"))
_EMPTIED = re.compile(r"\benv\s(?:[^;|&\n]*?\s)?(?:-i|-|--ignore-environment)\s")
_UNSET = re.compile(r"\benv\s[^;|&\n]*?(?:-u\s*|--unset[= ])([A-Za-z_]\w*)")
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)=")


def unseen_agents(protected: Protected, command: SimpleCommand, reading: CommandReading) -> Iterator[Message]:
    for host in protected.host_programs:
        arguments = _arguments(host, command)
        if arguments is not None:
            yield from _unguarded(host, command, arguments, reading)
            yield from _changes(host, command, arguments, protected)


def unseen_in_code(protected: Protected, command: SimpleCommand, code: str) -> Iterator[Message]:
    """The same in a program's text, which nobody follows: a host's name beside what hides it."""
    for host in protected.host_programs:
        if not re.search(rf"\b{re.escape(host.name)}\b", code):
            continue
        words = set(re.findall(r"[\w-]+", code))
        flags = [flag for flag in host.flags if flag.startswith("--") and flag in words]
        own = [known for known in host.variables if known not in ("HOME", "XDG_CONFIG_HOME")]
        variables = sorted(word for word in words for known in own if _is_named(word, known))
        for found in (*flags, *variables):
            yield UNGUARDED_AGENT(what=command.text, how=found)


def _arguments(host: HostProgram, command: SimpleCommand) -> tuple[str, ...] | None:
    """The words behind the host's program; None when another program is called."""
    words = command.argv
    while words and _ASSIGNED.match(words[0]):  # `env - A=1 claude`
        words = words[1:]
    if host.name == command.name or (words and posixpath.basename(words[0]) == host.name):
        return words[1:]
    for place, word in enumerate(words[:4]):  # by its package, or as a script of an interpreter
        if not word.startswith("-") and any(package in word for package in host.packages):
            return words[place + 1 :]
    return None


def _unguarded(
    host: HostProgram, command: SimpleCommand, arguments: tuple[str, ...], reading: CommandReading
) -> Iterator[Message]:
    flags = [word for word in arguments if word.partition("=")[0] in host.flags or word[:2] in host.flags]
    words = [part for word in arguments for part in host.words if part in word]
    start, end = command.span
    statement = reading.command[start:end] if end > start else reading.command
    exported = (
        word.partition("=")[0]
        for other in reading.simple_commands
        for word in other.argv
        if "=" in word or other.name in _EXPORTS
    )
    given = {*reading.assigned, *exported, *_ASSIGNED.findall(statement), *_UNSET.findall(statement)}
    variables = sorted(name for name in given for known in host.variables if _is_named(name, known))
    emptied = ["an empty environment"] if _EMPTIED.search(statement) else []
    accounts = [f"another account ({via})" for via in command.via if via.split(" ", 1)[0] in _OTHER_ACCOUNTS]
    for found in (*flags, *words, *variables, *emptied, *accounts):
        yield UNGUARDED_AGENT(what=command.text, how=found)


def _changes(
    host: HostProgram, command: SimpleCommand, arguments: tuple[str, ...], protected: Protected
) -> Iterator[Message]:
    words = [word for word in arguments if not word.startswith("-")]
    for known in host.commands:
        wanted = known.split()
        if words[: len(wanted)] == wanted:
            yield CHANGES_HOST(what=command.text)
            return
    ours = any(word.casefold() in protected.programs for word in words[2:])
    if ours and words[:1] == ["mcp"] and words[1] not in ("list", "get", "ls"):
        yield CHANGES_HOST(what=command.text)


def _is_named(name: str, known: str) -> bool:
    return name.startswith(known[:-1]) if known.endswith("*") else name == known
