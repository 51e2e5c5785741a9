"""A disk that is soon full and a place that cannot be written, by whatever means the machine allows."""

import contextlib
import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path


def can_mount(at: Path) -> bool:
    if os.geteuid() != 0:
        return False
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(at)], capture_output=True, check=False, timeout=20
    )
    if done.returncode == 0:
        unmount(at)
    return done.returncode == 0


def unmount(at: Path) -> None:
    subprocess.run(["umount", "-l", str(at)], check=True, capture_output=True, timeout=20)


@contextlib.contextmanager
def disk_of(size_kb: int, at: Path) -> Iterator[None]:
    """`at` lies on a disk of its own of this size; without root a file there can grow no larger than that."""
    at.mkdir(parents=True, exist_ok=True)
    if can_mount(at):
        options = ["-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", str(at)]
        subprocess.run(["mount", *options], check=True, capture_output=True, timeout=20)
        try:
            yield
        finally:
            unmount(at)
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_kb * 1024 // 2, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


@contextlib.contextmanager
def read_only(at: Path) -> Iterator[None]:
    """Nothing under `at` can be written, not even by root."""
    if os.geteuid() == 0 and can_mount(at):
        for options in (["--bind", str(at), str(at)], ["-o", "remount,bind,ro", str(at)]):
            subprocess.run(["mount", *options], check=True, capture_output=True, timeout=20)
        try:
            yield
        finally:
            unmount(at)
        return
    paths = [at, *at.rglob("*")]
    modes = [path.stat().st_mode for path in paths]
    for path in paths:
        path.chmod(path.stat().st_mode & 0o555)
    try:
        yield
    finally:
        for path, mode in zip(paths, modes, strict=True):
            path.chmod(mode)
