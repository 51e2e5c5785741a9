"""What a command needs before it can run: a sandbox, an environment, and whether it gets the network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.core.messages import Language
from holdfast.core.settings import BashSettings
from holdfast.runtime.sandbox import NoSandbox, Outside, Sandbox, Wrapped, detect, session_outside
from holdfast.runtime.sandbox_secrets import command_environment
from holdfast.runtime.tool import ToolContext, ToolFailure
from holdfast.runtime.tools.places import find_folder, vault_root
from holdfast.runtime.tools.vault_guard import VaultGuard, guard_of
from holdfast.shell import default_table, read_command
from holdfast.store.outputs import OutputStore

_SANDBOX = "bash.sandbox"
_NOTES = "bash.notes"
_NETWORK_EFFECTS = frozenset(("network", "installs", "external_state"))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A command ready to be started."""

    wrapped: Wrapped
    sandbox: Sandbox
    network: bool
    cwd: Path
    guard: VaultGuard


def prepare(context: ToolContext, command: str, workdir: str | None, report: int) -> Prepared:
    settings = context.settings.runtime.tools.bash
    place = find_folder(context, workdir)
    table = default_table().extended(context.settings.runtime.shell.commands)
    reading = read_command(command, cwd=str(place.path), home=str(Path.home()), table=table)
    network = settings.network == "on" or (
        settings.network == "judged" and any(effect.kind in _NETWORK_EFFECTS for effect in reading.effects)
    )
    vault = vault_root(context)
    guard = guard_of(vault, reading)
    sandbox = sandbox_of(context)
    temp = "/tmp" if sandbox.name == "bubblewrap" else str(outside_of(context).temp)
    wrapped = sandbox.wrap(
        shell_argv(command, report, settings.max_processes if sandbox.name != "none" else 0),
        vault=vault,
        cwd=place.path,
        network=network,
        env=command_environment(os.environ, network=network, passed=settings.pass_env, temp=temp),
        guarded=guard.paths,
    )
    return Prepared(wrapped, sandbox, network, place.path, guard)


def shell_argv(command: str, report: int, processes: int = 0) -> list[str]:
    """The shell that runs a command. What stands before it is on the same line, so that its line numbers stay right."""
    shell = shutil.which("bash") or "/bin/sh"
    limits = f"ulimit -c 0 -u {processes} 2>/dev/null; " if processes else ""
    flags = ["--noprofile", "--norc"] if shell.endswith("bash") else []
    return [shell, *flags, "-c", f"{limits}trap 'pwd -P >&{report} 2>/dev/null' EXIT; {command}"]


def sandbox_of(context: ToolContext) -> Sandbox:
    """The session's sandbox, built once."""
    settings = context.settings.runtime.tools.bash
    known: tuple[BashSettings, Sandbox] | None = context.memory.get(_SANDBOX)
    if known is not None and known[0] == settings:
        return known[1]
    sandbox: Sandbox
    if settings.sandbox == "off":
        sandbox = NoSandbox("tools.bash.sandbox is off")
    else:
        sandbox = detect().build(outside_of(context))
    context.memory[_SANDBOX] = (settings, sandbox)
    return sandbox


def outside_of(context: ToolContext) -> Outside:
    hidden = [Path(path).expanduser() for path in context.settings.runtime.tools.bash.hidden]
    try:
        return session_outside(context.home, context.where.session, hidden=hidden)
    except OSError as error:
        raise ToolFailure(
            f"No command can run: the temporary folder could not be made ({error}). Tell the user."
        ) from None


def language_of(context: ToolContext) -> Language:
    chosen = context.settings.runtime.language
    if chosen != "auto":
        return chosen
    return "zh" if os.environ.get("LANG", "").lower().startswith("zh") else "en"


class _MemoryNotes:
    """Notes for a context that brings no store: they live as long as the session's process."""

    def __init__(self, notes: dict[str, Any]) -> None:
        self._notes = notes

    def note(self, key: str, value: Any) -> None:
        if value is None:
            self._notes.pop(key, None)
        else:
            self._notes[key] = value

    def noted(self, key: str) -> Any:
        return self._notes.get(key)

    def notes(self, prefix: str) -> Mapping[str, Any]:
        return {key: value for key, value in self._notes.items() if key.startswith(prefix)}


def outputs_of(context: ToolContext) -> OutputStore:
    """Where full outputs go: the store's own place when the runner gave one."""
    if context.outputs is not None:
        return context.outputs
    return OutputStore(context.home / "data" / "outputs", _MemoryNotes(context.memory.setdefault(_NOTES, {})))


def hints(output: str, code: int, prepared: Prepared) -> Iterable[str]:
    """What the sandbox may have had to do with a failure."""
    if code == 0 or prepared.sandbox.name == "none":
        return
    if "Read-only file system" in output or ("Permission denied" in output and prepared.sandbox.name != "bubblewrap"):
        yield "[sandbox: only the vault and the temporary folder can be written to]"
    if not prepared.network and any(sign in output for sign in _NO_NETWORK):
        yield (
            "[sandbox: this command has no network. Name the address or use a known client (curl, git, pip, npm) so "
            "that it can be judged, or use web_fetch]"
        )


_NO_NETWORK = (
    "Network is unreachable", "Could not resolve host", "Temporary failure in name resolution", "ENETUNREACH",
    "EAI_AGAIN", "Name or service not known", "getaddrinfo",
)  # fmt: skip
