"""What a command does to files that it does not name: whole folders, links to them, git's working tree (PE10)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import pairwise

from holdfast.core.events import ToolCall
from holdfast.core.messages import Message
from holdfast.core.targets import Access, absolute, is_inside
from holdfast.policies.hard_limits.path_set import PathSet
from holdfast.policies.hard_limits.phrases import CHANGES_GUARD, SWEEPS_SECRET
from holdfast.policies.hard_limits.protected import Protected
from holdfast.shell.reading import CommandReading, SimpleCommand

_MAKES_FOLDERS = frozenset(("mkdir", "touch", "stat", "ls"))
_COPIERS = frozenset(("cp", "mv", "install", "rsync", "ln", "scp", "ditto", "gcp", "gmv"))
_TARGET = re.compile(r"--target-directory=(.+)|-[a-zA-Z]*t(.+)")
_RECURSIVE = re.compile(r"-[a-zA-Z]*[rRa]|--(?:recursive|archive|dereference-recursive)\Z|--directories=recurse\Z")
_LINKS = re.compile(r"-[a-zA-Z]*[ls][a-zA-Z]*\Z|--(?:link|symbolic-link)\Z")
_ALWAYS_RECURSIVE = frozenset(
    ("rsync", "tar", "bsdtar", "zip", "7z", "7za", "ditto", "borg", "restic", "docker", "podman", "nerdctl", "ag",
     "ack", "ugrep", "mksquashfs", "genisoimage", "duplicity")
)  # fmt: skip
_WHEN_TOLD = frozenset(("cp", "scp", "grep", "egrep", "fgrep", "zgrep", "sed", "diff", "cat"))
_HIDDEN = re.compile(r"-[a-zA-Z]*\.|--hidden\Z|-[a-zA-Z]*uu|--unrestricted\Z")
_EXCLUDES = re.compile(r"--exclude(?:-dir)?=(.+)|(?:-g|--glob=|--iglob=)!(.+)")
_GIT_CHANGES = frozenset(
    ("checkout", "restore", "stash", "rm", "mv", "clean", "checkout-index", "worktree", "submodule", "clone")
)
_GIT_OPTIONS_WITH_VALUE = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"))
# What stands in and around the guarded folders, for a pattern that nobody has expanded.
_NAMES = (".claude", ".codex", ".gemini", ".opencode", ".config", "opencode", "plugin", "plugins", "settings.json",
          "settings.local.json", "hooks.json", "config.toml", "opencode.json", "opencode.jsonc")  # fmt: skip
_OPEN = re.compile(r"\[[^\]]*\]|\{[^}]*\}|\$\{?\w+\}?|\$\([^)]*\)|`[^`]*`")
_PACKERS = frozenset(
    ("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "unlz4", "uncompress")
)
_PACKED = re.compile(r"\.(?:gz|bz2|xz|zst|lz4|Z)\Z")
# They put something where an argument says, in ways of their own.
_PUTTERS = frozenset(
    ("curl", "wget", "scp", "sftp", "rclone", "hg", "svn", "jj", "fossil", "gio", "trash", "trash-put", "rename", "gh")
)
_CONTAINERS = frozenset(("docker", "podman", "nerdctl"))
_FOLDER_NAME = re.compile(r"\.(?:claude|codex|gemini|opencode)\b")
_CHDIR = re.compile(r"\benv\s[^;|&\n]*?(?:-C\s*|--chdir[= ])(\S+)")
_TELL_PLACES = frozenset(("ls", "echo", "printf", "realpath", "readlink", "dirname", "find", "fd", "locate", "stat"))
_NARROWS = ("include", "glob", "include_pattern", "type")
_HANDS_ON = frozenset(("-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fls"))
_MOUNTERS = frozenset(("mount", "umount", "bwrap", "bindfs", "sshfs", "mergerfs"))
_MAGIC = re.compile(r":(?:\([^)]*\)|[/!^]*)")
_FROM_THERE = re.compile(r"(?:-C|--directory=|--cd=)(.+)")
_UNPACKS = re.compile(r"-[a-zA-Z]*x[a-zA-Z]*|--extract|--get")
_GIT_LOOKS = {"stash": ("list", "show"), "worktree": ("list",)}
_GIT_TRIES = frozenset(("rm", "mv", "clean"))
_GIT_TRIAL = re.compile(r"-[dfikqrvxX]*n[dfiknqrvxX]*|--dry-run")
_WILD = re.compile(r"[*?\[{]")
_UNCLEAR = re.compile(r"[*?\[{$`]")
_MOST_MEANINGS = 500
"""Of one pattern; with more, nobody can say any longer that it means none of ours."""
_LONGEST_NAME = 255


class Folders:
    """Finds what reaches the guard by way of a folder."""

    def __init__(self, protected: Protected, never_changed: PathSet) -> None:
        self._home = protected.user_home
        self._own = protected.home
        self._never_changed = never_changed
        self._never_swept = PathSet(protected.never_swept)
        folders = tuple(glob for glob in protected.never_deleted if not glob.endswith("/.config"))
        self._folders = PathSet(folders)

    def judge(self, call: ToolCall) -> Iterator[Message]:
        if call.reading is None:
            # A host's search looks into hidden folders too; our own shows no more than a read would.
            if call.tool == "grep" and call.host_tool and not any(map(call.input.get, _NARROWS)):
                for access in call.accesses:
                    yield from self._swept(access.path, call.host_tool, ())
            for access in call.accesses:
                if access.verb == "write" and self._folders.holds(access.path):
                    yield CHANGES_GUARD(path=access.path)
            return
        commands = {command.text: command for command in call.reading.simple_commands}
        for access in call.accesses:
            command = commands.get(access.by)
            if access.domain == "edit" and _UNCLEAR.search(access.path) and self._could_guard(access.path):
                yield CHANGES_GUARD(path=access.path)
            if access.path and access.verb == "write":
                yield from self._written(access, command)
            elif access.path and access.verb == "read" and access.by:
                yield from self._read(access, command)
        for command in call.reading.simple_commands:
            if command.name == "git":
                yield from self._git(command, call.reading, call.cwd)
            elif command.name == "ln" or (command.name == "cp" and any(map(_LINKS.match, command.argv[1:]))):
                yield from self._linked(command, call.cwd)
            elif command.name in _MOUNTERS or command.name == "patch":
                for word in command.argv[1:]:
                    yield from self._named(word, call.cwd, above=command.name == "mount")
            elif command.name in _PUTTERS or command.name in _PACKERS:
                for word in command.argv[1:]:
                    yield from self._named(_PACKED.sub("", word), call.cwd)
            elif command.name == "find" and not call.reading.read_only and _takes_away(command.argv):
                yield from self._found(command)
            elif command.name in ("tar", "bsdtar"):
                yield from self._packed(command, call.cwd)
            if "env" in command.via and (moved := _CHDIR.search(call.reading.command)):
                for word in command.argv[1:]:
                    yield from self._named(word, absolute(moved[1].strip("'\""), call.cwd or "/", self._home))
            if command.name in _TELL_PLACES and any(other.dynamic for other in call.reading.simple_commands):
                yield from self._told(command, call.cwd)

    def _guards(self, path: str) -> bool:
        return self._never_changed.holds(path) or self._folders.holds(path)

    def _could_guard(self, path: str) -> bool:
        """Whether a path with wildcards or variables in it could be a guarded one, by the names that those have."""
        built = [""]
        for part in path.split("/")[1:]:
            if not _UNCLEAR.search(part):
                built = [f"{start}/{part}" for start in built]
                continue
            if len(part) > _LONGEST_NAME or len(built) > _MOST_MEANINGS:
                return True
            pattern = _OPEN.sub("*", part)
            # a shell's `*` means no hidden name, and a variable could be anything: then only inside a guarded folder
            names = [name for name in _NAMES if fnmatchcase(name, pattern)]
            hidden = part[0] in ".["
            built = [
                f"{at}/{name}" for at in built for name in names if (hidden and name[0] == ".") or self._inside(at)
            ]
        return any(map(self._guards, built))

    def _inside(self, path: str) -> bool:
        return self._folders.holds(path) or path.endswith("/.config")

    def _found(self, command: SimpleCommand) -> Iterator[Message]:
        """`find` that takes away what bears one of the guarded names."""
        for option, value in pairwise(command.argv):
            named = option in ("-name", "-iname") and value[:1] not in ("*", "?")
            known = named and any(fnmatchcase(name, value) for name in _NAMES if not name.startswith("plugin"))
            below = option in ("-path", "-wholename", "-regex") and _FOLDER_NAME.search(value)
            if known or below:
                yield CHANGES_GUARD(path=value)

    def _told(self, command: SimpleCommand, cwd: str) -> Iterator[Message]:
        """A place of ours that is looked up for a command that is only known when it runs."""
        for word in command.argv[1:]:
            path = absolute(word, cwd or "/", self._home)
            inside = is_inside(path, self._own) or (_WILD.search(word) and fnmatchcase(self._own, path))
            around = command.name == "find" and is_inside(self._own, path) and _names_ours(command.argv)
            if self._own and not word.startswith("-") and (inside or around):
                yield SWEEPS_SECRET(what=command.text, path=word, secret=self._own)

    def _named(self, word: str, cwd: str, *, above: bool = False) -> Iterator[Message]:
        path = absolute(word, cwd or "/", self._home)
        if self._guards(path) or (above and word.startswith(("/", "~")) and self._never_changed.below(path)):
            yield CHANGES_GUARD(path=word)

    # writing

    def _written(self, access: Access, command: SimpleCommand | None) -> Iterator[Message]:
        """Into a folder: what lands there is named by the sources, or by nobody."""
        path = access.path
        if command is not None and command.name in _MAKES_FOLDERS:
            return
        if command is None or command.name not in _COPIERS:
            if self._folders.holds(path):
                yield CHANGES_GUARD(path=path)
            return
        sources, into = _sources(command)
        for source in sources:
            name = posixpath.basename(source.rstrip("/"))
            unnamed = (
                name in ("", ".", "..") or _WILD.search(name) or (command.name == "rsync" and source.endswith("/"))
            )
            # without a `/` behind it the folder, if it is not there yet, becomes what the source is
            becomes = not into and ("." not in name[1:] or any(map(_RECURSIVE.match, command.argv[1:])))
            if self._folders.holds(path) and (unnamed or becomes or command.name == "ln"):
                yield CHANGES_GUARD(path=path)
            elif not unnamed and self._guards(landing := posixpath.join(path, name)):
                yield CHANGES_GUARD(path=landing)

    def _linked(self, command: SimpleCommand, cwd: str) -> Iterator[Message]:
        """A link is another name under which nobody would know the file again."""
        for source in _sources(command)[0]:
            yield from self._named(source, cwd)

    def _git(self, command: SimpleCommand, reading: CommandReading, cwd: str) -> Iterator[Message]:
        """git puts older versions over files, or takes them away."""
        words = list(command.argv[1:])
        here = next(
            (e.target for e in reading.effects if e.detail == "inside" and e.path and e.by == command), cwd or "/"
        )
        stated = here != (cwd or "/")
        while words and words[0].startswith("-"):
            option, _, value = words.pop(0).partition("=")
            if option in _GIT_OPTIONS_WITH_VALUE:
                value = value or (words.pop(0) if words else "")
                if option in ("-C", "--work-tree") and not stated:
                    here = absolute(value, here, self._home)
        if not words or words[0] not in _GIT_CHANGES or _only_looks(words[0], words[1:]):
            return
        verb, rest = words[0], words[1:]
        paths = [_MAGIC.sub("", word, count=1) if word.startswith(":") else word for word in rest if word[:1] != "-"]
        for word in paths:
            path = absolute(word, here, self._home)
            if self._guards(path) or (_WILD.search(word) and self._folders.holds(posixpath.dirname(path))):
                yield CHANGES_GUARD(path=word)
        if self._folders.holds(here) and any(word in (".", "*", ":/") for word in rest):
            yield CHANGES_GUARD(path=here)
        takes_untracked = verb == "clean" or (
            verb == "stash" and any(re.fullmatch(r"-[a-z]*[ua]|--include-untracked|--all", word) for word in rest)
        )
        named = [word for word in paths if word not in ("push", "save", ".", "")]
        if takes_untracked and not named and (lost := self._never_changed.first_below(here)):
            yield CHANGES_GUARD(path=lost)

    # reading

    def _read(self, access: Access, command: SimpleCommand | None) -> Iterator[Message]:
        program = command.name if command is not None else access.by.split(" ", 1)[0]
        if program in _CONTAINERS and self._guards(access.path):
            yield CHANGES_GUARD(path=access.path)
        words = command.argv[1:] if command is not None else ()
        recursive = (
            program in _ALWAYS_RECURSIVE
            or (program in _WHEN_TOLD and any(map(_RECURSIVE.match, words)))
            or (program == "rg" and ("/." in access.path or any(map(_HIDDEN.match, words))))
            or (program == "find" and _finds_content(words))
        )
        if recursive:
            yield from self._swept(access.path, access.by, words)

    def _packed(self, command: SimpleCommand, cwd: str) -> Iterator[Message]:
        """Names behind tar's `-C` are meant from there; what is unpacked there could be anything."""
        words = command.argv[1:]
        unpacks = any(map(_UNPACKS.fullmatch, (f"-{words[0].lstrip('-')}", *words[1:]))) if words else False
        base = ""
        for before, word in pairwise(("", *words)):
            glued = _FROM_THERE.match(word)
            if glued or before in ("-C", "--directory", "--cd"):
                base = absolute(glued[1] if glued else word, base or cwd or "/", self._home)
                if unpacks:
                    yield from self._swept(base, command.text, words)
            elif base and not word.startswith("-"):
                yield from self._swept(absolute(word, base), command.text, words)

    def _swept(self, path: str, what: str, words: tuple[str, ...]) -> Iterator[Message]:
        excluded = [found[1] or found[2] for word in words if (found := _EXCLUDES.match(word))]
        left = [
            name
            for name in self._never_swept.names_below(path)
            if not any(fnmatchcase(name, pattern.strip("/").removesuffix("/**")) for pattern in excluded)
        ]
        if left:
            yield SWEEPS_SECRET(what=what, path=path, secret=posixpath.join(path, left[0]))


def _only_looks(verb: str, rest: list[str]) -> bool:
    """Whether git only shows something, or says what it would do."""
    if rest[:1] and rest[0] in _GIT_LOOKS.get(verb, ()):
        return True
    options = rest[: rest.index("--")] if "--" in rest else rest
    given = (word for before, word in pairwise(("", *options)) if before not in ("-e", "--exclude"))
    return verb in _GIT_TRIES and any(map(_GIT_TRIAL.fullmatch, given))


def _sources(command: SimpleCommand) -> tuple[list[str], bool]:
    """What is copied, moved or linked, and whether the destination is surely a folder."""
    words: list[str] = []
    target = ""
    rest = iter(command.argv[1:])
    for word in rest:
        if word in ("-t", "--target-directory"):
            target = next(rest, "")
        elif word.startswith("-") and len(word) > 1:
            found = _TARGET.match(word)
            target = (found[1] or "") if found and found[1] else target
        else:
            words.append(word)
    if target:
        return words, True
    if len(words) == 1:
        return words, False
    return words[:-1], bool(words) and words[-1].endswith("/")


def _finds_content(words: tuple[str, ...]) -> bool:
    """`find` that hands on what could be ours: without a name, or by one of the names that our files have."""
    return not _HANDS_ON.isdisjoint(words) and _names_ours(words)


def _takes_away(words: tuple[str, ...]) -> bool:
    return "-delete" in words or not _HANDS_ON.isdisjoint(words)


def _names_ours(words: tuple[str, ...]) -> bool:
    names = [value for word, value in pairwise(words) if word in ("-name", "-iname")]
    return not names or any(fnmatchcase(own, name) for name in names for own in ("token", "credentials", "holdfast.db"))
