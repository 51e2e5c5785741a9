"""macOS: a profile for `sandbox-exec`. Generated and tested as text; it has not been run on a Mac (unverified)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from holdfast.core.messages import Phrase
from holdfast.runtime.sandbox import Found, Outside, Wrapped
from holdfast.runtime.sandbox_secrets import hidden_paths

_PROGRAM = "/usr/bin/sandbox-exec"
_TRIAL_SECONDS = 10.0
_MISSING = Phrase("sandbox.no_sandbox_exec", "sandbox-exec is missing", "缺少 sandbox-exec")
_PART_OF_MACOS = Phrase(
    "sandbox.part_of_macos",
    "it is part of macOS: look for /usr/bin/sandbox-exec",
    "它是 macOS 的一部分：请查找 /usr/bin/sandbox-exec",
)
_DOES_NOT_START = Phrase(
    "sandbox.sandbox_exec_fails", "sandbox-exec does not start: {error}", "sandbox-exec 无法启动：{error}"
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/dtracehelper")


class SandboxExec:
    """`sandbox-exec` with a profile of our own."""

    name = "sandbox-exec"

    def __init__(self, program: str, outside: Outside) -> None:
        self._program = program
        self._outside = outside

    def wrap(
        self,
        command: Sequence[str],
        *,
        vault: Path,
        cwd: Path,
        network: bool,
        env: Mapping[str, str],
        guarded: Sequence[Path] = (),
    ) -> Wrapped:
        text = profile(vault, self._outside, hidden_paths(self._outside), network=network, guarded=guarded)
        return Wrapped((self._program, "-p", text, *command), dict(env), str(cwd))

    def describe(self) -> str:
        return (
            "sandbox-exec: commands can write only to the vault and their own temporary folder, cannot read keys, and "
            "have no network unless it is allowed. This profile has not been verified on a Mac."
        )


def profile(
    vault: Path, outside: Outside, hidden: Sequence[Path], *, network: bool, guarded: Sequence[Path] = ()
) -> str:
    """The profile as text. In this language the last rule that matches decides."""
    return "\n".join(_lines(vault, outside, hidden, network=network, guarded=guarded))


def _lines(
    vault: Path, outside: Outside, hidden: Sequence[Path], *, network: bool, guarded: Sequence[Path]
) -> Iterator[str]:
    yield "(version 1)"
    yield "(deny default)"
    yield "(allow process-fork process-exec)"
    yield "(allow signal process-info* (target same-sandbox))"
    yield "(allow sysctl-read)"
    yield "(allow file-read*)"
    yield from (f"(allow file-read-data file-write-data (literal {_text(name)}))" for name in _DEVICES)
    yield '(allow file-read* file-write* (regex #"^/dev/fd/"))'
    yield '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))'
    yield "(allow ipc-posix-sem)"
    if network:
        yield "(allow network-outbound (remote ip))"
        yield "(allow network-inbound (local ip))"
        yield '(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd"))'
        yield '(allow network-outbound (literal "/private/var/run/mDNSResponder"))'
    yield from (f"(deny file-read* file-write* (subpath {_text(path)}))" for path in hidden)
    yield from (f"(allow file-read* (subpath {_text(path)}))" for path in outside.readable)
    yield from (f"(allow file-read* file-write* (subpath {_text(path)}))" for path in (vault, outside.temp))
    yield from (f"(deny file-write* (subpath {_text(path)}))" for path in guarded)
    if outside.home.is_relative_to(vault):
        yield f"(deny file-read* file-write* (subpath {_text(outside.home)}))"


def _text(path: Path | str) -> str:
    """A string of the profile's language."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def probe() -> Found:
    program = shutil.which(_PROGRAM)
    if program is None:
        return Found("none", why=_MISSING(), fix=_PART_OF_MACOS())
    try:
        done = subprocess.run(
            [program, "-p", "(version 1)(allow default)", "/usr/bin/true"],
            capture_output=True,
            text=True,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Found("none", why=_DOES_NOT_START(error=error))
    if done.returncode:
        return Found("none", why=_DOES_NOT_START(error=done.stderr.strip() or f"exit {done.returncode}"))
    return Found("sandbox-exec", program)
