"""Running commands where they can do no harm outside the vault (PE12): which sandboxes there are, which one is here.

Permission asks about what a command says; a sandbox holds what it does. Each kind is one module: `bubblewrap` and
`landlock` on Linux, `sandbox-exec` on macOS. Where there is none, that is said, and commands run as the user.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from holdfast.core.messages import Message, Phrase
from holdfast.store.file_names import file_name

_NONE_FOR = Phrase("sandbox.none_for", "there is none for {platform}", "{platform} 上没有沙箱")
_BOTH = Phrase("sandbox.both", "{one}; {other}", "{one}；{other}")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A command as it is really started."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str = "/"
    fds: tuple[int, ...] = ()
    """Handles that the command's starter needs; whoever starts it closes them afterwards."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What lies around the vault: whose machine this is and what is to be hidden from commands."""

    home: Path
    """Holdfast's own home: token, keys, database and audit."""
    user_home: Path
    temp: Path
    """A folder for this session alone; commands see it as their temporary folder."""
    hidden: tuple[Path, ...] = ()
    """Further paths of the user's choice."""
    readable: tuple[Path, ...] = ()
    """Exceptions inside what is hidden."""


class Sandbox(Protocol):
    """One way to confine a command."""

    @property
    def name(self) -> str: ...

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
        """The command inside. `vault` and the temporary folder are writable, `guarded` paths in the vault are not;
        `env` is the whole environment it gets."""
        ...

    def describe(self) -> str:
        """One sentence for the doctor and the approval card."""
        ...


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """Commands run with the user's own rights."""

    why: str
    name: str = "none"

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
        return Wrapped(tuple(command), dict(env), str(cwd))

    def describe(self) -> str:
        return f"No sandbox: commands run with all your rights ({self.why}). Look at each one before you allow it."


@dataclass(frozen=True, slots=True)
class Found:
    """What this machine has, and why not something better."""

    kind: str
    """bubblewrap, landlock, sandbox-exec or none."""
    program: str = ""
    reduced: bool = False
    """Bubblewrap without a user namespace of its own: only for root, where the system forbids them."""
    why: Message | None = None
    """None when it is the best there is."""
    fix: Message | None = None
    """What would bring a better one."""

    def build(self, outside: Outside) -> Sandbox:
        """The sandbox itself; modules are loaded only when they are used."""
        if self.kind == "bubblewrap":
            from holdfast.runtime.sandbox_bubblewrap import Bubblewrap  # noqa: PLC0415 - one of three is used

            return Bubblewrap(self.program, outside, user_namespace=not self.reduced)
        if self.kind == "landlock":
            from holdfast.runtime.sandbox_landlock import Landlock  # noqa: PLC0415 - the same

            return Landlock(outside)
        if self.kind == "sandbox-exec":
            from holdfast.runtime.sandbox_macos import SandboxExec  # noqa: PLC0415 - the same

            return SandboxExec(self.program, outside)
        return NoSandbox(self.why.text() if self.why else "")


_known: Found | None = None


def detect(*, again: bool = False) -> Found:
    """What this machine has; each kind is tried for real once."""
    global _known  # noqa: PLW0603 (a fact about the machine, found out once)
    if _known is None or again:
        _known = _detect()
    return _known


def _detect() -> Found:
    if sys.platform == "darwin":
        from holdfast.runtime import sandbox_macos  # noqa: PLC0415 - of its system only

        return sandbox_macos.probe()
    if not sys.platform.startswith("linux"):
        return Found("none", why=_NONE_FOR(platform=sys.platform))
    from holdfast.runtime import sandbox_bubblewrap, sandbox_landlock  # noqa: PLC0415 - of their system only

    found = sandbox_bubblewrap.probe()
    if found.kind != "none":
        return found
    other = sandbox_landlock.probe()
    if other.kind != "none":
        return Found(other.kind, why=found.why, fix=found.fix)
    return Found("none", why=_BOTH(one=found.why or "", other=other.why or ""), fix=found.fix)


def sweep_temporary(folder: Path, days: float = 7.0) -> None:
    """Remove temporary folders of sessions that ended without saying so."""
    oldest = time.time() - days * 86_400
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.stat().st_mtime < oldest and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)


def session_outside(home: Path, session: str, *, hidden: Sequence[Path] = ()) -> Outside:
    """What lies around, for one session; its temporary folder is made."""
    temp = home / "data" / "tmp" / file_name(session, longest=100)
    if not temp.is_dir():
        sweep_temporary(temp.parent)
        temp.mkdir(parents=True, exist_ok=True, mode=0o700)
    real_home = Path(os.path.realpath(home))
    return Outside(
        home=real_home,
        user_home=Path(os.path.realpath(Path.home())),
        temp=Path(os.path.realpath(temp)),
        hidden=tuple(hidden),
        readable=(real_home / "data" / "outputs",),
    )
