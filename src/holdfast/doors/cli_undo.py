"""`holdfast undo`: take back what an agent's turn changed in files."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM, Failure
from holdfast.doors.output import emit, json_option

if TYPE_CHECKING:
    from holdfast.hosts.checkpoints import Checkpoints, Turn


@click.command()
@click.option("--list", "listing", is_flag=True, help="Show the turns that can be taken back.")
@click.option("--session", metavar="ID", help="Of this session [default: the latest one of this project].")
@click.option("--turn", "number", type=click.IntRange(1), help="This turn of the list [default: the latest].")
@click.option("--force", is_flag=True, help="Also files that somebody has changed since.")
@click.option("--dry-run", is_flag=True, help="Show what would be restored and change nothing.")
@json_option
@pass_context
def undo(
    context: Context, listing: bool, session: str | None, number: int | None, force: bool, dry_run: bool, as_json: bool
) -> None:
    """Put files back as they were before an attached coding agent's latest turn.

    A file that somebody has changed since is left alone. What a command changed in ways that could not be told
    beforehand is not covered. What the own agent changed is taken back in its chat: `holdfast chat --resume`, /undo.
    """
    from holdfast.hosts.checkpoints import Checkpoints

    kept = Checkpoints(context.home)
    name, turns = _turns(context, kept, session)
    if listing:
        data = [{"turn": place, "at": turn.at, "files": [f.path for f in turn.files], "undone": turn.undone}
                for place, turn in enumerate(turns, 1)]  # fmt: skip
        emit({"session": name, "turns": data}, [_line(place, turn) for place, turn in enumerate(turns, 1)], as_json)
        return
    turn = _chosen(turns, number, name)
    restored = kept.undo(turn, force=force, dry_run=dry_run)
    if restored.done and not dry_run:
        _record(context, turn, restored.done)
    word = "would be restored" if dry_run else "restored"
    lines = [f"{path}: {word}" for path in restored.done] + [f"left: {reason}" for reason in restored.left]
    if turn.unseen:
        lines.append(f"{turn.unseen} commands of this turn may have changed more than could be told beforehand")
    emit({"restored": list(restored.done), "left": list(restored.left), "unseen": turn.unseen}, lines, as_json)
    if restored.left:
        raise click.exceptions.Exit(EXIT_PROBLEM)


def _turns(context: Context, kept: Checkpoints, session: str | None) -> tuple[str, list[Turn]]:
    if not context.has_store:
        raise Failure("nothing was recorded yet, so there is nothing to take back")
    if session is not None:
        return session, kept.turns(session)
    vault = str(context.vault())
    for one in context.store.sessions(vault=vault, limit=200):
        turns = kept.turns(one.id.session)
        if any(turn.files for turn in turns):
            return one.id.session, turns
    raise Failure(
        f"no attached coding agent has changed files in {vault} that could be put back; "
        "what the own agent changed is taken back in its chat: `holdfast chat --resume`, then /undo"
    )


def _chosen(turns: list[Turn], number: int | None, session: str) -> Turn:
    if number is not None:
        if number > len(turns):
            raise Failure(f"session {session} has {len(turns)} turns to take back; see --list")
        return turns[number - 1]
    for turn in reversed(turns):
        if turn.files and not turn.undone:
            return turn
    raise Failure(f"every turn of session {session} is taken back already; see --list")


def _line(place: int, turn: Turn) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(turn.at))
    state = " (taken back)" if turn.undone else ""
    return f"{place:3}  {when}  {len(turn.files)} files{state}: {', '.join(file.path for file in turn.files[:4])}"


def _record(context: Context, turn: Turn, paths: tuple[str, ...]) -> None:
    import uuid

    from holdfast.store.orders import put_on_record

    more = {"session": turn.session, "turn": turn.name, "paths": list(paths)}
    put_on_record(context.store, what="undo", by="local", at=time.time(), event_id=uuid.uuid4().hex, more=more)
