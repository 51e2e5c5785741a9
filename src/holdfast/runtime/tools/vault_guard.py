"""Files in the vault that programs outside of the sandbox obey: no command changes them unnamed.

Bubblewrap keeps those that exist from being written. What it cannot keep is that one appears where none was, and
Landlock can keep nothing inside the vault. So they are looked at before and after each command: what appeared, and
under Landlock what changed, is put back as it was, and the command's version lies in the trash for the user to look at.
A command that names such a file was judged for it and may write it.
"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.runtime.tool import ToolContext
from holdfast.runtime.tools.files import replace_file
from holdfast.runtime.tools.journal import Journal, move_tree
from holdfast.runtime.tools.places import GIT_CONFIG, GUARDED
from holdfast.shell.reading import CommandReading

_MOST_FILES = 200
_LARGEST = 1 << 20
_LESS = (".vscode/", ".envrc")
"""Obeyed only after the user has agreed there; a new one is no way out."""
_CHANGES = frozenset(("writes", "deletes", "changes_permissions"))
Content = tuple[int, bytes]
"""Mode and content of a file."""


@dataclass(frozen=True, slots=True)
class VaultGuard:
    """What is guarded during one command, and how it was before."""

    vault: Path
    names: tuple[str, ...]
    before: Mapping[str, Content]

    @property
    def paths(self) -> list[Path]:
        return [self.vault / name for name in self.names]

    def settle(self, context: ToolContext, sandbox: str) -> list[str]:
        """Put back what the command changed; the names of it."""
        if sandbox not in ("bubblewrap", "landlock"):
            return []  # sandbox-exec forbids it by name, there or not; without a sandbox there is nothing to hold
        after = _contents(self.vault, [name for name in self.names if not name.startswith(_LESS)])
        changed = sorted(
            name
            for name in after
            if name not in self.before or (sandbox == "landlock" and self.before[name] != after[name])
        )
        if not changed:
            return []
        journal = Journal(context)
        entry = journal.begin("bash")
        for number, name in enumerate(changed):
            path = self.vault / name
            with contextlib.suppress(OSError):
                move_tree(path, entry.folder / f"{number}-{path.name}")
                if name in self.before:
                    mode, data = self.before[name]
                    replace_file(path, data, mode)
        return changed


def guard_of(vault: Path, reading: CommandReading) -> VaultGuard:
    """What a command may not change, because it does not name it."""
    named = [Path(effect.target) for effect in reading.effects if effect.path and effect.kind in _CHANGES]
    runs_git = any(command.name == "git" for command in reading.simple_commands)
    names = tuple(
        name
        for name in (*GUARDED, GIT_CONFIG)
        if not (runs_git and name.startswith(".git/")) and not _is_named(vault / name, named, vault)
    )
    return VaultGuard(vault, names, _contents(vault, names))


def put_back_note(names: Iterable[str]) -> str:
    return (
        f"[sandbox: {', '.join(names)} may only be changed by a command that names it, or by edit and write. It is as "
        "it was before; what the command made is in the user's trash]"
    )


def _is_named(path: Path, named: Iterable[Path], vault: Path) -> bool:
    """By itself, by a file in it, or by a folder it is in; the vault as a whole names nothing."""
    below = (other for other in named if other != vault and other.is_relative_to(vault))
    return any(path.is_relative_to(other) or other.is_relative_to(path) for other in below)


def _contents(vault: Path, names: Iterable[str]) -> dict[str, Content]:
    """The files themselves; a folder stands for the files in it, a link for where it leads."""
    found: dict[str, Content] = {}
    for name in names:
        path = vault / name
        try:
            files = sorted(path.rglob("*"))[:_MOST_FILES] if path.is_dir() and not path.is_symlink() else [path]
        except OSError:
            continue
        for file in files:
            with contextlib.suppress(OSError):
                status = file.lstat()
                relative = file.relative_to(vault).as_posix()
                if stat.S_ISLNK(status.st_mode):
                    found[relative] = (0, b"link to " + bytes(file.readlink()))
                elif stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST:
                    found[relative] = (stat.S_IMODE(status.st_mode), file.read_bytes())
    return found
