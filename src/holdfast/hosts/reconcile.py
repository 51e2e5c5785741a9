"""Compares what a host wrote down about its own session with what our hooks saw: the calls that no hook knew of.

A hook that is skipped says nothing, so this is the only way to find out afterwards that calls went past Holdfast.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.hosts.afterwards import LINES
from holdfast.hosts.transcripts.items import Call, read_lines
from holdfast.store.interface import Session, Store

_UNHOOKED = {"codex": frozenset(("write_stdin", "view_image", "update_plan", "request_user_input"))}
"""Tools for which the host has no hook at all."""


@dataclass(frozen=True, slots=True)
class Missed:
    """One call that stands in the host's transcript and in none of our records."""

    session: str
    host: str
    call: str
    tool: str
    at: float
    arguments: Mapping[str, Any]
    why: str = ""
    """Set when it is known why no hook was called."""


@dataclass(frozen=True, slots=True)
class Reconciled:
    session: str
    host: str
    compared: int
    missed: tuple[Missed, ...]
    problem: str = ""
    """Why nothing could be compared."""


def reconcile(store: Store, session: Session, *, data_home: Path | None = None) -> Reconciled:
    """One session of ours against its host's transcript; `data_home` is where OpenCode keeps its database."""
    name, host = session.id.session, session.host
    own = str(session.extra.get("host_session") or name)
    try:
        if host == "opencode":
            calls = list(_opencode_calls(_opencode_database(data_home), own))
        elif host in LINES:
            calls = list(_calls(host, str(session.extra.get("transcript") or "")))
        else:
            return Reconciled(name, host, 0, (), f"{host} keeps no transcript beside ours")
    except (OSError, sqlite3.Error) as error:
        return Reconciled(name, host, 0, (), f"its transcript cannot be read: {error}")
    if session.number > 1:
        calls = [call for call in calls if call.at >= session.started_at]
    if session.ended_at is not None:
        calls = [call for call in calls if call.at <= session.ended_at + 1]
    missed = tuple(_missed(session, calls, _known(store, name)))
    return Reconciled(name, host, len(calls), missed)


def _calls(host: str, transcript: str) -> Iterator[Call]:
    if not transcript:
        raise FileNotFoundError("it is not known where it lies")
    path = Path(transcript)
    if not path.exists():
        raise FileNotFoundError(f"{path} is gone")
    dialect = LINES[host]()
    found: dict[str, Call] = {}
    offset = 0
    while True:
        lines, end = read_lines(path, offset)
        for line in lines:
            for item in dialect.items(line):
                if isinstance(item, Call):
                    found[item.id or f"{item.at}"] = item
        if end == offset:
            break
        offset = end
    yield from found.values()


def _opencode_database(data_home: Path | None) -> Path:
    return (data_home or Path.home() / ".local" / "share") / "opencode" / "opencode.db"


def _opencode_calls(database: Path, session: str) -> Iterator[Call]:
    """Of a session and the sub-agents that it started."""
    if not database.exists():
        raise FileNotFoundError(f"{database} is not there")
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)
    try:
        rows = connection.execute(
            "WITH RECURSIVE family(id) AS "
            "(SELECT ? UNION SELECT s.id FROM session s JOIN family f ON s.parent_id = f.id) "
            "SELECT p.time_created, p.data FROM part p JOIN family f ON p.session_id = f.id ORDER BY p.time_created",
            (session,),
        ).fetchall()
    finally:
        connection.close()
    for created, text in rows:
        part = json.loads(text)
        if part.get("type") == "tool":
            state = part.get("state") or {}
            yield Call(str(part.get("callID")), str(part.get("tool")), created / 1000, state.get("input") or {})


@dataclass(frozen=True, slots=True)
class _Known:
    ids: frozenset[str]
    shapes: Counter[str]
    """How often each call was seen, for a host whose calls have no ids of their own."""


def _known(store: Store, session: str) -> _Known:
    ids: set[str] = set()
    shapes: Counter[str] = Counter()
    after = 0
    while records := store.events(session, after=after, kinds=("tool_calling", "tool_called"), limit=1000):
        for record in records:
            call = record.data.get("call") or {}
            ids.add(str(call.get("id")))
            if record.kind == "tool_calling":
                shapes[_shape(str(call.get("host_tool")), call.get("input") or {})] += 1
        after = records[-1].no
    return _Known(frozenset(ids), shapes)


def _missed(session: Session, calls: Iterable[Call], known: _Known) -> Iterator[Missed]:
    left = Counter(known.shapes)
    for call in calls:
        if session.host == "gemini":
            shape = _shape(call.tool, call.arguments)
            if left[shape] > 0:
                left[shape] -= 1
                continue
        elif call.id in known.ids:
            continue
        why = "this host has no hook for it" if call.tool in _UNHOOKED.get(session.host, ()) else ""
        yield Missed(session.id.session, session.host, call.id, call.tool, call.at, call.arguments, why)


def _shape(tool: str, arguments: Mapping[str, Any]) -> str:
    return json.dumps([tool, arguments], sort_keys=True, default=str)
