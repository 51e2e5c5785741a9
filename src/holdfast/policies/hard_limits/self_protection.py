"""Everything by which an agent could free itself (PE10): Holdfast's files, program, processes and API, and the hosts'
settings that call it. Judged by what a call would touch and run, not by searching its text for words."""

from __future__ import annotations

import ipaddress
import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from holdfast.core.events import ToolCall
from holdfast.core.messages import Message
from holdfast.core.targets import Access, absolute
from holdfast.policies.hard_limits.folders import Folders
from holdfast.policies.hard_limits.later import Later
from holdfast.policies.hard_limits.path_set import PathSet, could_be
from holdfast.policies.hard_limits.phrases import CALLS_API, CHANGES_GUARD, READS_SECRET, REMOVES_GUARD, RUNS_GUARD
from holdfast.policies.hard_limits.processes import TOKENS, Processes
from holdfast.policies.hard_limits.protected import Protected
from holdfast.policies.hard_limits.unseen_agents import unseen_agents, unseen_in_code
from holdfast.shell.reading import CommandReading, SimpleCommand

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
_INTERPRETERS = frozenset(
    ("python", "python2", "python3", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua", "luajit", "Rscript",
     "osascript", "tclsh", "expect", "gawk", "awk", "pwsh", "powershell", "julia", "swift", "guile", "sqlite3", "make")
)  # fmt: skip
# They type, or keep for later, a command line that the reader of commands does not follow.
_HAND_ON = frozenset(("expect", "make", "xdotool", "ydotool", "wtype", "osascript", "screen", "tmux"))
_LOOK_UP = frozenset(("which", "command", "type", "whereis", "realpath", "readlink", "hash", "locate"))
_FOR_PEOPLE = frozenset(
    ("approvals", "mode", "rules", "config", "attach", "detach", "daemon", "memory", "pause", "panic", "undo", "serve",
     "sessions", "init", "hook")
)  # fmt: skip
_OWN_SECRETS = re.compile(r"\b(?:token|run|credentials|data|daemon\.sock|holdfast\.db)\b")
_PACKAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_IMPORTS = re.compile(
    r"(?:\bimport\s+|\bfrom\s+|__import__\(\s*['\"]|import_module\(\s*['\"]|run_module\(\s*['\"])(\w+)"
)
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
        programs = "|".join(map(re.escape, sorted(protected.programs)))
        self._handed_on = re.compile(rf"(?:^|[\s!;&|'\"/])(?:{programs})\s+\w")
        self._home_name = posixpath.basename(protected.home) or "\0"
        self._folders = Folders(protected, self._never_changed)
        self._later = Later(protected)
        self._processes = Processes(protected)
        self._harmless = tuple(tuple(text.split()) for text in protected.harmless_commands)

    def judge(self, call: ToolCall) -> Iterator[Message]:
        for access in call.accesses:
            yield from self._access(access)
        if call.reading is not None:
            yield from self._reading(call.reading, call.cwd)
        yield from self._folders.judge(call)
        yield from self._later.judge(call)

    # files and addresses, by whatever tool

    def _access(self, access: Access) -> Iterator[Message]:
        path = access.path
        if access.domain == "edit" and path:
            going = access.verb == "delete" and (self._never_deleted.holds(path) or self._never_changed.below(path))
            if going or self._never_changed.holds(path):
                yield CHANGES_GUARD(path=path)
        elif access.domain == "read" and path and self._secret(path):
            yield READS_SECRET(path=path)
        elif access.domain == "web_fetch" and self._ports & set(TOKENS.split(access.target.value)):
            yield CALLS_API(what=str(access.target))

    def _secret(self, path: str) -> bool:
        return self._never_read.holds(path) and not self._always_readable.holds(path)

    # commands

    def _reading(self, reading: CommandReading, cwd: str) -> Iterator[Message]:
        for command in reading.simple_commands:
            code = _code(command, reading)
            yield from self._command(command, reading, code)
            yield from self._processes.judge(command, reading, cwd, code)
            yield from unseen_agents(self._protected, command, reading)
            if code:
                yield from unseen_in_code(self._protected, command, code)
            unclear = (reading.unknown or (bool(code) and not reading.read_only)) and not _only_reads(command, reading)
            for word in (*command.argv[1:], code) if code not in command.argv else command.argv[1:]:
                yield from self._mention(word, cwd, unclear)
        for effect in reading.effects:
            if effect.kind == "network" and self._ports & set(TOKENS.split(effect.target)):
                yield CALLS_API(what=reading.command)

    def _command(self, command: SimpleCommand, reading: CommandReading, code: str) -> Iterator[Message]:
        words = (*command.argv, code)
        called = self._own_program(command)
        if called is not None and not self._is_harmless(called, command.dynamic):
            yield RUNS_GUARD(what=command.text)
        named = command.name in _PACKAGERS and any(self._is_package(word) for word in words[1:])
        if named and not _PACKAGE_LOOKS & set(words[1:3]):
            yield REMOVES_GUARD(what=command.text)
        tokens = {token for word in words for token in TOKENS.split(word)}
        if self._ports & tokens and any(is_loopback(token) for token in tokens):
            yield CALLS_API(what=command.text)
        if called is None and reading.unknown and self._by_unknown_program(command, reading):
            yield RUNS_GUARD(what=command.text)
        if code and self._home_name in code and _OWN_SECRETS.search(code):
            yield READS_SECRET(path=self._protected.home)
        if any(module in self._protected.programs for word in words[1:] for module in _IMPORTS.findall(word)):
            yield RUNS_GUARD(what=command.text)
        handed_on = words[1:] if command.name in _HAND_ON else [word for word in words if word.startswith("!")]
        if any(map(self._handed_on.search, handed_on)):
            yield RUNS_GUARD(what=command.text)

    def _own_program(self, command: SimpleCommand) -> Sequence[str] | None:
        """The arguments of `holdfast ...`, `python -m holdfast ...`, `uvx holdfast ...`; None for other programs."""
        words = command.argv or (command.name,)
        for position, word in enumerate(words):
            name = posixpath.basename(word).removesuffix(".exe")
            module = name.partition(".")[0]
            is_program = position == 0 and (
                name in self._protected.programs or command.name in self._protected.programs
            )
            before = words[position - 1] if position else ""
            is_module = re.fullmatch(r"-[A-Za-z]*m", before) is not None and module in self._protected.programs
            glued = command.name == "python" and re.fullmatch(r"-[A-Za-z]*?m(\w+)[\w.]*", word)
            if glued and glued[1] in self._protected.programs:
                return words[position + 1 :]
            runs_it = position > 0 and command.name in _RUNNERS and name in self._protected.programs
            if is_program or is_module or runs_it:
                return words[position + 1 :] if not is_module or name == module else ("",)
            if position > 0 and command.name == "python" and self._is_script(word):
                return words[position + 1 :]
            if position > 0 and command.name == "runpy" and module in self._protected.programs:
                return words[position + 1 :]
        if (
            any(via.endswith("-m") for via in command.via)
            and command.name.partition(".")[0] in self._protected.programs
        ):
            return words[1:] if command.name in self._protected.programs else ("",)
        return None

    def _by_unknown_program(self, command: SimpleCommand, reading: CommandReading) -> bool:
        """`faketime x holdfast detach`, `$(which holdfast) detach`: nobody knows what runs, but it gets our name."""
        words = [posixpath.basename(word) for word in command.argv]
        handed = any(word in self._protected.programs and after in _FOR_PEOPLE for word, after in pairwise(words))
        looked_up = command.dynamic and any(
            other.name in _LOOK_UP and self._protected.programs & set(other.argv[1:])
            for other in reading.simple_commands
        )
        return handed or (looked_up and words[0][:1] in "$`")

    def _is_script(self, word: str) -> bool:
        """A file of the program, run by itself."""
        return word.endswith(".py") and bool(self._protected.programs & set(posixpath.dirname(word).split("/")))

    def _is_harmless(self, arguments: Sequence[str], dynamic: bool) -> bool:
        """Only what is on the list; the words that decide must stand first and be known."""
        if dynamic:
            return False
        words = tuple(word for word in arguments)
        if {"--help", "-h"} & set(words[:3]) and not any(word == "--" for word in words):
            return True
        return any(words[: len(harmless)] == harmless for harmless in self._harmless)

    def _is_package(self, word: str) -> bool:
        match = _PACKAGE_NAME.match(posixpath.basename(word.rstrip("/")) if word.startswith((".", "/", "~")) else word)
        return match is not None and match[0].casefold().replace("_", "-").rstrip(".-") in self._protected.programs

    def _mention(self, word: str, cwd: str, unknown: bool) -> Iterator[Message]:
        """A word that names a path of ours: a socket for curl, a link to the token, an archive of the folder.

        For a program that is not known even naming a guarded file is too much: nobody can say that it only reads.
        """
        for piece in _PATH_PIECES.split(word):
            if "/" not in piece and not piece.startswith(("~", ".") if unknown else "~"):
                continue
            path = absolute(piece, cwd or "/", self._protected.user_home)
            if _WILD.search(path):
                if any(could_be(path, known) for known in self._protected.never_read):
                    yield READS_SECRET(path=piece)
            elif self._secret(path):
                yield READS_SECRET(path=piece)
            elif unknown and self._guards(path) and not self._always_readable.holds(path):
                yield CHANGES_GUARD(path=piece)

    def _guards(self, path: str) -> bool:
        return self._never_changed.holds(path) or self._never_deleted.holds(path)


def _code(command: SimpleCommand, reading: CommandReading) -> str:
    """The text that an interpreter is given; from its input it is somewhere in the whole command."""
    if command.name not in _INTERPRETERS:
        return ""
    words = command.argv[1:]
    given = next((word for word in words if re.search(r"[\s(;]", word)), "")
    from_input = all(word.startswith("-") for word in words) or "-" in words
    return given or (reading.command if from_input else "")


def _only_reads(command: SimpleCommand, reading: CommandReading) -> bool:
    """Proven for this one, although another command beside it is not known."""
    kinds = {effect.kind for effect in reading.effects if effect.by == command}
    return kinds == {"reads"} and command.name not in _INTERPRETERS


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
