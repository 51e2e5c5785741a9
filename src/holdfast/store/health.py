"""What the doctor can tell about the home and what lies in it. Looking changes no setting and no record.

A check is a function from a patient to findings; other rooms add their own in a module with `CHECKS`.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.core.health import RUN, Health
from holdfast.core.messages import Phrase, plain
from holdfast.store.agent_files import chosen_agent_problem, load_agents
from holdfast.store.config_file import ConfigError, Inline, load_config
from holdfast.store.credentials import CredentialsError, read_credentials
from holdfast.store.home import Home
from holdfast.store.interface import StoreError
from holdfast.store.migrations import MIGRATIONS, require_known, version_of
from holdfast.store.sqlite import SqliteStore

_LITTLE_SPACE = 200_000_000

_NOT_YET = Phrase("doctor.no_home", "{path} is not there yet", "{path} 尚不存在")
_OPEN = Phrase("doctor.open_home", "{path} is open to others (mode {mode})", "{path} 对他人开放（权限 {mode}）")
_OTHER_USER = Phrase("doctor.other_user", "{path} belongs to another user", "{path} 属于另一个用户")
_NOT_WRITABLE = Phrase("doctor.not_writable", "not writable: {names}", "不可写：{names}")
_LACKS = Phrase("doctor.lacks", "{path} lacks {names}", "{path} 缺少 {names}")
_LITTLE = Phrase("doctor.little_space", "only {free} MB are free where {path} lies", "{path} 所在的磁盘只剩 {free} MB")
_MAKE_ROOM = Phrase("doctor.make_room", "make room on that disk", "请在该磁盘上腾出空间")
_MEND_CONFIG = Phrase(
    "doctor.mend_config",
    "mend that place; `holdfast config validate` checks it",
    "修正该处；`holdfast config validate` 可检查",
)
_AT = Phrase("doctor.at", "{path}: {what}", "{path}：{what}")
_DEFAULTS = Phrase("doctor.defaults", "defaults only", "仅默认值")
_ONE_RULE = Phrase("doctor.one_rule", "1 rule of yours", "你的规则 1 条")
_RULES = Phrase("doctor.rules", "{count} rules of yours", "你的规则 {count} 条")
_MEND_AGENT = Phrase(
    "doctor.mend_agent",
    "mend agent.id, or write that agent into {folder}",
    "修正 agent.id，或在 {folder} 中写入该智能体",
)
_AGENT_LEFT_OUT = Phrase(
    "doctor.agent_left_out", "mend that place; until then the agent is left out", "修正该处；在此之前该智能体不可用"
)
_CHECK_CREDENTIALS = Phrase(
    "doctor.check_credentials",
    "run: chmod 600 {path}, and check its lines",
    "运行：`chmod 600 {path}`，并检查其各行",
)
_WRITABLE_BY_OTHERS = Phrase("doctor.writable_by_others", "{path} can be written by others", "{path} 可被他人写入")
_NOTHING_YET = Phrase("doctor.nothing_yet", "nothing recorded yet", "尚无记录")
_RESTORE = Phrase(
    "doctor.restore",
    "move {path} away and put back the newest {name}.bak-v*, or start anew",
    "移走 {path}，放回最新的 {name}.bak-v*，或重新开始",
)
_UPDATE = Phrase("doctor.update", "update Holdfast", "更新 Holdfast")
_UNREADABLE = Phrase("doctor.unreadable", "{path} cannot be read: {error}", "{path} 无法读取：{error}")
_DAMAGED = Phrase("doctor.damaged", "{path} is damaged: {verdict}", "{path} 已损坏：{verdict}")
_OLD_FORMAT = Phrase(
    "doctor.old_format",
    "{path} has format {version}; the next start brings it to {newest}, after a copy",
    "{path} 的格式为 {version}；下次启动会先备份再升级到 {newest}",
)
_RUN_ANY = Phrase(
    "doctor.run_any",
    "run any command that records, such as: holdfast chat",
    "运行任一会记录的命令，例如 `holdfast chat`",
)
_FORMAT = Phrase("doctor.format", "{path}, format {version}", "{path}，格式 {version}")
_FIND_OUT = Phrase(
    "doctor.find_out",
    "find out who changed it; `holdfast audit show` has the store's copy",
    "查明是谁更改的；`holdfast audit show` 有数据库中的副本",
)
_WHOLE = Phrase(
    "doctor.audit_whole",
    "{entries} entries in {files} files, all as they were written",
    "{files} 个文件中的 {entries} 个条目均与写入时一致",
)


@dataclass(frozen=True, slots=True)
class Patient:
    """What the checks look at."""

    home: Home
    inline: Inline
    vault: Path | None = None
    """None where the starting directory cannot be one."""


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    look: Callable[[Patient], Iterable[Health]]


def check_home(patient: Patient) -> Iterator[Health]:
    home = patient.home
    if not home.root.is_dir():
        yield Health("home", "warning", _NOT_YET(path=home.root), RUN(command="holdfast init"))
        return
    if mode := home.open_to_others():
        yield Health("home", "problem", _OPEN(path=home.root, mode=mode), RUN(command=f"chmod 700 {home.root}"))
    if home.root.stat().st_uid != os.geteuid():
        yield Health("home", "problem", _OTHER_USER(path=home.root), RUN(command=f"chown -R $(id -u) {home.root}"))
    closed = [folder for folder in home.folders() if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK)]
    if closed:
        names = ", ".join(map(str, closed))
        yield Health("home", "problem", _NOT_WRITABLE(names=names), RUN(command=f"chmod -R u+rwX {home.root}"))
    missing = [folder.name for folder in home.folders() if not folder.is_dir()]
    if missing:
        yield Health("home", "warning", _LACKS(path=home.root, names=", ".join(missing)), RUN(command="holdfast init"))
    free = shutil.disk_usage(home.root).free
    if free < _LITTLE_SPACE:
        yield Health("disk", "problem", _LITTLE(free=free // 1_000_000, path=home.root), _MAKE_ROOM())
    yield Health("home", "ok", plain(str(home.root)))


def check_config(patient: Patient) -> Iterator[Health]:
    home = patient.home
    try:
        config = load_config(home.config, patient.inline)
    except ConfigError as error:
        for problem in error.problems:
            yield Health("config", "problem", problem.told(), _MEND_CONFIG())
    else:
        count = len(config.rules)
        known = _DEFAULTS() if not config.layers else _ONE_RULE() if count == 1 else _RULES(count=count)
        yield Health("config", "ok", _AT(path=home.config, what=known))
        missing = chosen_agent_problem(config, load_agents(home.agents))
        if missing is not None:
            yield Health("agents", "problem", missing.told(), _MEND_AGENT(folder=home.agents))
    for problem in load_agents(home.agents).problems:
        yield Health("agents", "problem", problem.told(), _AGENT_LEFT_OUT())
    try:
        read_credentials(home.credentials)
    except CredentialsError as error:
        yield Health("credentials", "problem", error.message, _CHECK_CREDENTIALS(path=home.credentials))
    if home.config.exists() and stat.S_IMODE(home.config.stat().st_mode) & 0o022:
        yield Health(
            "config", "problem", _WRITABLE_BY_OTHERS(path=home.config), RUN(command=f"chmod go-w {home.config}")
        )


def check_store(patient: Patient) -> Iterator[Health]:
    path = patient.home.database
    if not path.exists():
        yield Health("store", "ok", _NOTHING_YET())
        return
    restore = _RESTORE(path=path, name=path.name)
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
        try:
            version = version_of(connection)
            require_known(path, version)
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        finally:
            connection.close()
    except StoreError as error:
        yield Health("store", "problem", error.message, _UPDATE())
        return
    except sqlite3.Error as error:
        yield Health("store", "problem", _UNREADABLE(path=path, error=error), restore)
        return
    if verdict != "ok":
        yield Health("store", "problem", _DAMAGED(path=path, verdict=verdict), restore)
    elif version < len(MIGRATIONS):
        what = _OLD_FORMAT(path=path, version=version, newest=len(MIGRATIONS))
        yield Health("store", "warning", what, _RUN_ANY())
    else:
        yield Health("store", "ok", _FORMAT(path=path, version=version))


def check_audit(patient: Patient) -> Iterator[Health]:
    if not patient.home.database.exists() or any(finding.level != "ok" for finding in check_store(patient)):
        return
    store = SqliteStore(patient.home.database, audit_dir=patient.home.audit)
    try:
        report = store.verify_audit()
    finally:
        store.close()
    for problem in report.problems:
        yield Health("audit", "problem", problem.told(), _FIND_OUT())
    if report.ok:
        yield Health("audit", "ok", _WHOLE(entries=report.entries, files=report.files))


CHECKS = (
    Check("home", check_home),
    Check("config", check_config),
    Check("store", check_store),
    Check("audit", check_audit),
)
