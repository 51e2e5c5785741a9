"""`holdfast continue`: go on with an older thread, in the own agent or in a host."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.output import emit, json_option, moment, table, visible

if TYPE_CHECKING:
    from holdfast.store.interface import Session

OWN_HOST = "holdfast"
HOSTS = ("holdfast", "claude-code", "codex", "gemini", "opencode")


@click.command()
@click.argument("thread", required=False)
@click.option("--host", type=click.Choice(HOSTS), help="Who goes on with it [default: whoever it was].")
@click.option("--all", "everywhere", is_flag=True, help="List threads of every project.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="How many to list.")
@json_option
@pass_context
def continue_command(
    context: Context, thread: str | None, host: str | None, everywhere: bool, limit: int, as_json: bool
) -> None:
    """Go on with an older thread. Without a name it lists those there are.

    The own agent's thread is opened at once. For a host it is offered: the next session that the host starts in this
    project within the hour goes on with it, with the digest of what was before.
    """
    from holdfast.chain.chain import Chain
    from holdfast.chain.threads import OFFER_SECONDS
    from holdfast.control import Control
    from holdfast.doors.session_rows import find_thread, newest_of_threads

    control = Control.open(context.home, inline=context.inline)
    try:
        if thread is None:
            vault = None if everywhere else str(context.vault())
            found = newest_of_threads(control.store, control.user, vault=vault)[:limit]
            emit([_plain(row) for row in found], _list(found), as_json)
            return
        row = find_thread(control.store, thread)
        chosen = host or row.host
        if chosen not in HOSTS:
            raise click.UsageError(f"thread {row.id.thread!r} was imported from {chosen!r}; say who goes on by --host")
        if chosen != OWN_HOST:
            place = str(context.vault())
            Chain(control).threads.offer(row, host=chosen, vault=place, by=control.user)
            minutes = int(OFFER_SECONDS // 60)
            text = [
                f"offered: the next session that {chosen} starts in {place} within {minutes} minutes goes on with it"
            ]
            emit({**_plain(row), "offeredTo": chosen, "vault": place, "seconds": OFFER_SECONDS}, text, as_json)
            return
    finally:
        control.close()
    if as_json or not sys.stdin.isatty():
        line = f"holdfast chat --thread {row.id.thread}"
        emit({**_plain(row), "run": line}, f"run: {line}", as_json)
        return
    from holdfast.doors.cli_chat import chat

    click.get_current_context().invoke(chat, thread=row.id.thread, resume=False, model="", agent="")


def _list(rows: list[Session]) -> Any:
    if not rows:
        return "no thread here; --all shows those of other projects"
    shown = [("THREAD", "SESSIONS", "STATE", "LAST", "HOST", "TITLE")]
    for row in rows:
        last = moment(row.ended_at or row.started_at)[:16]
        shown.append((row.id.thread, str(row.number), row.state, last, row.host, visible(row.title, 60)))
    return table(shown)


def _plain(row: Session) -> dict[str, Any]:
    return {
        "thread": row.id.thread,
        "agent": row.id.agent,
        "session": row.id.session,
        "number": row.number,
        "state": row.state,
        "host": row.host,
        "title": row.title,
        "started": row.started_at,
        "ended": row.ended_at,
    }
