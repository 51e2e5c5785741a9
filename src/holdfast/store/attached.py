"""What attach did, written down so that detach can take it back exactly."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Literal

from holdfast.store.atomic_file import write_atomic
from holdfast.store.home import Home

Scope = Literal["user", "project"]
FORMAT = 1
FOLDER = "attached"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    path: str
    kind: str
    before: str | None
    """What was there before, in base64; None when there was no file."""
    after: str
    """SHA-256 of what attach left."""
    mode: int | None = None
    """The file's mode before it was made private."""
    secret: bool = False
    folders: tuple[str, ...] = ()
    """Folders that were made for it."""

    @property
    def text_before(self) -> str | None:
        return None if self.before is None else base64.b64decode(self.before).decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Manifest:
    host: str
    scope: Scope
    vault: str
    """Of a project; empty for the user's own settings."""
    at: float
    version: str
    deadline: int
    port: int
    files: tuple[ChangedFile, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        place = hashlib.sha256(self.vault.encode()).hexdigest()[:10] if self.scope == "project" else "user"
        return f"{self.host}.{place}.json"

    def save(self, home: Home) -> None:
        folder = home.data / FOLDER
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, indent=1)
        write_atomic(folder / self.name, text.encode())

    def remove(self, home: Home) -> None:
        (home.data / FOLDER / self.name).unlink(missing_ok=True)


def manifests(home: Home) -> Iterator[Manifest]:
    """Everything that is attached now."""
    folder = home.data / FOLDER
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        data = json.loads(path.read_text())
        data.pop("format", None)
        files = tuple(ChangedFile(**{**one, "folders": tuple(one["folders"])}) for one in data.pop("files"))
        yield Manifest(**data, files=files)


def find(home: Home, host: str, scope: Scope, vault: str) -> Manifest | None:
    for manifest in manifests(home):
        if (manifest.host, manifest.scope, manifest.vault) == (host, scope, vault if scope == "project" else ""):
            return manifest
    return None


def stamp(home: Home) -> tuple[int, ...]:
    """Changes whenever something is attached or detached, or the daemon or the page's server is another one."""
    return tuple(map(_changed, _watched(home)))


@lru_cache(maxsize=16)
def _watched(home: Home) -> tuple[str, ...]:
    """As strings: this is asked at every event, and joining paths would cost more than looking at them."""
    return (str(home.data / FOLDER), str(home.run / "port"), str(home.run / "daemon.lock"), str(home.run / "page"))


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def attached_files(home: Home) -> list[str]:
    """Every file that attach wrote to or made; no agent may change one."""
    return [file.path for manifest in manifests(home) for file in manifest.files]


def files_with_token(home: Home) -> list[str]:
    """Settings that hold our token, which no agent may read."""
    return [file.path for manifest in manifests(home) for file in manifest.files if file.secret]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def encoded(text: str | None) -> str | None:
    return None if text is None else base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()
