"""What the doctor can tell about the machine: the interpreter and the sandbox for commands (PE12)."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator

from holdfast.core.health import Health
from holdfast.core.messages import Phrase, plain
from holdfast.runtime.sandbox import detect
from holdfast.store.health import Check, Patient

OLDEST_PYTHON = (3, 11)

_OLD_PYTHON = Phrase("doctor.old_python", "Python {version} is too old", "Python {version} 过旧")
_NEWER = Phrase("doctor.newer_python", "use Python {wanted} or newer", "请使用 Python {wanted} 或更新的版本")
_NO_SANDBOX = Phrase("doctor.no_sandbox", "commands run without a sandbox: {why}", "命令在没有沙箱的情况下运行：{why}")
_LOOK = Phrase("doctor.look", "look at each command before you allow it", "允许之前请查看每条命令")
_SECOND_BEST = Phrase(
    "doctor.second_best",
    "{kind} confines commands, for lack of better: {why}",
    "由 {kind} 限制命令，因为没有更好的：{why}",
)
_CONFINED = Phrase(
    "doctor.confined",
    "nothing needs to be done; commands are confined, only less tightly",
    "无需处理；命令受到限制，只是没有那么严格",
)


def check_python(patient: Patient) -> Iterator[Health]:
    version = platform.python_version()
    if sys.version_info[:2] < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        yield Health("python", "problem", _OLD_PYTHON(version=version), _NEWER(wanted=wanted))
    else:
        yield Health("python", "ok", plain(f"Python {version}"))


def check_sandbox(patient: Patient) -> Iterator[Health]:
    """Each kind is tried for real, as it would be for a command."""
    found = detect(again=True)
    if found.kind == "none":
        yield Health("sandbox", "warning", _NO_SANDBOX(why=found.why or ""), found.fix or _LOOK())
    elif found.why:
        yield Health("sandbox", "warning", _SECOND_BEST(kind=found.kind, why=found.why), found.fix or _CONFINED())
    else:
        yield Health("sandbox", "ok", plain(f"{found.kind} {found.program}".rstrip()))


CHECKS = (Check("python", check_python), Check("sandbox", check_sandbox))
