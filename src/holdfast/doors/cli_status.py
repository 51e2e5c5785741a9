"""`holdfast status`: where things are, what is recorded, how much room it takes and how fast that grows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._version import __version__
from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_CONFIG
from holdfast.doors.output import emit, json_option, size, table

if TYPE_CHECKING:
    from holdfast.store.home import Home

_DAY = 86_400
_WINDOW_DAYS = 7


@click.command()
@json_option
@pass_context
def status(context: Context, as_json: bool) -> None:
    """Show what is there: home, vault, configuration, hosts, record, disk use and growth per day."""
    data: dict[str, Any] = {
        "version": __version__,
        "home": str(context.home.root),
        "vault": _vault(context),
        "config": _config(context),
        "hosts": _hosts(context),
        "record": _record(context),
        "disk": disk_use(context.home, time.time()),
    }
    emit(data, table(_rows(data)), as_json)
    if data["config"]["problems"]:
        raise click.exceptions.Exit(EXIT_CONFIG)


def _vault(context: Context) -> dict[str, Any]:
    from holdfast.store.home import VaultError

    try:
        return {"path": str(context.vault()), "problem": None}
    except VaultError as error:
        return {"path": None, "problem": str(error)}


def _config(context: Context) -> dict[str, Any]:
    from holdfast.store.config_file import ConfigError

    path = context.home.config
    found: dict[str, Any] = {"path": str(path), "exists": path.exists(), "rules": 0, "problems": []}
    try:
        found["rules"] = len(context.config.rules)
    except ConfigError as error:
        found["problems"] = [str(problem) for problem in error.problems]
    return found


def _hosts(context: Context) -> dict[str, Any]:
    from holdfast.store.attached import manifests
    from holdfast.store.orders import Orders

    orders = Orders(context.home)
    now = time.time()
    return {
        "attached": sorted({manifest.host for manifest in manifests(context.home)}),
        "paused": {pause.host: round(pause.until - now) for pause in orders.pauses(now)},
        "panic": orders.of("", now) == "panic",
    }


def _record(context: Context) -> dict[str, Any]:
    if not context.has_store:
        return {"recorded": False}
    usage = dict(context.store.usage())
    active = len(context.store.sessions(state="active", limit=10_000))
    waiting = len(context.store.approvals(status="pending", limit=10_000))
    return {"recorded": True, "active_sessions": active, "waiting_approvals": waiting, **usage}


def disk_use(home: Home, now: float) -> dict[str, Any]:
    """Bytes of each part of the home, and the average of what was added a day in the last week."""
    parts: dict[str, int] = {}
    recent = 0
    oldest = now
    for path, count, changed in _files(home.root):
        part = _part(home, path)
        parts[part] = parts.get(part, 0) + count
        oldest = min(oldest, changed)
        recent += count if changed > now - _WINDOW_DAYS * _DAY else 0
    days = min(_WINDOW_DAYS, max(1.0, (now - oldest) / _DAY))
    return {
        "total_bytes": sum(parts.values()),
        "parts": dict(sorted(parts.items())),
        "bytes_per_day": round(recent / days),
    }


def _part(home: Home, path: Path) -> str:
    inside = path.relative_to(home.root).parts
    if len(inside) == 1:
        return "settings"
    if path.parent == home.data:
        return "database" if path.name.startswith(home.database.name) else "data"
    return inside[1] if inside[0] == "data" else inside[0]


def _files(root: Path) -> Iterator[tuple[Path, int, float]]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            try:
                found = path.lstat()
            except OSError:
                continue  # gone while we looked
            yield path, found.st_size, found.st_mtime


def _rows(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "version", data["version"]
    yield "home", data["home"]
    yield "vault", data["vault"]["path"] or f"none: {data['vault']['problem']}"
    config = data["config"]
    for problem in config["problems"]:
        yield "config", problem
    if not config["problems"]:
        count = config["rules"]
        yours = f"{count} rule{'' if count == 1 else 's'} of yours"
        there = yours if config["exists"] else "not there: the defaults hold"
        yield "config", f"{config['path']} ({there})"
    hosts = data["hosts"]
    if hosts["panic"]:
        yield "stopped", "everything, by `holdfast panic`; `holdfast panic off` ends it"
    for host, seconds in hosts["paused"].items():
        yield "paused", f"{host}, for {seconds // 60} min {seconds % 60} s more; `holdfast pause {host} off` ends it"
    yield "hosts", ", ".join(hosts["attached"]) or "none; `holdfast attach HOST` puts a coding agent under control"
    record = data["record"]
    if record["recorded"]:
        yield "sessions", f"{record.get('sessions', 0)}, {record['active_sessions']} of them active"
        yield "events", f"{record.get('events', 0)}, {record.get('events_last_7_days', 0)} in the last 7 days"
        yield "approvals", f"{record['waiting_approvals']} waiting for an answer"
    else:
        yield "record", "nothing recorded yet"
    disk = data["disk"]
    parts = ", ".join(f"{name} {size(count)}" for name, count in disk["parts"].items() if count)
    yield "disk", f"{size(disk['total_bytes'])}{f' ({parts})' if parts else ''}"
    yield "growth", f"{size(disk['bytes_per_day'])} a day"
