"""API keys in `credentials` of the home: lines `NAME=key`, readable by the user alone; the environment comes first.

No message of this module ever holds a key.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path


class CredentialsError(Exception):
    """The file cannot be used; the message says why and what to do."""


def read_credentials(path: Path) -> dict[str, str]:
    """Names to keys; empty without a file. A file that others may read is refused."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CredentialsError(f"{path}: cannot be read: {error.strerror or error}") from None
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise CredentialsError(f"{path}: is not a file")
        if status.st_mode & 0o077:
            mode = f"{stat.S_IMODE(status.st_mode):04o}"
            raise CredentialsError(f"{path}: others may read it (mode {mode}); run: chmod 600 {path}")
        raw = stream.read()
    try:
        lines = raw.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise CredentialsError(f"{path}: is not UTF-8 text") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, key = text.partition("=")
        name = name.removeprefix("export ").strip()
        key = key.strip()
        if not equals or not name.replace("_", "").isalnum() or not key:
            raise CredentialsError(f"{path}:{number}: expected NAME=key, found something else")
        if len(key) >= 2 and key[0] == key[-1] and key[0] in "\"'":
            key = key[1:-1]
        found[name] = key
    return found


def find_key(name: str, path: Path, environ: Mapping[str, str] | None = None) -> str | None:
    """The key called `name` (as `keyEnv` of a model says): from the environment, else from the file."""
    environ = os.environ if environ is None else environ
    return environ.get(name) or read_credentials(path).get(name)
