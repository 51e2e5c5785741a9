"""What the doctor can tell about the machine: the interpreter and the sandbox for commands (PE12)."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator

from holdfast.core.health import Health
from holdfast.store.health import Check, Patient

OLDEST_PYTHON = (3, 11)
_TRIAL_SECONDS = 5.0


def check_python(patient: Patient) -> Iterator[Health]:
    version = platform.python_version()
    if sys.version_info[:2] < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        yield Health("python", "problem", f"Python {version} is too old", f"use Python {wanted} or newer")
    else:
        yield Health("python", "ok", f"Python {version}")


def check_sandbox(patient: Patient) -> Iterator[Health]:
    if sys.platform == "darwin":
        program, trial = "sandbox-exec", ["-p", "(version 1)(allow default)", "/usr/bin/true"]
        install = "it is part of macOS; check that /usr/bin is in PATH"
    elif sys.platform.startswith("linux"):
        program, trial = "bwrap", ["--ro-bind", "/", "/", "--unshare-pid", "true"]
        install = "run: apt-get install bubblewrap (or your system's own package of it)"
    else:
        yield Health(
            "sandbox", "warning", f"there is no sandbox on {sys.platform}", "look at each command before you allow it"
        )
        return
    path = shutil.which(program)
    if path is None:
        yield Health("sandbox", "warning", f"{program} is not installed: commands run without a sandbox", install)
        return
    try:
        done = subprocess.run([path, *trial], capture_output=True, text=True, timeout=_TRIAL_SECONDS, check=False)
        said = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason given"])[0]
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    if said:
        fix = "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run outside of a container"
        yield Health("sandbox", "warning", f"{path} does not work here: {said}", fix)
    else:
        yield Health("sandbox", "ok", path)


CHECKS = (Check("python", check_python), Check("sandbox", check_sandbox))
