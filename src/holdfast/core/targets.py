"""What a tool call touches, in one canonical spelling (PE2).

A path is judged by where it really leads: the caller passes a `resolve` that follows symlinks, and a path inside the
vault is always `vault:/...`, however it was written. In doubt a path counts as outside.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args
from urllib.parse import unquote, urlsplit, urlunsplit

Scheme = Literal["vault", "fs", "url", "query", "shell", "mcp"]
Domain = Literal["read", "edit", "bash", "web_fetch", "web_search", "mcp"]
Verb = Literal["read", "write", "delete", "run", "fetch", "search", "call"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
DOMAINS: tuple[Domain, ...] = get_args(Domain)

Resolve = Callable[[str], str]
"""Follows symlinks of an absolute path, as far as it exists (`os.path.realpath`)."""

_OTHER_HOME = re.compile(r"~[A-Za-z_][\w.-]*(?:/|\Z)")
_UNRESERVED = re.compile(r"%(?:2[dDeE]|3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aAeE])")
_UNCLEAR_IN_URL = re.compile(r"[\x00-\x20\x7f\\]")


@dataclass(frozen=True, slots=True)
class Target:
    """One thing a call would touch: `vault:/src/a.py`, `shell:git status`, `mcp:github/create_issue`."""

    scheme: Scheme
    value: str

    def __str__(self) -> str:
        return f"{self.scheme}:{self.value}"

    @classmethod
    def parse(cls, text: str) -> Target:
        """A target as a person writes it; `vault:a.md` is `vault:/a.md`."""
        scheme, colon, value = text.partition(":")
        if not colon or scheme not in SCHEMES:
            raise ValueError(f"{text!r} is no target; expected one of {', '.join(SCHEMES)}, a colon and a value")
        if scheme in ("vault", "fs") and not value.startswith("/") and not has_drive(value):
            value = "/" + value
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
    """False when the target is only known in part (a glob, a variable): no pattern can allow it."""
    path: str = ""
    """Where a file target really lies, absolute; empty for other targets."""
    also: tuple[Target, ...] = ()
    """Other spellings of the same thing (`rm x` for `/bin/rm x`): they can make a rule stricter, never laxer."""
    whole: bool = False
    """For reads: the model gets to see the file's content, not only a line or two of it (MB2)."""

    def to_dict(self) -> dict[str, Any]:
        """What the audit keeps, enough to judge the access again; absent keys are the defaults."""
        result: dict[str, Any] = {"domain": self.domain, "target": str(self.target), "verb": self.verb}
        if self.by:
            result["by"] = self.by
        if not self.certain:
            result["certain"] = False
        if self.also:
            result["also"] = [str(target) for target in self.also]
        return result

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Access:
        return cls(
            domain=data["domain"],
            target=Target.parse(data["target"]),
            verb=data["verb"],
            by=data.get("by", ""),
            certain=data.get("certain", True),
            also=tuple(Target.parse(text) for text in data.get("also", ())),
        )


@dataclass(frozen=True, slots=True)
class Vault:
    """The directory an agent works in; `root` is absolute and already resolved."""

    root: str
    folds_case: bool = False
    """True where the file system treats `A` and `a` (and unicode forms) as the same name."""

    def __post_init__(self) -> None:
        if not self.root.startswith("/") and not has_drive(self.root):
            raise ValueError(f"the vault must be an absolute path, got {self.root!r}")

    def fold(self, path: str) -> str:
        """The form in which two names of one file compare equal."""
        return unicodedata.normalize("NFC", path).casefold() if self.folds_case else path

    def relative(self, path: str) -> str | None:
        """`/rel` of a normalised absolute path inside the vault, None when it lies outside.

        Compared name by name, because folding can change how long a name is.
        """
        root = _names(forward(self.root))
        names = _names(path)
        if len(names) < len(root) or any(self.fold(a) != self.fold(b) for a, b in zip(names, root, strict=False)):
            return None
        return "/" + "/".join(names[len(root) :])


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def has_drive(path: str) -> bool:
    return len(path) >= 2 and path[0].isascii() and path[0].isalpha() and path[1] == ":"


def forward(path: str) -> str:
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
    """The target of a path as a tool was given it."""
    return locate(path, vault=vault, cwd=cwd, resolve=resolve, home=home)[0]


def locate(path: str, *, vault: Vault, cwd: str, resolve: Resolve, home: str = "") -> tuple[Target, str]:
    """A path's target and where it really lies.

    `..` is folded after symlinks are followed, as the kernel does it. A path that leads inside by one way of reading
    it and outside by another (backslashes, a file: address, blanks around it) counts as outside.
    """
    if "\x00" in path:
        shown = forward(path.replace("\x00", "\ufffd"))
        return Target("fs", shown if shown.startswith("/") else "/" + shown), shown
    inside: tuple[str, str] | None = None
    for reading in _readings(path, home):
        if has_drive(reading) and not has_drive(vault.root):
            return _outside(forward(reading))
        if _OTHER_HOME.match(reading):
            return _outside(reading)
        joined = reading if reading.startswith("/") or has_drive(reading) else posixpath.join(cwd, reading)
        real = resolve(joined)
        # A name may itself hold a backslash; taken for a separator it must not lead out either.
        for spelled in dict.fromkeys((real, forward(real))):
            lexical = posixpath.normpath(spelled)
            lexical = lexical[1:] if lexical.startswith("//") else lexical
            relative = vault.relative(lexical)
            if relative is None:
                return _outside(lexical)
            inside = inside or (forward(relative), lexical)
    assert inside is not None  # there is always at least one reading
    return Target("vault", inside[0]), inside[1]


def _outside(path: str) -> tuple[Target, str]:
    return Target("fs", forward(path) if path.startswith("/") or has_drive(path) else "/" + forward(path)), path


def _readings(path: str, home: str) -> list[str]:
    """The ways in which some tool might understand a path; rules see the first."""
    stripped = path.strip()
    found = {stripped: None, path: None}
    if stripped[:5].lower() == "file:":
        found[unquote(urlsplit_or_none(stripped) or stripped[5:])] = None
    for reading in list(found):
        if "\\" in reading:
            found[forward(reading)] = None
    if home:
        return [home + reading[1:] if reading == "~" or reading.startswith("~/") else reading for reading in found]
    return list(found)


def urlsplit_or_none(url: str) -> str | None:
    try:
        return urlsplit(url).path
    except ValueError:
        return None


def url_target(url: str) -> Target:
    """A URL with scheme and host in lower case, no user info, default port, query or fragment, dots folded.

    What two programs could read differently (backslashes, control characters, a host that is none) is kept as
    `url:unclear:...`, which no rule for http or https covers.
    """
    text = url.strip()
    unclear = Target("url", f"unclear:{text}")
    if _UNCLEAR_IN_URL.search(text):
        return unclear
    try:
        parts = urlsplit(text if "://" in text else "https://" + text)
        port = parts.port
        host = (parts.hostname or "").rstrip(".")
        host = f"[{host}]" if ":" in host else host.encode("idna").decode("ascii").lower()
    except (ValueError, UnicodeError):
        return unclear
    if not host or "%" in host:
        return unclear
    default = {"http": 80, "https": 443}.get(parts.scheme)
    netloc = host if port in (None, default) else f"{host}:{port}"
    path = _UNRESERVED.sub(lambda match: chr(int(match[0][1:], 16)), parts.path) or "/"
    folded = posixpath.normpath(path)
    folded = folded[1:] if folded.startswith("//") else folded
    if path.endswith("/") and folded != "/":
        folded += "/"
    return Target("url", urlunsplit((parts.scheme.lower(), netloc, folded, "", "")))


def query_target(query: str) -> Target:
    return Target("query", " ".join(query.split()))


def shell_target(command: str) -> Target:
    return Target("shell", command.strip())


def mcp_target(server: str, tool: str) -> Target:
    return Target("mcp", f"{server.replace('/', '_')}/{tool.replace('/', '_')}")
