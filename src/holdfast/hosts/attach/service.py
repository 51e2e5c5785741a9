"""Attach, detach, list: one host, in the user's settings or a project's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from holdfast._version import __version__
from holdfast.hosts.attach import engine
from holdfast.hosts.attach.claude_code import ClaudeCodeInstaller
from holdfast.hosts.attach.codex import CodexInstaller
from holdfast.hosts.attach.engine import FileChange
from holdfast.hosts.attach.gemini import GeminiInstaller
from holdfast.hosts.attach.json_file import AttachError
from holdfast.hosts.attach.opencode import OpenCodeInstaller
from holdfast.hosts.attach.spec import Installer, Spec, find_program
from holdfast.store.attached import Manifest, find, manifests

INSTALLERS: Mapping[str, Installer] = {
    one.name: one for one in (ClaudeCodeInstaller(), OpenCodeInstaller(), CodexInstaller(), GeminiInstaller())
}


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, or would be."""

    host: str
    changes: tuple[FileChange, ...]
    remarks: tuple[str, ...] = ()
    program: str = ""

    @property
    def changed(self) -> bool:
        return any(change.changes for change in self.changes)


def attach(host: str, spec: Spec, *, at: float, dry_run: bool = False, force: bool = False) -> Done:
    """Merge our entries into the host's settings; a second time nothing changes."""
    installer = installer_of(host)
    program = find_program(installer.program, spec.environ)
    missing = program is None and not installer.config_folder(spec).is_dir()
    absence = f"{installer.program} is not in PATH and {installer.config_folder(spec)} does not exist; install it first"
    if missing and not force and not dry_run:
        raise AttachError(f"{absence}, or say --force to write the settings all the same")
    known = find(spec.home, host, spec.scope, str(spec.vault))
    files = installer.files(spec)
    changes = engine.planned(files)
    remarks = (*installer.remarks(spec), *((f"{absence}.",) if missing else ()))
    done = Done(host, tuple(changes), remarks, program or "")
    if dry_run:
        return done
    records = engine.carry_out(files, changes, known)
    record = Manifest(
        host=host,
        scope=spec.scope,
        vault=str(spec.vault) if spec.scope == "project" else "",
        at=at,
        version=__version__,
        deadline=spec.deadline,
        port=spec.port,
        files=tuple(records),
        more={"server": spec.with_server},
    )
    if known is None or replace(known, at=at) != record:
        record.save(spec.home)
    return done


def detach(host: str, spec: Spec, *, dry_run: bool = False) -> Done:
    """Take our entries out; what nobody has touched since becomes byte for byte what it was."""
    installer = installer_of(host)
    known = find(spec.home, host, spec.scope, str(spec.vault))
    if known is None:
        where = f"project {spec.vault}" if spec.scope == "project" else "user's settings"
        raise AttachError(f"{host} is not attached in the {where}; `holdfast attach --list` shows what is")
    changes = engine.taken_back(known, installer.files(spec))
    if not dry_run:
        engine.undo(known, changes, spec.home)
    return Done(host, tuple(changes))


def installer_of(host: str) -> Installer:
    if host not in INSTALLERS:
        raise AttachError(f"no host {host!r}; there are: {', '.join(INSTALLERS)}")
    return INSTALLERS[host]


def attached(spec: Spec) -> Iterator[tuple[str, Manifest | None]]:
    """Every host with each of its attachments, or None."""
    known = list(manifests(spec.home))
    for host in INSTALLERS:
        yield from ((host, one) for one in known if one.host == host)
        if not any(one.host == host for one in known):
            yield host, None
