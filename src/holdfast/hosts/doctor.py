"""What the doctor can tell about the hosts: installed, attached, trusted, not switched off, heard of, their holes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.core.health import RUN, Health
from holdfast.core.messages import Message, Phrase
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

_NOT_ATTACHED = Phrase(
    "doctor.not_attached",
    "{program} is there, but not attached; `holdfast attach {host}` puts it under control",
    "{program} 已安装，但未接入；`holdfast attach {host}` 可将其纳入管控",
)
_NOT_THERE = Phrase(
    "doctor.not_there",
    "not installed, not attached; once it is there, `holdfast attach {host}` puts it under control",
    "未安装，未接入；安装后 `holdfast attach {host}` 可将其纳入管控",
)
_LIMIT = Phrase("doctor.limit", "known, and not to be closed from outside: {note}", "已知且无法从外部弥补：{note}")
_NOT_IN_PATH = Phrase(
    "doctor.not_in_path", "attached, but {program} is not in PATH", "已接入，但 PATH 中没有 {program}"
)
_INSTALL = Phrase(
    "doctor.install",
    "install {program}, or `holdfast detach {host}` if it is gone for good",
    "安装 {program}；若不再使用，运行 `holdfast detach {host}`",
)
_NO_VERSION = Phrase("doctor.no_version", "{program} does not tell its version", "{program} 不告知其版本")
_TESTED = Phrase(
    "doctor.tested", "{program} {version}, the version that was tested", "{program} {version}，即测试过的版本"
)
_NEWER = Phrase(
    "doctor.newer",
    "{program} {version} is newer than {tested}, with which Holdfast was tested",
    "{program} {version} 比 Holdfast 测试过的 {tested} 新",
)
_OLDER = Phrase(
    "doctor.older",
    "{program} {version} is older than {tested}, with which Holdfast was tested",
    "{program} {version} 比 Holdfast 测试过的 {tested} 旧",
)
_WATCH = Phrase(
    "doctor.watch",
    "watch the first session: `holdfast audit show` lists every call it sees",
    "留意第一个会话：`holdfast audit show` 会列出它看到的每次调用",
)
_MEND = Phrase("doctor.mend_file", "mend that file, then attach again", "修复该文件，然后重新接入")
_FILE_GONE = Phrase("doctor.file_gone", "{path} is gone", "{path} 已不存在")
_OLD_ENTRIES = Phrase(
    "doctor.old_entries", "{path} lacks entries of ours, or has old ones", "{path} 缺少 Holdfast 的条目，或条目已过时"
)
_ELSEWHERE = Phrase(
    "doctor.elsewhere",
    "in this environment {program} reads its settings from {folder}, where nothing of ours is",
    "在当前环境中，{program} 从 {folder} 读取设置，而那里没有 Holdfast 的条目",
)
_ATTACHED = Phrase("doctor.attached", "attached in {where} since {day}", "自 {day} 起接入{where}")
_YOUR_SETTINGS = Phrase("doctor.your_settings", "your settings", "你的设置")
_OTHER_PORT = Phrase(
    "doctor.other_port",
    "its hooks speak to port {theirs}, the daemon listens on {ours}",
    "其钩子连接端口 {theirs}，而守护进程监听 {ours}",
)
_SHORT_DEADLINE = Phrase(
    "doctor.short_deadline",
    "questions may wait {wait} s, but {host} was told that hooks take {deadline} s at most",
    "询问最多可等待 {wait} 秒，但告知 {host} 的钩子期限只有 {deadline} 秒",
)
_HEARD = Phrase("doctor.heard", "last heard of {ago} ago", "最近一次联系：{ago}前")
_DAYS = Phrase("doctor.days", "{n} days", "{n} 天")
_HOURS = Phrase("doctor.hours", "{n} hours", "{n} 小时")
_MINUTES = Phrase("doctor.minutes", "{n} minutes", "{n} 分钟")
_SECONDS = Phrase("doctor.seconds", "{n} seconds", "{n} 秒")
_SILENT = Phrase(
    "doctor.silent",
    "it was attached more than a day ago and has not been heard of since",
    "接入已超过一天，此后没有任何联系",
)
_START_ONE = Phrase(
    "doctor.start_one",
    "start a session in it; if it stays silent its hooks are not called",
    "在其中开始一个会话；若仍无联系，说明其钩子未被调用",
)
_NOT_YET = Phrase(
    "doctor.not_yet", "not heard of yet; its first session will say hello", "尚无联系；它的第一个会话会打招呼"
)


def checks_of(host: str) -> Check:
    return Check(host, lambda patient: examine(INSTALLERS[host], patient, dict(os.environ), Path.home()))


def examine(installer: Installer, patient: Patient, environ: Mapping[str, str], user_home: Path) -> Iterator[Health]:
    """Everything about one host."""
    host = installer.name
    program = find_program(installer.program, environ)
    attached = [manifest for manifest in manifests(patient.home) if manifest.host == host]
    if not attached:
        yield Health(host, "ok", _NOT_ATTACHED(program=program, host=host) if program else _NOT_THERE(host=host))
        return
    yield from _version(installer, program, environ)
    for manifest in attached:
        spec = spec_of(manifest, patient, environ, user_home)
        yield from _entries(installer, manifest, spec)
        yield from _reach(host, manifest, patient)
        yield from switches.LOOK[host](installer, spec, program)
    yield from _heard_of(host, patient, min(manifest.at for manifest in attached))
    for note in HOSTS[host].capabilities.notes:
        yield Health(f"{host} limits", "ok", _LIMIT(note=note()))


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
        fix = _INSTALL(program=installer.program, host=host)
        yield Health(host, "warning", _NOT_IN_PATH(program=installer.program), fix)
        return
    found = version_of(program, environ)
    if not found:
        yield Health(host, "warning", _NO_VERSION(program=program), RUN(command=f"{program} --version"))
    elif _numbers(found) == _numbers(installer.tested):
        yield Health(host, "ok", _TESTED(program=program, version=found))
    else:
        other = _NEWER if _numbers(found) > _numbers(installer.tested) else _OLDER
        what = other(program=program, version=found, tested=installer.tested)
        yield Health(host, "warning", what, _WATCH())


def _entries(installer: Installer, manifest: Manifest, spec: Spec) -> Iterator[Health]:
    """Whether our entries still stand in the host's settings, as this version would write them."""
    host = installer.name
    again = RUN(command=f"holdfast attach {host}{' --project' if manifest.scope == 'project' else ''}")
    wrong = False
    try:
        wanted = {str(file.path): file for file in installer.files(spec)}
    except AttachError as error:
        yield Health(host, "problem", error.message, _MEND())
        return
    folder = installer.config_folder(spec)
    if manifest.scope == "user" and not any(Path(one.path).is_relative_to(folder) for one in manifest.files):
        wrong = True
        yield Health(host, "problem", _ELSEWHERE(program=installer.program, folder=folder), again)
    for record in manifest.files:
        file = wanted.get(record.path)
        try:
            text = Path(record.path).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            wrong = True
            yield Health(host, "problem", _FILE_GONE(path=record.path), again)
            continue
        if file is None or record.kind == "own":
            continue
        try:
            changed = file.applied(text) != text
        except AttachError as error:
            yield Health(host, "problem", error.message, _MEND())
            wrong = True
            continue
        if changed:
            wrong = True
            yield Health(host, "problem", _OLD_ENTRIES(path=record.path), again)
    if not wrong:
        day = time.strftime("%Y-%m-%d", time.localtime(manifest.at))
        yield Health(host, "ok", _ATTACHED(where=manifest.vault or _YOUR_SETTINGS(), day=day))


def _reach(host: str, manifest: Manifest, patient: Patient) -> Iterator[Health]:
    ports = own_port(patient.home)
    if host == "claude-code" and ports and manifest.port not in ports:
        what = _OTHER_PORT(theirs=manifest.port, ours=ports[0])
        yield Health(host, "problem", what, RUN(command=f"holdfast attach {host}"))
    try:
        wait = load_config(patient.home.config, patient.inline).settings.runtime.permission.approval_timeout_seconds
    except ConfigError:
        return  # the check of the configuration says it
    if wait + 5 > manifest.deadline:
        what = _SHORT_DEADLINE(wait=f"{wait:g}", host=host, deadline=manifest.deadline)
        yield Health(host, "warning", what, RUN(command=f"holdfast attach {host}"))


def _heard_of(host: str, patient: Patient, since: float) -> Iterator[Health]:
    at = None
    if patient.home.database.exists():
        store = SqliteStore(patient.home.database, audit_dir=patient.home.audit)
        try:
            at = last_seen(store, host)
        finally:
            store.close()
    if at is not None and at >= since:
        yield Health(host, "ok", _HEARD(ago=_ago(time.time() - at)))
    elif time.time() - since > _LONG_SILENCE:
        yield Health(host, "warning", _SILENT(), _START_ONE())
    else:
        yield Health(host, "ok", _NOT_YET())


def _ago(seconds: float) -> Message:
    for size, name in ((86_400, _DAYS), (3600, _HOURS), (60, _MINUTES)):
        if seconds >= 2 * size:
            return name(n=f"{seconds / size:.0f}")
    return _SECONDS(n=f"{seconds:.0f}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("-", maxsplit=1)[0].split("."))


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


CHECKS = tuple(checks_of(host) for host in INSTALLERS)
