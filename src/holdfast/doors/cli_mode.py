"""`holdfast mode`: which sessions run with full access, and switching one of them (MO1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.output import emit, json_option, moment, table

if TYPE_CHECKING:
    from holdfast.core.verdict import Mode
    from holdfast.store.interface import Session

CONFIRM = (
    "With full access nothing is asked in this session any more; deny rules, hard limits and gates hold, and "
    "everything is recorded. Switch?"
)


@click.command()
@click.argument("to", type=click.Choice(["agent", "full_access"]), required=False)
@click.option("--session", metavar="ID", help="Which session (the beginning will do) [default: the newest one here].")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
@pass_context
def mode(context: Context, to: str | None, session: str | None, yes: bool, as_json: bool) -> None:
    """Show the mode of live sessions, or switch one.

    agent asks before risky operations; full_access does not, and says so all the time.
    """
    live = [s for s in context.store.sessions(limit=1000) if s.state != "sealed"] if context.has_store else []
    if to is None:
        rows = [(s.id.session[:12], s.mode, s.host, moment(s.started_at), s.vault) for s in live]
        data = [{"session": s.id.session, "mode": s.mode, "host": s.host, "vault": s.vault} for s in live]
        emit(data, table(rows) if rows else "no live session", as_json)
        return
    chosen = _choose(context, live, session)
    if to == "full_access" and not yes:
        click.confirm(CONFIRM, abort=True, err=True)
    from holdfast.control import Control
    from holdfast.core.events import ModeChanged

    control = Control(context.home, context.store, inline=context.inline)
    outcome = control.plane.handle(
        ModeChanged(id=control.new_id(), at=control.clock(), where=chosen.id, to=cast("Mode", to), by=control.user)
    )
    text = [f"{chosen.id.session}: {to}", *(warning.text() for warning in outcome.warnings)]
    emit({"session": chosen.id.session, "mode": to}, text, as_json)


def _choose(context: Context, live: list[Session], start: str | None) -> Session:
    if start is None:
        vault = str(context.vault())
        live = [s for s in live if s.vault == vault][:1]
    else:
        live = [s for s in live if s.id.session.startswith(start)]
    if len(live) != 1:
        said = "no live session fits" if not live else f"{len(live)} live sessions fit"
        raise click.UsageError(f"{said}; `holdfast mode` lists them, --session names one")
    return live[0]
