"""Where things live: the Home (`~/.holdfast`) with its rooms, and the Vault, the directory an agent works in."""

from __future__ import annotations

import contextlib
import os
import pwd
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.core.messages import Phrase, TellableError

HOME_VARIABLE = "HOLDFAST_HOME"

_NO_FOLDER = Phrase(
    "vault.no_folder",
    "{folder} is not a directory; name one that is there by --vault",
    "{folder} 不是目录；请用 --vault 指定一个存在的目录",
)
_EVERYTHING = Phrase(
    "vault.everything",
    "{vault} cannot be a vault, because everything lies in it; go into a project, or name one by --vault",
    "{vault} 不能作为项目目录，因为一切都在其中；请进入一个项目，或用 --vault 指定",
)
_YOUR_HOME = Phrase(
    "vault.your_home",
    "{vault} is your home directory and cannot be a vault; go into a project, or name one by --vault",
    "{vault} 是你的主目录，不能作为项目目录；请进入一个项目，或用 --vault 指定",
)
_HOME_BY_GIT = Phrase(
    "vault.home_by_git",
    "{vault} (the git top level of {start}) is your home directory and cannot be a vault; go into a project, or name "
    "one by --vault",
    "{vault}（{start} 的 git 顶层）是你的主目录，不能作为项目目录；请进入一个项目，或用 --vault 指定",
)
_OURS = Phrase(
    "vault.ours",
    "{vault} belongs to Holdfast itself and cannot be a vault; go into a project, or name one by --vault",
    "{vault} 属于 Holdfast 自身，不能作为项目目录；请进入一个项目，或用 --vault 指定",
)


class HomeError(TellableError):
    """The home cannot be used; the message says why and what to do."""


class VaultError(TellableError):
    """The directory cannot be a vault; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Home:
    """Paths only; nothing is made before `create`."""

    root: Path

    @property
    def config(self) -> Path:
        return self.root / "config.jsonc"

    @property
    def credentials(self) -> Path:
        return self.root / "credentials"

    @property
    def agents(self) -> Path:
        return self.root / "agents"

    @property
    def tools(self) -> Path:
        return self.root / "tools"

    @property
    def hooks(self) -> Path:
        return self.root / "hooks"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def audit(self) -> Path:
        return self.logs / "agent-audit"

    @property
    def run(self) -> Path:
        """Socket and token of the daemon."""
        return self.root / "run"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def database(self) -> Path:
        return self.data / "holdfast.db"

    @property
    def outputs(self) -> Path:
        return self.data / "outputs"

    @property
    def archive(self) -> Path:
        return self.data / "archive"

    @property
    def trash(self) -> Path:
        return self.data / "trash"

    def folders(self) -> tuple[Path, ...]:
        """Parents before children."""
        return (
            self.root,
            self.agents,
            self.tools,
            self.hooks,
            self.logs,
            self.audit,
            self.run,
            self.data,
            self.outputs,
            self.archive,
            self.trash,
        )

    def create(self) -> tuple[Path, ...]:
        """Make what is missing, for nobody but the user, and leave what is there; returns what was made."""
        made = []
        for folder in self.folders():
            try:
                if folder == self.root:
                    folder.parent.mkdir(parents=True, exist_ok=True)
                folder.mkdir(mode=0o700)
            except FileExistsError:
                blocking = next((path for path in (folder, *folder.parents) if path.is_file()), None)
                if blocking is not None or not folder.is_dir():
                    raise HomeError(f"{blocking or folder} is a file where a folder is needed; move it away") from None
            except OSError as error:
                raise HomeError(
                    f"{folder} cannot be made: {error.strerror or error}; "
                    f"give another home by --home or {HOME_VARIABLE}, or mend the permissions of {folder.parent}"
                ) from None
            else:
                made.append(folder)
        return tuple(made)

    def open_to_others(self) -> str | None:
        """The octal mode when others may look in, else None."""
        mode = stat.S_IMODE(self.root.stat().st_mode)
        return f"{mode:04o}" if mode & 0o077 else None


def find_home(option: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Home:
    """`--home`, else `$HOLDFAST_HOME`, else `~/.holdfast`."""
    environ = os.environ if environ is None else environ
    given = option or environ.get(HOME_VARIABLE, "").strip()
    try:
        root = Path(given).expanduser() if given else _user_home(environ) / ".holdfast"
    except RuntimeError:
        raise HomeError(f"{given!r} names a home that cannot be found; give a full path") from None
    return Home(root if root.is_absolute() else Path.cwd() / root)


def _user_home(environ: Mapping[str, str]) -> Path:
    if home := environ.get("HOME"):
        return Path(home)
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise HomeError(f"HOME is not set; set it, or name a home by --home or {HOME_VARIABLE}") from None


def find_vault(
    option: str | Path | None = None,
    start: Path | None = None,
    *,
    home: Home | None = None,
    environ: Mapping[str, str] | None = None,
) -> Path:
    """`--vault`, else the git top level of the starting directory, else that directory; always a real path."""
    environ = os.environ if environ is None else environ
    begin = Path(option).expanduser() if option else (start or Path.cwd())
    if not begin.is_dir():
        raise VaultError(_NO_FOLDER(folder=begin))
    real = Path(os.path.realpath(begin))
    vault = real if option else (git_top_level(real) or real)
    if vault == Path(vault.anchor):
        raise VaultError(_EVERYTHING(vault=vault))
    if vault in _homes(environ):
        raise VaultError(_YOUR_HOME(vault=vault) if vault == real else _HOME_BY_GIT(vault=vault, start=real))
    if home is not None and vault.is_relative_to(os.path.realpath(home.root)):
        raise VaultError(_OURS(vault=vault))
    return vault


def git_top_level(start: Path) -> Path | None:
    """The nearest directory, upwards, that holds `.git` (a folder, or a file in worktrees and submodules)."""
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return None


def _homes(environ: Mapping[str, str]) -> set[Path]:
    """Both what HOME says and what the system knows: HOME may have been changed for this process."""
    homes = {os.path.realpath(environ["HOME"])} if environ.get("HOME") else set()
    with contextlib.suppress(KeyError):
        homes.add(os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir))
    return {Path(home) for home in homes}


def own_port(home: Home) -> tuple[int, ...]:
    """Where the daemon listens on loopback; empty when it never did."""
    return _numbers(home.run / "port")


def own_pids(home: Home) -> tuple[int, ...]:
    """The daemon's processes, as far as it wrote them down."""
    return _numbers(home.run / "daemon.lock")


def _numbers(path: Path) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in path.read_text().split())
    except (OSError, ValueError):
        return ()
