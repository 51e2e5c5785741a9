"""What every installer is told, and what it hands back."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from holdfast.core.messages import Language
from holdfast.hosts.attach.engine import WantedFile
from holdfast.store.attached import Scope
from holdfast.store.home import Home

TEXTS = Path(__file__).parent.parent / "texts"
CLIENT = Path(__file__).parent.parent.parent / "doors" / "hook_client.py"
PLUGIN = Path(__file__).parent.parent / "opencode_plugin.js"
HOST_MARGIN_SECONDS = 20
"""How much longer the host waits than we do, so that our answer always comes first."""
_VERSION_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Spec:
    """One attachment: whose settings, and how our side is reached."""

    home: Home
    scope: Scope
    vault: Path
    """The project; for the user's own settings only where the command was given."""
    user_home: Path
    deadline: int
    """Seconds that we take at most; the host is told to wait longer."""
    port: int
    token: str
    environ: Mapping[str, str] = field(default_factory=dict)
    language: Language = "en"
    python: str = sys.executable
    with_server: bool = True
    """False: without the MCP server, so without recall and proposals."""
    names_home: bool = False
    """True when the home is not where it would be looked for."""

    @property
    def timeout(self) -> int:
        """Seconds that the host waits."""
        return self.deadline + HOST_MARGIN_SECONDS

    def client(self, host: str, *, start: bool = True) -> list[str]:
        """The hook command; at the end of a session nothing is started any more."""
        how = ["start"] if start else []
        return [self.python, "-I", "-S", str(CLIENT), host, str(self.home.root), str(self.deadline), *how]

    def client_line(self, host: str, *, start: bool = True) -> str:
        return shlex.join(self.client(host, start=start))

    def closed_line(self, host: str) -> str:
        """The same before a call: these hosts let it pass when a hook ends in a way they do not know (killed, its
        Python gone), so the shell that started it then blocks."""
        said = f"Holdfast's hook ended before it had answered, so this call was blocked. Run `holdfast doctor {host}`."
        return f"{self.client_line(host)} || {{ [ $? = 2 ] || echo {shlex.quote(said)} >&2; exit 2; }}"

    def server(self) -> list[str]:
        """The MCP server's command."""
        return [*self._holdfast(), "mcp"]

    def starter(self) -> list[str]:
        """What starts the daemon."""
        return [*self._holdfast(), "daemon", "start"]

    def _holdfast(self) -> list[str]:
        home = ["--home", str(self.home.root)] if self.names_home else []
        return [self.python, "-m", "holdfast", *home]

    def text(self, name: str) -> str:
        """One of our texts for models, in the user's language."""
        return (TEXTS / f"{name}.{self.language}.md").read_text(encoding="utf-8")

    def folder(self, variable: str, *default: str) -> Path:
        """A folder that a variable may have moved."""
        given = self.environ.get(variable, "").strip()
        return Path(given) if given else self.user_home.joinpath(*default)


class Installer(Protocol):
    """Knows one host's files."""

    @property
    def name(self) -> str: ...

    @property
    def program(self) -> str:
        """The host's command."""
        ...

    @property
    def tested(self) -> str:
        """The version that our tests drive."""
        ...

    def config_folder(self, spec: Spec) -> Path:
        """Where the host keeps its settings; its being there shows that the host is used."""
        ...

    def files(self, spec: Spec) -> Sequence[WantedFile]: ...

    def remarks(self, spec: Spec) -> Sequence[str]:
        """What the user should know about this host."""
        ...


def find_program(name: str, environ: Mapping[str, str]) -> str | None:
    return shutil.which(name, path=environ.get("PATH"))


def version_of(program: str, environ: Mapping[str, str]) -> str:
    """What `--version` prints, without its words; empty when it cannot be asked."""
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env=dict(environ),
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = (word.strip("v(),") for word in done.stdout.split())
    return next((word for word in words if word[:1].isdigit() and "." in word), "")


def markdown(about: Mapping[str, Any], body: str) -> str:
    """A Markdown file with YAML frontmatter of plain strings, lists and maps."""
    lines = ["---"]
    for key, value in about.items():
        if isinstance(value, Mapping):
            lines.append(f"{key}:")
            lines += [f"  {name}: {_scalar(part)}" for name, part in value.items()]
        else:
            lines.append(f"{key}: {_scalar(value)}")
    return "\n".join([*lines, "---", "", body])


def _scalar(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
