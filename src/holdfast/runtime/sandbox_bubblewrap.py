"""Bubblewrap: a command with its own view of the machine, and no way to act on the rest.

Everything is read-only but the vault and a temporary folder; secrets and sockets are covered; there are no rights, no
other processes, no network unless allowed, and nothing that outlives the command. Root is held as tightly as anybody:
without capabilities and with /proc read-only, uid 0 is a number.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from holdfast.core.messages import Phrase
from holdfast.runtime.sandbox import Found, Outside, Wrapped
from holdfast.runtime.sandbox_seccomp import known_machine, program
from holdfast.runtime.sandbox_secrets import hidden_paths, sockets

_NOT_INSTALLED = Phrase("sandbox.no_bubblewrap", "bubblewrap is not installed", "未安装 bubblewrap")
_INSTALL = Phrase(
    "sandbox.install_bubblewrap",
    "install bubblewrap (apt-get install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap)",
    "安装 bubblewrap（`apt-get install bubblewrap`、`dnf install bubblewrap` 或 `pacman -S bubblewrap`）",
)
_DOES_NOT_START = Phrase(
    "sandbox.bubblewrap_fails", "bubblewrap does not start here: {error}", "bubblewrap 在此无法启动：{error}"
)
_NAMESPACES = Phrase(
    "sandbox.namespaces",
    "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or an AppArmor profile for bwrap)",
    "允许用户命名空间（`sysctl kernel.unprivileged_userns_clone=1`，或为 bwrap 配置 AppArmor）",
)
_TRIAL_SECONDS = 10.0
_BASE = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
_USER_NAMESPACE = ("--unshare-user", "--disable-userns")
_COVERED = ("/run", "/var/run", "/tmp", "/var/tmp", "/dev/shm")
_NEEDED_OF_RUN = ("/run/current-system", "/run/wrappers")
"""Where NixOS keeps its programs."""


class Bubblewrap:
    """`bwrap` of this machine."""

    name = "bubblewrap"

    def __init__(self, program: str, outside: Outside, *, user_namespace: bool = True) -> None:
        self._program = program
        self._outside = outside
        self._user_namespace = user_namespace

    def wrap(
        self,
        command: Sequence[str],
        *,
        vault: Path,
        cwd: Path,
        network: bool,
        env: Mapping[str, str],
        guarded: Sequence[Path] = (),
    ) -> Wrapped:
        real = Path(os.path.realpath(vault))
        listening = sockets()
        filter_fd = _filter()
        argv = [
            self._program,
            *_BASE,
            *(_USER_NAMESPACE if self._user_namespace else ()),
            *(("--share-net",) if network else ()),
            *self._view(real, network, listening),
            *self._inside_the_vault(real, guarded, listening),
            *(("--seccomp", str(filter_fd)) if filter_fd is not None else ()),
            "--chdir",
            str(cwd),
            "--",
            *command,
        ]
        return Wrapped(tuple(argv), dict(env), fds=(filter_fd,) if filter_fd is not None else ())

    def describe(self) -> str:
        return (
            "Bubblewrap: commands can write only to the vault and their own temporary folder, see no keys and no other "
            "processes, reach no sockets, and have no network unless it is allowed."
        )

    def _view(self, vault: Path, network: bool, listening: Sequence[Path]) -> Iterator[str]:
        yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/dev/shm", "--proc", "/proc")
        covered = [path for path in map(Path, _COVERED) if path.is_dir() and not path.is_symlink()]
        for place in covered:
            if place != Path("/dev/shm"):  # part of the new /dev
                yield from ("--tmpfs", str(place))
        yield from ("--bind", str(self._outside.temp), "/tmp")
        for name in _NEEDED_OF_RUN:
            yield from ("--ro-bind-try", name, name)
        if network:
            resolver = os.path.realpath("/etc/resolv.conf")
            if resolver.startswith("/run/"):
                yield from ("--ro-bind-try", resolver, resolver)
        folders: list[Path] = []
        for path in (*hidden_paths(self._outside), *listening):
            if not _below(path, (*covered, vault)):
                yield from _cover(path)
                folders += [path] if path.is_dir() else []
        for path in self._outside.readable:
            yield from ("--ro-bind-try", str(path), str(path))
        # Afterwards, because a mount point cannot be made in what is read-only.
        for folder in folders:
            if not _below(vault, (folder,)):
                yield from ("--remount-ro", str(folder))

    def _inside_the_vault(self, vault: Path, guarded: Sequence[Path], listening: Sequence[Path]) -> Iterator[str]:
        yield from ("--bind", str(vault), str(vault))
        real = [Path(os.path.realpath(path)) for path in guarded]
        kept = [path for path in real if path.exists() and path != vault and _below(path, (vault,))]
        # A folder that is a mount point cannot be renamed, so nobody can put another one in its place.
        for folder in sorted({parent for path in kept for parent in path.parents if parent.is_relative_to(vault)}):
            if folder != vault:
                yield from ("--bind", str(folder), str(folder))
        for path in kept:
            yield from ("--ro-bind", str(path), str(path))
        for path in (self._outside.home, *self._outside.hidden, *listening):
            if path.exists() and path != vault and _below(path, (vault,)):
                yield from _cover(path)
        # Last, when no mount point has to be made any more. Without it root could write to /proc/sys.
        yield from ("--remount-ro", "/proc", "--remount-ro", "/dev")


def _filter() -> int | None:
    """The system calls that are refused, as a file the kernel's filter is read from."""
    if not known_machine():
        return None
    descriptor = os.memfd_create("filter")
    os.write(descriptor, program())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _cover(path: Path) -> tuple[str, ...]:
    if path.is_dir():
        return ("--tmpfs", str(path))
    return ("--ro-bind", "/dev/null", str(path))


def _below(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def probe() -> Found:
    """Try it with the flags that matter; a sandbox that does not start is none."""
    program = shutil.which("bwrap")
    if program is None:
        return Found("none", why=_NOT_INSTALLED(), fix=_INSTALL())
    said = _trial(program, _USER_NAMESPACE)
    if not said:
        return Found("bubblewrap", program)
    if os.geteuid() == 0 and not _trial(program, ()):
        return Found("bubblewrap", program, reduced=True)
    return Found("none", why=_DOES_NOT_START(error=said), fix=_NAMESPACES())


def _trial(program: str, further: Sequence[str]) -> str:
    """Empty when it works, else what it said."""
    true = shutil.which("true") or "/bin/true"
    view = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--remount-ro", "/proc")
    try:
        done = subprocess.run(
            [program, *_BASE, *further, *view, "--", true],
            capture_output=True,
            text=True,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason given"])[-1]
