"""`holdfast audit reconcile`: the calls that a host has made and no hook of ours saw."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM, Failure
from holdfast.doors.output import emit, json_option, visible

if TYPE_CHECKING:
    from holdfast.hosts.reconcile import Reconciled


@click.command()
@click.option("--session", metavar="ID", help="Only this session [default: the latest 20 of all hosts].")
@json_option
@pass_context
def reconcile(context: Context, session: str | None, as_json: bool) -> None:
    """Compare the hosts' own transcripts with the record, and list the calls that no hook saw.

    Exit code 1 when there are any.
    """
    found = _reconciled(context, session)
    missed = sum(len(one.missed) for one in found)
    emit([asdict(one) for one in found], _lines(found), as_json)
    if missed:
        raise click.exceptions.Exit(EXIT_PROBLEM)


def _reconciled(context: Context, session: str | None) -> list[Reconciled]:
    import os
    from pathlib import Path

    from holdfast.hosts.reconcile import reconcile as compare
    from holdfast.hosts.registry import HOSTS

    if not context.has_store:
        return []
    data_home = Path(os.environ["XDG_DATA_HOME"]) if os.environ.get("XDG_DATA_HOME") else None
    if session is not None:
        one = context.store.session(session)
        if one is None:
            raise Failure(f"no session {session!r}; `holdfast sessions list` shows them")
        return [compare(context.store, one, data_home=data_home)]
    sessions = [one for host in HOSTS for one in context.store.sessions(host=host, limit=20)]
    newest = sorted(sessions, key=lambda one: one.started_at, reverse=True)[:20]
    return [compare(context.store, one, data_home=data_home) for one in newest]


def _lines(found: list[Reconciled]) -> list[str]:
    lines: list[str] = []
    for one in found:
        if one.problem:
            lines.append(f"{one.host} {one.session}: not compared: {one.problem}")
            continue
        lines.append(f"{one.host} {one.session}: {one.compared} calls, {len(one.missed)} of them seen by no hook")
        for call in one.missed:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(call.at))
            given = visible(json.dumps(dict(call.arguments), ensure_ascii=False, default=str))[:120]
            lines.append(f"  {when}  {call.tool}  {given}{f'  ({call.why})' if call.why else ''}")
    return lines or ["there is no host's session to compare"]
