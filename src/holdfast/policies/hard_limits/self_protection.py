"""Everything by which an agent could free itself (PE10): Holdfast's files, program, processes and API, and the hosts'
settings that call it. Judged by what a call would touch and run, never by searching its text for words."""

from __future__ import annotations

import ipaddress
import posixpath
import re
from collections.abc import Iterator, Sequence

from holdfast.core.events import ToolCall
from holdfast.core.messages import Message, Phrase
from holdfast.core.targets import Access, absolute
from holdfast.policies.hard_limits.path_set import PathSet, could_be
from holdfast.policies.hard_limits.protected import HostProgram, Protected
from holdfast.shell.reading import CommandReading, SimpleCommand

CHANGES_GUARD = Phrase(
    "hard_limits.changes_guard",
    "{path} decides what you may do, so no call may change it. Tell the user what should be different and why.",
    "{path} 决定了你能做什么，任何调用都不得更改。请告诉用户需要怎样调整以及原因。",
)
READS_SECRET = Phrase(
    "hard_limits.reads_secret",
    "{path} belongs to Holdfast itself (its token, keys or records) or holds what lets a browser into its page; no "
    "call may read it.",
    "{path} 属于 Holdfast 自身（令牌、密钥或记录），或保存着浏览器进入其页面的凭据，任何调用都不得读取。",
)
RUNS_GUARD = Phrase(
    "hard_limits.runs_guard",
    "`{what}` is for people: an agent may not answer approvals or change modes, rules, configuration, hooks or the "
    "daemon. Ask the user to run it.",
    "`{what}` 仅供人使用：智能体不得答复审批，也不得更改模式、规则、配置、钩子或守护进程。请让用户来运行。",
)
REMOVES_GUARD = Phrase(
    "hard_limits.removes_guard",
    "`{what}` would remove or replace Holdfast. Only a person may do that.",
    "`{what}` 会卸载或替换 Holdfast，只有人可以这样做。",
)
ENDS_GUARD = Phrase(
    "hard_limits.ends_guard",
    "`{what}` would end Holdfast's own process. Only a person may do that (`holdfast daemon stop`).",
    "`{what}` 会终止 Holdfast 自身的进程，只有人可以这样做（`holdfast daemon stop`）。",
)
CALLS_API = Phrase(
    "hard_limits.calls_api",
    "`{what}` would talk to Holdfast's own API, which is for people. Use the tools you were given.",
    "`{what}` 会访问 Holdfast 自身的 API，该接口仅供人使用。请使用提供给你的工具。",
)
UNGUARDED_AGENT = Phrase(
    "hard_limits.unguarded_agent",
    "`{what}` would start an agent with {how}, out of Holdfast's sight. Start it without that.",
    "`{what}` 会以 {how} 启动一个不受 Holdfast 监管的智能体。请去掉该选项。",
)

_RUNNERS = frozenset(
    ("uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "pixi", "conda", "mamba", "xargs", "env", "sudo", "doas")
)
_PACKAGERS = frozenset(
    (
        "pip", "pip3", "pipx", "uv", "poetry", "pdm", "rye", "conda", "mamba", "micromamba", "apt", "apt-get", "dnf",
        "yum", "pacman", "zypper", "apk", "brew", "port", "snap", "nix-env", "easy_install",
    )
)  # fmt: skip
_PACKAGE_LOOKS = frozenset(
    (
        "show",
        "list",
        "freeze",
        "check",
        "info",
        "search",
        "view",
        "policy",
        "inspect",
        "tree",
        "outdated",
        "query",
        "-l",
    )
)
_PACKAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SERVICES = frozenset(("systemctl", "service", "launchctl", "rc-service", "initctl", "sv", "s6-svc", "supervisorctl"))
_SERVICE_LOOKS = frozenset(("status", "is-active", "is-enabled", "show", "cat", "list-units", "list", "print", "blame"))
_IMPORTS = re.compile(
    r"(?:\bimport\s+|\bfrom\s+|__import__\(\s*['\"]|import_module\(\s*['\"]|run_module\(\s*['\"])(\w+)"
)
_TOKENS = re.compile(r"[\s:/@,=\[\]\"'?&;()]+")
_PATH_PIECES = re.compile(r"[\s=,:@\"'()<>|;]+")
_WILD = re.compile(r"[*?\[{]")


class SelfProtection:
    """Finds what in a call would loosen the guard itself."""

    def __init__(self, protected: Protected) -> None:
        self._protected = protected
        self._never_changed = PathSet(protected.never_changed)
        self._never_read = PathSet(protected.never_read)
        self._never_deleted = PathSet(protected.never_deleted)
        self._always_readable = PathSet(protected.always_readable)
        self._ports = frozenset(str(port) for port in protected.ports)
        self._harmless = tuple(tuple(text.split()) for text in protected.harmless_commands)

    def judge(self, call: ToolCall) -> Iterator[Message]:
        for access in call.accesses:
            yield from self._access(access)
        if call.reading is not None:
            yield from self._reading(call.reading, call.cwd)

    # files and addresses, by whatever tool

    def _access(self, access: Access) -> Iterator[Message]:
        path = access.path
        if access.domain == "edit" and path:
            going = access.verb == "delete" and (self._never_deleted.holds(path) or self._never_changed.below(path))
            if going or self._never_changed.holds(path):
                yield CHANGES_GUARD(path=path)
        elif access.domain == "read" and path and self._secret(path):
            yield READS_SECRET(path=path)
        elif access.domain == "web_fetch" and self._ports & set(_TOKENS.split(access.target.value)):
            yield CALLS_API(what=str(access.target))

    def _secret(self, path: str) -> bool:
        return self._never_read.holds(path) and not self._always_readable.holds(path)

    # commands

    def _reading(self, reading: CommandReading, cwd: str) -> Iterator[Message]:
        for command in reading.simple_commands:
            yield from self._command(command, reading)
            for word in command.argv[1:]:
                yield from self._mention(word, cwd, reading.unknown)
        for effect in reading.effects:
            if effect.kind == "network" and self._ports & set(_TOKENS.split(effect.target)):
                yield CALLS_API(what=reading.command)

    def _command(self, command: SimpleCommand, reading: CommandReading) -> Iterator[Message]:
        words = command.argv
        called = self._own_program(command)
        if called is not None and not self._is_harmless(called, command.dynamic):
            yield RUNS_GUARD(what=command.text)
        named = command.name in _PACKAGERS and any(self._is_package(word) for word in words[1:])
        if named and not _PACKAGE_LOOKS & set(words[1:3]):
            yield REMOVES_GUARD(what=command.text)
        if self._ends_guard(command):
            yield ENDS_GUARD(what=command.text)
        tokens = {token for word in words for token in _TOKENS.split(word)}
        if self._ports & tokens and any(is_loopback(token) for token in tokens):
            yield CALLS_API(what=command.text)
        if any(module in self._protected.programs for word in words[1:] for module in _IMPORTS.findall(word)):
            yield RUNS_GUARD(what=command.text)
        for host in self._protected.host_programs:
            if host.name in (command.name, posixpath.basename(words[0]) if words else ""):
                yield from _unguarded(host, command, reading)

    def _own_program(self, command: SimpleCommand) -> Sequence[str] | None:
        """The arguments of `holdfast ...`, `python -m holdfast ...`, `uvx holdfast ...`; None for other programs."""
        words = command.argv or (command.name,)
        for position, word in enumerate(words):
            name = posixpath.basename(word).removesuffix(".exe")
            module = name.partition(".")[0]
            is_program = position == 0 and (
                name in self._protected.programs or command.name in self._protected.programs
            )
            is_module = position > 0 and words[position - 1] == "-m" and module in self._protected.programs
            runs_it = position > 0 and command.name in _RUNNERS and name in self._protected.programs
            if is_program or is_module or runs_it:
                return words[position + 1 :] if not is_module or name == module else ("",)
        if (
            any(via.endswith("-m") for via in command.via)
            and command.name.partition(".")[0] in self._protected.programs
        ):
            return words[1:] if command.name in self._protected.programs else ("",)
        return None

    def _is_harmless(self, arguments: Sequence[str], dynamic: bool) -> bool:
        """Only what is on the list; the words that decide must stand first and be known."""
        if dynamic:
            return False
        words = tuple(word for word in arguments)
        if {"--help", "-h"} & set(words[:3]) and not any(word == "--" for word in words):
            return True
        return any(words[: len(harmless)] == harmless for harmless in self._harmless)

    def _is_package(self, word: str) -> bool:
        match = _PACKAGE_NAME.match(word)
        return match is not None and match[0].casefold().replace("_", "-").rstrip(".-") in self._protected.programs

    def _ends_guard(self, command: SimpleCommand) -> bool:
        words = command.argv[1:]
        if command.name == "kill":
            return any(word.lstrip("-").isdigit() and int(word.lstrip("-")) in self._protected.pids for word in words)
        if command.name in ("pkill", "killall", "skill", "fkill", "taskkill"):
            return any(self._names_guard(word) for word in words if not word.startswith("-"))
        if command.name in _SERVICES:
            named = any(program in word.casefold() for word in words for program in self._protected.programs)
            return named and not _SERVICE_LOOKS & set(words)
        return False

    def _names_guard(self, pattern: str) -> bool:
        """Whether a process pattern could name one of ours: its literal parts stand in order in our command line."""
        for program in self._protected.programs:
            line = f"python -m {program} daemon run {program}"
            at = 0
            for part in re.findall(r"[\w-]+", pattern.casefold()):
                at = line.find(part, at)
                if at < 0:
                    break
                at += len(part)
            if at >= 0 and not re.fullmatch(r"python[\d.]*", pattern):
                return True
        return False

    def _mention(self, word: str, cwd: str, unknown: bool) -> Iterator[Message]:
        """A word that names a path of ours: a socket for curl, a link to the token, an archive of the folder.

        For a program that is not known even naming a guarded file is too much: nobody can say that it only reads.
        """
        for piece in _PATH_PIECES.split(word):
            if "/" not in piece and not piece.startswith("~"):
                continue
            path = absolute(piece, cwd or "/", self._protected.user_home)
            if _WILD.search(path):
                if any(could_be(path, known) for known in self._protected.never_read):
                    yield READS_SECRET(path=piece)
            elif self._secret(path):
                yield READS_SECRET(path=piece)
            elif unknown and self._never_changed.holds(path) and not self._always_readable.holds(path):
                yield CHANGES_GUARD(path=piece)


def _unguarded(host: HostProgram, command: SimpleCommand, reading: CommandReading) -> Iterator[Message]:
    flags = [word for word in command.argv[1:] if word.partition("=")[0] in host.flags]
    words = [part for word in command.argv[1:] for part in host.words if part in word]
    start, end = command.span
    statement = reading.command[start:end] if end > start else reading.command
    exported = (word.partition("=")[0] for other in reading.simple_commands for word in other.argv if "=" in word)
    given = {*reading.assigned, *exported, *re.findall(r"\b([A-Za-z_]\w*)=", statement)}
    variables = [name for name in given for known in host.variables if _is_named(name, known)]
    for found in (*flags, *words, *variables):
        yield UNGUARDED_AGENT(what=command.text, how=found)


def _is_named(name: str, known: str) -> bool:
    return name.startswith(known[:-1]) if known.endswith("*") else name == known


def is_loopback(text: str) -> bool:
    """`127.0.0.1`, `localhost`, `::1`, and the odd spellings of them that connect(2) takes."""
    if text.casefold().rstrip(".") in ("localhost", "ip6-localhost", "localhost.localdomain", "0", "::1", "::"):
        return True
    try:
        address = ipaddress.ip_address(text)
        return address.is_loopback or address.is_unspecified
    except ValueError:
        pass
    parts = text.split(".")
    if not 1 <= len(parts) <= 4 or len(text) > 40:
        return False
    try:
        numbers = [int(part, 0) if not re.fullmatch(r"0[0-7]+", part) else int(part, 8) for part in parts]
    except ValueError:
        return False
    if len(parts) == 1:
        return numbers[0] >> 24 == 127
    return numbers[0] == 127
