"""What a tool call touches, in one canonical spelling (PE2).

A path is judged by where it really leads: the caller passes a `resolve` that follows symlinks, and a path inside the
vault is always `vault:/...`, however it was written. In doubt a path counts as outside.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit, urlunsplit

Scheme = Literal["vault", "fs", "url", "query", "shell", "mcp"]
Domain = Literal["read", "edit", "bash", "web_fetch", "web_search", "mcp"]
Verb = Literal["read", "write", "delete", "run", "fetch", "search", "call"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
DOMAINS: tuple[Domain, ...] = get_args(Domain)

Resolve = Callable[[str], str]
"""Follows symlinks of an absolute path, as far as it exists (`os.path.realpath`)."""


@dataclass(frozen=True, slots=True)
class Target:
    """One thing a call would touch: `vault:/src/a.py`, `shell:git status`, `mcp:github/create_issue`."""

    scheme: Scheme
    value: str

    def __str__(self) -> str:
        return f"{self.scheme}:{self.value}"

    @classmethod
    def parse(cls, text: str) -> Target:
        scheme, colon, value = text.partition(":")
        if not colon or scheme not in SCHEMES:
            raise ValueError(f"{text!r} is no target; expected one of {', '.join(SCHEMES)}, a colon and a value")
        return cls(scheme, value)


@dataclass(frozen=True, slots=True)
class Access:
    """A target and what is done to it; a single call may make many."""

    domain: Domain
    target: Target
    verb: Verb
    by: str = ""
    """The simple command that does it, when a shell command is the call."""
    certain: bool = True
    """False when the target is only known in part (a glob, a variable)."""


@dataclass(frozen=True, slots=True)
class Vault:
    """The directory an agent works in; `root` is absolute and already resolved."""

    root: str
    folds_case: bool = False
    """True where the file system treats `A` and `a` (and unicode forms) as the same name."""

    def __post_init__(self) -> None:
        if not self.root.startswith("/") and not _has_drive(self.root):
            raise ValueError(f"the vault must be an absolute path, got {self.root!r}")

    def fold(self, path: str) -> str:
        """The form in which two names of one file compare equal."""
        return unicodedata.normalize("NFC", path).casefold() if self.folds_case else path


def _has_drive(path: str) -> bool:
    return len(path) >= 3 and path[0].isalpha() and path[1] == ":" and path[2] in "/\\"


def _forward(path: str) -> str:
    return path.replace("\\", "/")


def is_inside(path: str, root: str) -> bool:
    """Whether a normalised absolute path is `root` or below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def absolute(path: str, cwd: str, home: str = "") -> str:
    """Make a path absolute and fold `.` and `..`, without asking the disk."""
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    joined = path if path.startswith("/") else posixpath.join(cwd, path)
    normal = posixpath.normpath(joined)
    return normal[1:] if normal.startswith("//") else normal


def file_target(path: str, *, vault: Vault, cwd: str, resolve: Resolve, home: str = "") -> Target:
    """The target of a path as a tool was given it.

    `..` is folded after symlinks are followed, as the kernel does it; a path that reads as inside by one spelling
    rule and outside by another (backslashes) counts as outside.
    """
    if "\x00" in path:
        return Target("fs", _forward(path.replace("\x00", "\ufffd")))
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    readings = {path}
    if "\\" in path:
        readings.add(_forward(path))
    outside: str | None = None
    inside: str | None = None
    for reading in sorted(readings):
        if _has_drive(reading) and not _has_drive(vault.root):
            outside = _forward(reading)
            continue
        joined = reading if reading.startswith("/") or _has_drive(reading) else posixpath.join(cwd, reading)
        real = _forward(resolve(joined))
        real = real[1:] if real.startswith("//") else real
        root = _forward(vault.root)
        if is_inside(vault.fold(real), vault.fold(root)):
            inside = real[len(root) :] if len(root) > 1 else real
        else:
            outside = real
    if outside is not None or inside is None:
        return Target("fs", outside or _forward(path))
    return Target("vault", inside if inside.startswith("/") else "/" + inside)


def url_target(url: str) -> Target:
    """A URL with scheme and host in lower case, no user info, no default port, no fragment, dots folded."""
    text = url.strip()
    parts = urlsplit(text if "//" in text else "https://" + text)
    host = (parts.hostname or "").rstrip(".")
    try:
        port = parts.port
    except ValueError:
        port = None
    if ":" in host:
        host = f"[{host}]"
    default = {"http": 80, "https": 443}.get(parts.scheme)
    netloc = host if port in (None, default) else f"{host}:{port}"
    path = parts.path or "/"
    folded = posixpath.normpath(path)
    folded = folded[1:] if folded.startswith("//") else folded
    if path.endswith("/") and folded != "/":
        folded += "/"
    return Target("url", urlunsplit((parts.scheme.lower(), netloc, folded, parts.query, "")))


def query_target(query: str) -> Target:
    return Target("query", " ".join(query.split()))


def shell_target(command: str) -> Target:
    return Target("shell", command.strip())


def mcp_target(server: str, tool: str) -> Target:
    return Target("mcp", f"{server.replace('/', '_')}/{tool.replace('/', '_')}")
