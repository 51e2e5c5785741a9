"""API keys in `credentials` of the home: lines `NAME=key`, readable by the user alone; the environment comes first.

No message of this module ever holds a key.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from holdfast.core.messages import Phrase, TellableError

_UNREADABLE = Phrase("credentials.unreadable", "{path}: cannot be read: {error}", "{path}：无法读取：{error}")
_NO_FILE = Phrase("credentials.no_file", "{path}: is not a file", "{path}：不是文件")
_OPEN = Phrase(
    "credentials.open",
    "{path}: others may read it (mode {mode}); run: chmod 600 {path}",
    "{path}：他人可以读取（权限 {mode}）；请运行 `chmod 600 {path}`",
)
_NO_TEXT = Phrase("credentials.no_text", "{path}: is not UTF-8 text", "{path}：不是 UTF-8 文本")
_NO_PAIR = Phrase(
    "credentials.no_pair",
    "{path}:{line}: expected NAME=key, found something else",
    "{path}:{line}：应为 名称=密钥，实际是别的内容",
)


class CredentialsError(TellableError):
    """The file cannot be used; the message says why and what to do."""


def read_credentials(path: Path) -> dict[str, str]:
    """Names to keys; empty without a file. A file that others may read is refused."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CredentialsError(_UNREADABLE(path=path, error=error.strerror or error)) from None
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise CredentialsError(_NO_FILE(path=path))
        if status.st_mode & 0o077:
            mode = f"{stat.S_IMODE(status.st_mode):04o}"
            raise CredentialsError(_OPEN(path=path, mode=mode))
        raw = stream.read()
    try:
        lines = raw.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise CredentialsError(_NO_TEXT(path=path)) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, key = text.partition("=")
        name = name.removeprefix("export ").strip()
        key = key.strip()
        if not equals or not name.replace("_", "").isalnum() or not key:
            raise CredentialsError(_NO_PAIR(path=path, line=number))
        if len(key) >= 2 and key[0] == key[-1] and key[0] in "\"'":
            key = key[1:-1]
        found[name] = key
    return found


def find_key(name: str, path: Path, environ: Mapping[str, str] | None = None) -> str | None:
    """The key called `name` (as `keyEnv` of a model says): from the environment, else from the file."""
    environ = os.environ if environ is None else environ
    return environ.get(name) or read_credentials(path).get(name)
