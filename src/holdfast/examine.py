"""What a tool call would touch, found out before any judge sees it (PE1, PE2, PE5).

Pure as far as its arguments are: the disk and the shell reader come in as functions. A call that cannot be examined
(an unknown tool, a missing path) is `unknown`, which is asked about, never let through.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.core.events import ToolCall
from holdfast.core.targets import (
    Access,
    Domain,
    Resolve,
    Target,
    Vault,
    Verb,
    locate,
    mcp_target,
    query_target,
    shell_target,
    url_target,
)
from holdfast.core.tools import EXTERNAL_SERVER, UNKNOWN_SERVER, ToolSpec, find_tool
from holdfast.patch_files import PatchError, patch_files
from holdfast.shell.reading import CommandReading, Effect, SimpleCommand

ReadCommand = Callable[[str, str], CommandReading]
"""Reads a shell command: its text and the directory it starts in."""
Expand = Callable[[str], Sequence[str] | None]
"""The files an absolute glob stands for; None when they are too many to name."""

_FILE_EFFECTS: Mapping[str, tuple[Domain, Verb]] = {
    "reads": ("read", "read"),
    "writes": ("edit", "write"),
    "changes_permissions": ("edit", "write"),
    "deletes": ("edit", "delete"),
}
_OTHER_MACHINES = ("ssh:", "container:")
_GLOB = re.compile(r"[*?\[]")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s<>\"'`]+")
_OPEN = re.compile(r"[$`]")
_SYSTEM_PROGRAM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/[^/]+\Z|/opt/homebrew/s?bin/[^/]+\Z")
# They only change when, how long or how urgently a command runs; whatever they wrap is still what runs.
_TRANSPARENT = frozenset(
    ("command", "nohup", "nice", "timeout", "time", "stdbuf", "ionice", "setsid", "builtin", "exec")
)
# A variable that a script uses for itself; one in capitals may be read by the programs it starts.
_OWN_VARIABLE = re.compile(r"[a-z][a-z0-9_]*\Z")
_HARMLESS_VARIABLE = re.compile(
    r"(?:LC_[A-Z]+|LANG|TZ|CI|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|COLUMNS|LINES|PYTHONUNBUFFERED|RUST_BACKTRACE)\Z"
)
_LOWERCASE_ENVIRONMENT = frozenset(("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ftp_proxy"))


class _Unexaminable(Exception):
    """The input does not hold what the tool's table says it must."""


class Examiner:
    """Examines the calls of one vault."""

    def __init__(
        self,
        *,
        vault: Vault,
        home: str,
        resolve: Resolve,
        read_command: ReadCommand,
        tools: Mapping[str, ToolSpec],
        expand: Expand | None = None,
    ) -> None:
        self._vault = vault
        self._home = home
        self._resolve = resolve
        self._read_command = read_command
        self._tools = tools
        self._expand = expand

    def examine(self, call: ToolCall) -> ToolCall:
        """The call with its domain, accesses, reading and number of files filled in."""
        spec = find_tool(call.tool, self._tools)
        if spec is None:
            return self._unknown(call)
        if spec.domain == "none":
            return replace(call, domain="none", accesses=(), reading=None, files=0)
        cwd = self._cwd(call, spec)
        reading: CommandReading | None = None
        try:
            if spec.commands:
                command = _first_text(call.input, spec.commands)
                reading = self._read_command(command, cwd)
                accesses = list(self._of_reading(reading, cwd))
            else:
                accesses = list(self._of_input(call, spec, cwd))
        except (_Unexaminable, PatchError):
            return self._unknown(call)
        if not accesses:
            return self._unknown(call)
        unique = tuple(dict.fromkeys(accesses))
        changed = {access.target for access in unique if access.domain == "edit"}
        return replace(call, domain=spec.domain, accesses=unique, reading=reading, files=len(changed))

    def _unknown(self, call: ToolCall) -> ToolCall:
        access = Access("mcp", mcp_target(UNKNOWN_SERVER, call.host_tool or call.tool), "call")
        return replace(call, domain="unknown", accesses=(access,), reading=None, files=0)

    def _cwd(self, call: ToolCall, spec: ToolSpec) -> str:
        cwd = call.cwd or self._vault.root
        for key in spec.cwd_keys:
            given = call.input.get(key)
            if isinstance(given, str) and given:
                return posixpath.join(cwd, given)
        return cwd

    # what the input names

    def _of_input(self, call: ToolCall, spec: ToolSpec, cwd: str) -> Iterator[Access]:
        domain: Domain = spec.domain  # type: ignore[assignment]  # `none` was answered before
        file_domain: Domain = domain if domain in ("read", "edit") else "read"
        for keys, verb in ((spec.reads, "read"), (spec.writes, "write"), (spec.deletes, "delete")):
            for path in _texts(call.input, keys):
                access = self._file(path, cwd, file_domain, verb)  # type: ignore[arg-type]
                yield replace(access, whole=True) if spec.name == "read" else access
        folder = next(iter(_texts(call.input, spec.folders)), None)
        if spec.folders:
            yield self._file(folder or ".", cwd, file_domain, "read")
        for pattern in _texts(call.input, spec.globs):
            yield self._file(_literal_part(pattern), posixpath.join(cwd, folder or ""), file_domain, "read")
        for patch in _texts(call.input, spec.patches):
            for path, verb in patch_files(patch):
                yield self._file(path, cwd, file_domain, verb)
        urls = _texts(call.input, spec.urls)
        if not urls:
            urls = [url for text in _texts(call.input, spec.url_texts) for url in _URL.findall(text)]
        for url in urls:
            yield Access("web_fetch", url_target(url), "fetch")
        for query in _texts(call.input, spec.queries):
            yield Access("web_search", query_target(query), "search")
        if spec.mcp_server:
            yield Access("mcp", mcp_target(spec.mcp_server, spec.mcp_tool or spec.name), "call")
        missing = [keys for keys in spec.required if not any(_texts(call.input, (key,)) for key in keys)]
        if missing:
            raise _Unexaminable

    def _file(self, path: str, cwd: str, domain: Domain, verb: Verb, by: str = "", certain: bool = True) -> Access:
        target, real = locate(path, vault=self._vault, cwd=cwd, resolve=self._resolve, home=self._home)
        return Access(domain, target, verb, by, certain, real)

    # what a command would do

    def _of_reading(self, reading: CommandReading, cwd: str) -> Iterator[Access]:
        yield from _commands_of(reading)
        for effect in reading.effects:
            yield from self._of_effect(effect, cwd)

    def _of_effect(self, effect: Effect, cwd: str) -> Iterator[Access]:
        by = effect.by.text if effect.by is not None else ""
        if effect.kind == "network" and "://" in effect.target:
            yield Access("web_fetch", url_target(effect.target), "fetch", by, effect.certain)
        doing = _FILE_EFFECTS.get(effect.kind)
        elsewhere = not effect.path and (effect.target.startswith(_OTHER_MACHINES) or "://" in effect.target)
        if doing is None or not effect.target or elsewhere:
            return
        domain, verb = doing
        for path, certain in self._paths_of(effect):
            if path.startswith("/") or (certain and effect.path):
                access = self._file(path, cwd, domain, verb, by, certain)
                yield replace(access, whole=True) if effect.whole and certain else access
            else:
                # Not even the folder is known ("a file named by the program"): no absolute pattern covers it.
                yield Access(domain, Target("fs", path), verb, by, False)

    def _paths_of(self, effect: Effect) -> Iterable[tuple[str, bool]]:
        path = effect.target
        if effect.certain:
            return [(path, True)]
        if path.startswith("/") and _GLOB.search(path) and not _OPEN.search(path) and self._expand is not None:
            found = self._expand(path)
            if found is not None:
                return [(name, True) for name in found] or [(path, True)]
        return [(path, False)]


def _commands_of(reading: CommandReading) -> Iterator[Access]:
    """One access for each command that would run, under the text a rule about it is written for.

    A whole text is never met by a pattern for one command: `git status *` would cover all that follows. So it stands
    for a single statement only; where several are joined it is uncertain, and only its literal text can be allowed.
    """
    whole = shell_target(reading.command)
    # bash takes a carriage return for a part of a word, the reader for a blank
    unclear = reading.has_error or reading.incomplete or "\r" in reading.command
    if unclear or not reading.simple_commands:
        yield Access("bash", whole, "run", certain=False, also=_targets(c.text for c in reading.simple_commands))
        return
    sets_environment = any(_matters(name) for name in reading.assigned)
    for command in reading.simple_commands:
        target, certain = shell_target(spelled(command)), not command.dynamic
        texts = (target.value, command.text)
        if sets_environment or not all(wrapper in _TRANSPARENT for wrapper in command.via):
            # `LD_PRELOAD=x git status` and `ssh host git status` are no `git status`.
            target, certain = whole, certain and not reading.compound
        others = tuple(other for other in _targets(texts) if other != target)
        yield Access("bash", target, "run", command.text, certain, also=others)


def spelled(command: SimpleCommand) -> str:
    """The command by the name it was called by; a program from elsewhere keeps its path."""
    called = command.argv[0] if command.argv else command.name
    if "/" in called and _SYSTEM_PROGRAM.match(called):
        called = called.rpartition("/")[2]
    if not command.text.startswith(command.name) or re.search(r"\s", called):
        # a name with a blank in it: `'git status'` is one strange program, no git
        return shlex.join(command.argv) if command.argv else command.text
    rest = command.text[len(command.name) :].lstrip(" ")
    return f"{called} {rest}" if rest else called


def _targets(texts: Iterable[str]) -> tuple[Target, ...]:
    return tuple(dict.fromkeys(shell_target(text) for text in texts if text))


def _matters(variable: str) -> bool:
    """Whether setting it may change what a program does beyond language, colours and the like."""
    own = _OWN_VARIABLE.match(variable) and variable not in _LOWERCASE_ENVIRONMENT
    return not own and not _HARMLESS_VARIABLE.match(variable)


def _literal_part(pattern: str) -> str:
    """The folder in which a glob begins to search: `/etc/**/*.conf` -> `/etc`."""
    names: list[str] = []
    for name in pattern.split("/"):
        if any(char in name for char in "*?[{"):
            break
        names.append(name)
    text = "/".join(names)
    return "/" if text == "" and pattern.startswith("/") else text or "."


def _first_text(data: Mapping[str, Any], keys: Sequence[str]) -> str:
    for text in _texts(data, keys):
        return text
    raise _Unexaminable


def _texts(data: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    """Every string below the keys; `edits[].path` looks into a list of objects."""
    found: list[str] = []
    for key in keys:
        found.extend(_walk(data, key.split("[].")))
    return found


def _walk(data: Any, steps: Sequence[str]) -> Iterator[str]:
    if not isinstance(data, Mapping):
        return
    value = data.get(steps[0])
    if len(steps) > 1:
        for entry in value if isinstance(value, list | tuple) else ():
            yield from _walk(entry, steps[1:])
    elif isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, list | tuple):
        for entry in value:
            if not isinstance(entry, str):
                raise _Unexaminable
            yield entry
    elif value is not None:
        raise _Unexaminable


def examine(
    call: ToolCall,
    *,
    vault: Vault,
    home: str,
    resolve: Resolve,
    read_command: ReadCommand,
    tools: Mapping[str, ToolSpec],
    expand: Expand | None = None,
) -> ToolCall:
    """One call, examined once."""
    examiner = Examiner(vault=vault, home=home, resolve=resolve, read_command=read_command, tools=tools, expand=expand)
    return examiner.examine(call)


def external_tool(name: str) -> Target:
    """How an external tool that declares nothing is judged."""
    return mcp_target(EXTERNAL_SERVER, name)
