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

from holdfast.core.health import Health
from holdfast.store.agent_files import chosen_agent_problem, load_agents
from holdfast.store.config_file import ConfigError, Inline, load_config
from holdfast.store.credentials import CredentialsError, read_credentials
from holdfast.store.home import Home
from holdfast.store.interface import StoreError
from holdfast.store.migrations import MIGRATIONS, require_known, version_of
from holdfast.store.sqlite import SqliteStore

_LITTLE_SPACE = 200_000_000


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
        yield Health("home", "warning", f"{home.root} is not there yet", "run: holdfast init")
        return
    if mode := home.open_to_others():
        yield Health("home", "problem", f"{home.root} is open to others (mode {mode})", f"run: chmod 700 {home.root}")
    if home.root.stat().st_uid != os.geteuid():
        yield Health("home", "problem", f"{home.root} belongs to another user", f"run: chown -R $(id -u) {home.root}")
    closed = [folder for folder in home.folders() if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK)]
    if closed:
        names = ", ".join(map(str, closed))
        yield Health("home", "problem", f"not writable: {names}", f"run: chmod -R u+rwX {home.root}")
    missing = [folder.name for folder in home.folders() if not folder.is_dir()]
    if missing:
        yield Health("home", "warning", f"{home.root} lacks {', '.join(missing)}", "run: holdfast init")
    free = shutil.disk_usage(home.root).free
    if free < _LITTLE_SPACE:
        yield Health(
            "disk", "problem", f"only {free // 1_000_000} MB are free where {home.root} lies", "make room on that disk"
        )
    yield Health("home", "ok", str(home.root))


def check_config(patient: Patient) -> Iterator[Health]:
    home = patient.home
    try:
        config = load_config(home.config, patient.inline)
    except ConfigError as error:
        for problem in error.problems:
            yield Health("config", "problem", str(problem), "mend that place; `holdfast config validate` checks it")
    else:
        count = len(config.rules)
        known = f"{count} rule{'' if count == 1 else 's'} of yours" if config.layers else "defaults only"
        yield Health("config", "ok", f"{home.config}: {known}")
        missing = chosen_agent_problem(config, load_agents(home.agents))
        if missing is not None:
            yield Health("agents", "problem", str(missing), f"mend agent.id, or write that agent into {home.agents}")
    for problem in load_agents(home.agents).problems:
        yield Health("agents", "problem", str(problem), "mend that place; until then the agent is left out")
    try:
        read_credentials(home.credentials)
    except CredentialsError as error:
        yield Health("credentials", "problem", str(error), f"run: chmod 600 {home.credentials}, and check its lines")
    if home.config.exists() and stat.S_IMODE(home.config.stat().st_mode) & 0o022:
        yield Health("config", "problem", f"{home.config} can be written by others", f"run: chmod go-w {home.config}")


def check_store(patient: Patient) -> Iterator[Health]:
    path = patient.home.database
    if not path.exists():
        yield Health("store", "ok", "nothing recorded yet")
        return
    restore = f"move {path} away and put back the newest {path.name}.bak-v*, or start anew"
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
        try:
            version = version_of(connection)
            require_known(path, version)
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        finally:
            connection.close()
    except StoreError as error:
        yield Health("store", "problem", str(error), "update Holdfast")
        return
    except sqlite3.Error as error:
        yield Health("store", "problem", f"{path} cannot be read: {error}", restore)
        return
    if verdict != "ok":
        yield Health("store", "problem", f"{path} is damaged: {verdict}", restore)
    elif version < len(MIGRATIONS):
        what = f"{path} has format {version}; the next start brings it to {len(MIGRATIONS)}, after a copy"
        yield Health("store", "warning", what, "run any command that records, such as: holdfast chat")
    else:
        yield Health("store", "ok", f"{path}, format {version}")


def check_audit(patient: Patient) -> Iterator[Health]:
    if not patient.home.database.exists() or any(finding.level != "ok" for finding in check_store(patient)):
        return
    store = SqliteStore(patient.home.database, audit_dir=patient.home.audit)
    try:
        report = store.verify_audit()
    finally:
        store.close()
    for problem in report.problems:
        yield Health(
            "audit", "problem", str(problem), "find out who changed it; `holdfast audit show` has the store's copy"
        )
    if report.ok:
        yield Health("audit", "ok", f"{report.entries} entries in {report.files} files, all as they were written")


CHECKS = (
    Check("home", check_home),
    Check("config", check_config),
    Check("store", check_store),
    Check("audit", check_audit),
)
