"""A key from the system's keyring: asked in a process of its own, with a deadline, and never by asking anybody.

A keyring may be locked, ask for a password, talk to a service that does not answer, or be broken. All of that is the
same as having no key there; the next place is looked into.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

SERVICE = "holdfast"
"""What a key is filed under; its name is that of the environment variable: `keyring set holdfast OPENAI_API_KEY`."""
DEADLINE = 5.0


def from_keyring(name: str, *, deadline: float = DEADLINE) -> str | None:
    """The key filed under a name, or None."""
    if not name:
        return None
    if find_spec("keyring") is not None:
        return _said([sys.executable, "-m", "holdfast.store.keyring_child", SERVICE, name], deadline)
    if sys.platform == "darwin":
        return _said(["/usr/bin/security", "find-generic-password", "-s", SERVICE, "-a", name, "-w"], deadline)
    program = shutil.which("secret-tool")
    if program is None:
        return None
    # `search` without --unlock reads what is open; `lookup` would bring up a question for a locked one.
    found = _said([program, "search", "service", SERVICE, "username", name], deadline) or ""
    lines = (line.partition(" = ") for line in found.splitlines())
    return next((value for label, _, value in lines if label == "secret" and value), None)


def _said(command: Sequence[str], deadline: float) -> str | None:
    """What a program prints; None when it fails, says nothing or takes too long."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=deadline,
            start_new_session=True,  # without a terminal there is nobody it could ask
            check=False,
        )
        text = done.stdout.decode("utf-8").rstrip("\r\n")
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return text if done.returncode == 0 and text else None
