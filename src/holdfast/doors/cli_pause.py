"""`holdfast pause` and `holdfast panic`: for when a person wants it otherwise, at once and on record."""

from __future__ import annotations

import re
import time

import click

from holdfast.doors.cli_attach import HOST_NAMES
from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_USAGE, Failure
from holdfast.doors.output import emit, json_option

_LENGTH = re.compile(r"(\d+)(s|m|h)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, None: 60}
LONGEST_SECONDS = 24 * 3600


@click.command()
@click.argument("host", required=False, type=click.Choice(HOST_NAMES), metavar="[HOST]")
@click.argument("length", required=False, metavar="[LENGTH]")
@json_option
@pass_context
def pause(context: Context, host: str | None, length: str | None, as_json: bool) -> None:
    """Let a coding agent work unguarded for a while: `holdfast pause codex 30m`; `off` ends it.

    Everything is still recorded, with what would have been decided, and the hard limits hold. Without HOST the pauses
    that hold are listed.
    """
    from holdfast.store.orders import Orders

    orders = Orders(context.home)
    now = time.time()
    if host is None:
        found = orders.pauses(now)
        lines = [f"{one.host} is paused for {one.until - now:.0f} s more" for one in found] or ["nothing is paused"]
        emit([{"host": one.host, "until": one.until} for one in found], lines, as_json)
        return
    if length == "off":
        was = orders.resume(host)
        _record(context, "pause_ended", host=host)
        emit({"host": host, "paused": False}, f"{host} is guarded again" if was else f"{host} was not paused", as_json)
        return
    seconds = _seconds(length)
    orders.pause(host, now + seconds)
    _record(context, "paused", host=host, until=now + seconds)
    said = f"{host} is not guarded for {seconds // 60} min {seconds % 60} s; `holdfast pause {host} off` ends it"
    emit({"host": host, "paused": True, "until": now + seconds}, said, as_json)


@click.command()
@click.argument("switch", required=False, type=click.Choice(["on", "off"]), default="on", metavar="[off]")
@json_option
@pass_context
def panic(context: Context, switch: str, as_json: bool) -> None:
    """Stop everything: no call of any agent, in any host, runs until `holdfast panic off`. Questions are closed."""
    from holdfast.store.orders import Orders

    orders = Orders(context.home)
    if switch == "off":
        was = orders.calm()
        _record(context, "panic_ended")
        emit({"panic": False}, "calls are judged again" if was else "there was no panic", as_json)
        return
    orders.panic()  # first of all; what follows may take its time
    _record(context, "panic")
    closed = _close_questions(context)
    said = f"everything is stopped; {closed} open questions were closed. `holdfast panic off` ends it"
    emit({"panic": True, "closed": closed}, said, as_json)


def _seconds(length: str | None) -> int:
    match = _LENGTH.fullmatch(length or "30m")
    seconds = int(match[1]) * _SECONDS[match[2]] if match else 0
    if not 0 < seconds <= LONGEST_SECONDS:
        raise Failure(f"{length!r} is no length of time; say 30m, 2h or 90s, at most 24h", EXIT_USAGE)
    return seconds


def _record(context: Context, what: str, **more: object) -> None:
    import uuid

    from holdfast.store.orders import put_on_record

    put_on_record(context.store, what=what, by="local", at=time.time(), event_id=uuid.uuid4().hex, more=more)


def _close_questions(context: Context) -> int:
    """Whoever waits for an answer hears no."""
    from holdfast.store.interface import AlreadyDecided

    closed = 0
    for approval in context.store.approvals(status="pending", limit=1000):
        try:
            context.store.settle_approval(approval.id, status="cancelled", at=time.time(), by="local")
            closed += 1
        except AlreadyDecided:
            continue
    return closed
