"""What the doctor can tell about the hosts: installed, attached, trusted, not switched off, heard of, their holes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.core.health import Health
from holdfast.hosts import host_switches as switches
from holdfast.hosts.attach.json_file import AttachError
from holdfast.hosts.attach.service import INSTALLERS
from holdfast.hosts.attach.spec import Installer, Spec, find_program, version_of
from holdfast.hosts.registry import HOSTS
from holdfast.hosts.seen import last_seen
from holdfast.store.attached import Manifest, manifests
from holdfast.store.config_file import ConfigError, load_config
from holdfast.store.health import Check, Patient
from holdfast.store.home import find_home, own_port
from holdfast.store.sqlite import SqliteStore

_LONG_SILENCE = 24 * 3600.0


def checks_of(host: str) -> Check:
    return Check(host, lambda patient: examine(INSTALLERS[host], patient, dict(os.environ), Path.home()))


def examine(installer: Installer, patient: Patient, environ: Mapping[str, str], user_home: Path) -> Iterator[Health]:
    """Everything about one host."""
    host = installer.name
    program = find_program(installer.program, environ)
    attached = [manifest for manifest in manifests(patient.home) if manifest.host == host]
    if not attached:
        there = f"{program} is there, but not attached" if program else "not installed, not attached"
        yield Health(host, "ok", f"{there}; `holdfast attach {host}` puts it under control")
        return
    yield from _version(installer, program, environ)
    for manifest in attached:
        spec = spec_of(manifest, patient, environ, user_home)
        yield from _entries(installer, manifest, spec)
        yield from _reach(host, manifest, patient)
        yield from switches.LOOK[host](installer, spec, program)
    yield from _heard_of(host, patient, min(manifest.at for manifest in attached))
    for note in HOSTS[host].capabilities.notes:
        yield Health(f"{host} limits", "ok", f"known, and not to be closed from outside: {note}")


def spec_of(manifest: Manifest, patient: Patient, environ: Mapping[str, str], user_home: Path) -> Spec:
    """The attachment as it would be made today."""
    token = _text(patient.home.run / "token")
    vault = Path(manifest.vault) if manifest.vault else (patient.vault or Path.cwd())
    return Spec(
        home=patient.home,
        scope=manifest.scope,
        vault=vault,
        user_home=user_home,
        deadline=manifest.deadline,
        port=manifest.port,
        token=token,
        environ=environ,
        names_home=find_home(environ={"HOME": str(user_home)}).root != patient.home.root,
        python=sys.executable,
        with_server=manifest.more.get("server") is not False,
    )


def _version(installer: Installer, program: str | None, environ: Mapping[str, str]) -> Iterator[Health]:
    host = installer.name
    if program is None:
        fix = f"install {installer.program}, or `holdfast detach {host}` if it is gone for good"
        yield Health(host, "warning", f"attached, but {installer.program} is not in PATH", fix)
        return
    found = version_of(program, environ)
    if not found:
        yield Health(host, "warning", f"{program} does not tell its version", f"run: {program} --version")
    elif _numbers(found) == _numbers(installer.tested):
        yield Health(host, "ok", f"{program} {found}, the version that was tested")
    else:
        age = "newer" if _numbers(found) > _numbers(installer.tested) else "older"
        what = f"{program} {found} is {age} than {installer.tested}, with which Holdfast was tested"
        yield Health(host, "warning", what, "watch the first session: `holdfast audit show` lists every call it sees")


def _entries(installer: Installer, manifest: Manifest, spec: Spec) -> Iterator[Health]:
    """Whether our entries still stand in the host's settings, as this version would write them."""
    host = installer.name
    again = f"run: holdfast attach {host}{' --project' if manifest.scope == 'project' else ''}"
    wrong = False
    try:
        wanted = {str(file.path): file for file in installer.files(spec)}
    except AttachError as error:
        yield Health(host, "problem", str(error), "mend that file, then attach again")
        return
    for record in manifest.files:
        file = wanted.get(record.path)
        try:
            text = Path(record.path).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            wrong = True
            yield Health(host, "problem", f"{record.path} is gone", again)
            continue
        if file is None or record.kind == "own":
            continue
        try:
            changed = file.applied(text) != text
        except AttachError as error:
            yield Health(host, "problem", str(error), "mend that file, then attach again")
            wrong = True
            continue
        if changed:
            wrong = True
            yield Health(host, "problem", f"{record.path} lacks entries of ours, or has old ones", again)
    if not wrong:
        where = manifest.vault or "your settings"
        yield Health(host, "ok", f"attached in {where} since {time.strftime('%Y-%m-%d', time.localtime(manifest.at))}")


def _reach(host: str, manifest: Manifest, patient: Patient) -> Iterator[Health]:
    ports = own_port(patient.home)
    if host == "claude-code" and ports and manifest.port not in ports:
        what = f"its hooks speak to port {manifest.port}, the daemon listens on {ports[0]}"
        yield Health(host, "problem", what, f"run: holdfast attach {host}")
    try:
        wait = load_config(patient.home.config, patient.inline).settings.runtime.permission.approval_timeout_seconds
    except ConfigError:
        return  # the check of the configuration says it
    if wait + 5 > manifest.deadline:
        what = f"questions may wait {wait:g} s, but {host} was told that hooks take {manifest.deadline} s at most"
        yield Health(host, "warning", what, f"run: holdfast attach {host}")


def _heard_of(host: str, patient: Patient, since: float) -> Iterator[Health]:
    at = None
    if patient.home.database.exists():
        store = SqliteStore(patient.home.database, audit_dir=patient.home.audit)
        try:
            at = last_seen(store, host)
        finally:
            store.close()
    if at is not None and at >= since:
        yield Health(host, "ok", f"last heard of {_ago(time.time() - at)} ago")
    elif time.time() - since > _LONG_SILENCE:
        fix = "start a session in it; if it stays silent its hooks are not called"
        yield Health(host, "warning", "it was attached more than a day ago and has not been heard of since", fix)
    else:
        yield Health(host, "ok", "not heard of yet; its first session will say hello")


def _ago(seconds: float) -> str:
    for size, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("-", maxsplit=1)[0].split("."))


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


CHECKS = tuple(checks_of(host) for host in INSTALLERS)
