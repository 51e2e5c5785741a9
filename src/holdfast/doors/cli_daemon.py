"""`holdfast daemon`: the one process per user that answers hooks quickly. It starts by itself; this is for looking."""

from __future__ import annotations

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM
from holdfast.doors.output import emit, json_option


@click.group()
def daemon_group() -> None:
    """Start, stop and look at the process that answers hooks."""


@daemon_group.command()
@json_option
@pass_context
def status(context: Context, as_json: bool) -> None:
    """Say whether it runs. Exit code 1 when it does not."""
    from holdfast.doors.daemon_process import is_alive

    alive = is_alive(context.home)
    emit({"running": alive, "home": str(context.home.root)}, "running" if alive else "not running", as_json)
    if not alive:
        raise click.exceptions.Exit(EXIT_PROBLEM)


@daemon_group.command()
@json_option
@pass_context
def start(context: Context, as_json: bool) -> None:
    """Start it unless it runs, and wait until it answers."""
    from holdfast.doors.daemon_process import ensure_running

    _settle(ensure_running(context.home), "running", context, as_json)


@daemon_group.command()
@json_option
@pass_context
def stop(context: Context, as_json: bool) -> None:
    """Stop it; the next hook of an attached host starts it again."""
    from holdfast.doors.daemon_process import stop as stop_daemon

    _settle(stop_daemon(context.home), "stopped", context, as_json)


def _settle(done: bool, state: str, context: Context, as_json: bool) -> None:
    log = context.home.logs / "daemon.log"
    emit({state: done, "log": str(log)}, state if done else f"not {state}; see {log}", as_json)
    if not done:
        raise click.exceptions.Exit(EXIT_PROBLEM)
