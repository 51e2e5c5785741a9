"""What the doctor can tell about the machine: the interpreter and the sandbox for commands (PE12)."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator

from holdfast.core.health import Health
from holdfast.runtime.sandbox import detect
from holdfast.store.health import Check, Patient

OLDEST_PYTHON = (3, 11)


def check_python(patient: Patient) -> Iterator[Health]:
    version = platform.python_version()
    if sys.version_info[:2] < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        yield Health("python", "problem", f"Python {version} is too old", f"use Python {wanted} or newer")
    else:
        yield Health("python", "ok", f"Python {version}")


def check_sandbox(patient: Patient) -> Iterator[Health]:
    """Each kind is tried for real, as it would be for a command."""
    found = detect(again=True)
    if found.kind == "none":
        fix = found.fix or "look at each command before you allow it"
        yield Health("sandbox", "warning", f"commands run without a sandbox: {found.why}", fix)
    elif found.why:
        fix = found.fix or "nothing needs to be done; commands are confined, only less tightly"
        yield Health("sandbox", "warning", f"{found.kind} confines commands, for lack of better: {found.why}", fix)
    else:
        yield Health("sandbox", "ok", f"{found.kind} {found.program}".rstrip())


CHECKS = (Check("python", check_python), Check("sandbox", check_sandbox))
