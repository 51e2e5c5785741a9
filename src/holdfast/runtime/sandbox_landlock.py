"""Landlock: the kernel's own fence around files, for Linux machines where bubblewrap does not start.

Weaker than bubblewrap, and `describe` says so: it hides and protects files and cuts the network, but other processes
can be seen, the vault's own guarded files stay writable, and modes of files outside can be changed by their owner.
Landlock can only allow, so what is to be hidden is left out: the folders around it are allowed one by one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.core.messages import Phrase
from holdfast.runtime.sandbox import Found, Outside, Wrapped
from holdfast.runtime.sandbox_seccomp import INET, INET6, NETLINK, known_machine, program
from holdfast.runtime.sandbox_secrets import hidden_paths

_LAUNCHER = Path(__file__).with_name("sandbox_landlock_launcher.py")
_TRIAL_SECONDS = 20.0
_OTHER_PROCESSOR = Phrase(
    "sandbox.other_processor", "Landlock is not known on this processor", "在此处理器上不支持 Landlock"
)
_DOES_NOT_WORK = Phrase(
    "sandbox.landlock_fails", "Landlock does not work here: {error}", "Landlock 在此无法使用：{error}"
)
_COVERED = ("/run", "/var/run", "/tmp", "/var/tmp", "/dev", "/mnt", "/media", "/sys/fs", "/sys/kernel")
_DEVICES = (
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts",
)  # fmt: skip


class Landlock:
    """A launcher of our own that fences itself in before it becomes the command."""

    name = "landlock"

    def __init__(self, outside: Outside, *, python: str = "") -> None:
        self._outside = outside
        self._python = python or sys.executable

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
        hidden = [*hidden_paths(self._outside), *(Path(name) for name in _COVERED)]
        families = (INET, INET6, NETLINK) if network else (NETLINK,)
        plan = {
            "cwd": str(cwd),
            "read": [str(path) for path in (*readable(hidden), *self._outside.readable)],
            "write": [str(real), str(self._outside.temp)],
            "devices": list(_DEVICES),
            "network": network,
            "filter": program(families=families).hex(),
        }
        argv = (self._python, "-I", "-S", str(_LAUNCHER), json.dumps(plan), *command)
        return Wrapped(argv, dict(env))

    def describe(self) -> str:
        return (
            "Landlock: commands can write only to the vault and their own temporary folder, cannot read keys, and have "
            "no network unless it is allowed. It is weaker than bubblewrap: other processes can be seen, and settings "
            "files inside the vault are not protected."
        )


def readable(hidden: Sequence[Path], root: Path = Path("/")) -> list[Path]:
    """The fewest folders and files that together hold everything below `root` but the hidden ones."""
    if any(root == path for path in hidden):
        return []
    below = [path for path in hidden if path.is_relative_to(root)]
    if not below:
        return [root]
    try:
        children = sorted(root.iterdir())
    except OSError:
        return []
    found: list[Path] = []
    for child in children:
        if child.is_symlink():
            continue  # where it leads is allowed under its own name, or not at all
        found += readable(below, child)
    return found


def probe() -> Found:
    """Try it for real: a command inside must run, and must not read what was not allowed."""
    if not known_machine():
        return Found("none", why=_OTHER_PROCESSOR())
    plan = {"cwd": "/", "read": ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"], "write": [], "devices": [],
            "network": False, "filter": program(families=(NETLINK,)).hex()}  # fmt: skip
    argv = [sys.executable, "-I", "-S", str(_LAUNCHER), json.dumps(plan), "/bin/sh", "-c", "! cat /etc/hostname 2>&-"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_TRIAL_SECONDS, check=False, env={})
    except (OSError, subprocess.TimeoutExpired) as error:
        return Found("none", why=_DOES_NOT_WORK(error=error))
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        return Found("none", why=_DOES_NOT_WORK(error=said))
    return Found("landlock")
