"""`holdfast sessions`: list, show, seal, unseal, hand off, export and delete sessions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM, EXIT_USAGE, Failure
from holdfast.doors.output import emit, json_option, moment, visible

if TYPE_CHECKING:
    from holdfast.chain.chain import Chain
    from holdfast.chain.sealer import Sealing
    from holdfast.control import Control
    from holdfast.store.interface import Session

_STATES = click.Choice(["active", "sealing", "sealed"])


@click.group()
def sessions_group() -> None:
    """List, read, seal, delete sessions.

    A session is one context of an agent; a thread is the conversation, a chain of sessions. A session that is full is
    sealed and kept whole, and the next one searches it instead of guessing. The beginning of an id will do.
    """


@contextmanager
def _opened(context: Context) -> Iterator[tuple[Control, Chain]]:
    from holdfast.chain.chain import Chain
    from holdfast.control import Control

    control = Control.open(context.home, inline=context.inline)
    try:
        yield control, Chain(control)
    finally:
        control.close()


def _recall(control: Control, chain: Chain) -> Any:
    from holdfast.chain.recall import Recall

    return Recall(control.store, chain.digests, None, clock=control.clock)


@sessions_group.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Of every project, not only of this one.")
@click.option("--thread", metavar="ID", help="Only this thread.")
@click.option("--host", metavar="NAME", help="Only this host: holdfast, claude-code, codex, gemini, opencode.")
@click.option("--state", type=_STATES, help="Only in this state.")
@click.option("--limit", type=click.IntRange(1, 1000), default=30, show_default=True, help="The newest so many.")
@json_option
@pass_context
def list_command(
    context: Context, everywhere: bool, thread: str | None, host: str | None, state: Any, limit: int, as_json: bool
) -> None:
    """List sessions, newest first, with how full each one is."""
    from holdfast.doors.session_rows import session_table

    if not context.has_store:
        emit([], "nothing recorded", as_json)
        return
    vault = None if everywhere or thread else str(context.vault())
    with _opened(context) as (control, chain):
        found = control.store.sessions(
            user=control.user, thread=thread, vault=vault, host=host, state=state, limit=limit
        )
        recall = _recall(control, chain)
        text = session_table(recall, found) if found else "no session here; --all shows those of other projects"
        emit([_plain(recall, session) for session in found], text, as_json)


@sessions_group.command()
@click.argument("session")
@json_option
@pass_context
def show(context: Context, session: str, as_json: bool) -> None:
    """Show one session: its place, its state, its digest, and whether its archive is what was written."""
    from holdfast.chain.digest_text import digest_text
    from holdfast.doors.output import table
    from holdfast.doors.session_rows import archive_state, fill, find_session

    with _opened(context) as (control, chain):
        row = find_session(control.store, session)
        recall = _recall(control, chain)
        data = _plain(recall, row)
        digest = chain.digests.of(row)
        data["digest"] = digest.to_dict()
        data["archive"] = archive_state(chain, row)
        text = [
            *table(
                [
                    ("session", row.id.session),
                    ("thread", f"{row.id.thread}, number {row.number}"),
                    ("agent", f"{row.id.agent} of {row.id.user}"),
                    ("project", row.vault),
                    ("state", f"{row.state} {row.seal_reason}".strip()),
                    *([("mark", row.seal_mark)] if row.seal_mark else []),
                    ("fill", f"{fill(data)} of {data['window'] or 'an unknown window'}"),
                    ("archive", _archive_words(data["archive"], row)),
                ]
            ),
            "",
            digest_text(digest),
        ]
        emit(data, text, as_json)


def _archive_words(state: dict[str, Any], row: Session) -> str:
    if state["state"] == "none":
        return "none" if row.state == "sealed" else "none yet"
    return f"verified, {state['file']}" if state["state"] == "verified" else f"damaged: {state['problem']}"


@sessions_group.command()
@click.argument("session")
@click.option("--over", is_flag=True, help="The turn that is open has ended: whoever worked there is gone.")
@json_option
@pass_context
def seal(context: Context, session: str, over: bool, as_json: bool) -> None:
    """End a session cleanly; the next message starts a new one with its digest.

    A live turn or an open approval is never cut: then it is sealed when that is over. Exit code 1 while it waits.
    """
    from holdfast.doors.session_rows import find_session

    with _opened(context) as (control, chain):
        row = find_session(control.store, session)
        _tell(chain.sealer.seal_now(row.id, by=control.user, turn_is_over=over), as_json)


@sessions_group.command()
@click.argument("session")
@json_option
@pass_context
def unseal(context: Context, session: str, as_json: bool) -> None:
    """Go on in the last session of a thread after all."""
    from holdfast.doors.session_rows import find_session

    with _opened(context) as (control, chain):
        row = chain.unseal(find_session(control.store, session).id, by=control.user)
        emit({"session": row.id.session, "state": row.state}, f"session {row.id.session} is active again", as_json)


@sessions_group.command()
@click.argument("session")
@json_option
@pass_context
def handoff(context: Context, session: str, as_json: bool) -> None:
    """Seal a session for another to go on with, and print what that one will be told."""
    from holdfast.doors.session_rows import find_session, hand_over

    with _opened(context) as (control, chain):
        row = find_session(control.store, session)
        sealing, packet = hand_over(chain, row, by=control.user)
        if packet is None:
            if sealing is not None:
                _tell(sealing, as_json)
            return
        data = {"session": row.id.session, "thread": row.id.thread, "packet": packet.text, "tokens": packet.tokens}
        text = [packet.text, "", f"To go on: holdfast continue {row.id.thread}"]
        emit(data, text, as_json)


@sessions_group.command()
@click.argument("sessions", nargs=-1)
@click.option("--thread", metavar="ID", help="All sessions of this thread.")
@click.option("--all", "everything", is_flag=True, help="Every session there is.")
@click.option("--out", metavar="PATH", default="-", help="File, or folder for several [default: standard output].")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "markdown"]),
    default="jsonl",
    show_default=True,
    help="jsonl can be read back; markdown is for people.",
)
@json_option
@pass_context
def export(
    context: Context,
    sessions: tuple[str, ...],
    thread: str | None,
    everything: bool,
    out: str,
    form: str,
    as_json: bool,
) -> None:
    """Write sessions out whole, sealed or not. `holdfast import jsonl` reads them back."""
    from holdfast.doors.session_export import export_sessions

    with _opened(context) as (control, chain):
        chosen = _chosen(control, sessions, thread, everything)
        written = export_sessions(chain, control.store, chosen, out, form)
        if out != "-":
            emit(written, [f"{entry['file']}  {entry['events']} events" for entry in written], as_json)


@sessions_group.command()
@click.argument("sessions", nargs=-1)
@click.option("--thread", metavar="ID", help="All sessions of this thread.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Also while a turn or an approval is open.")
@json_option
@pass_context
def delete(
    context: Context, sessions: tuple[str, ...], thread: str | None, yes: bool, force: bool, as_json: bool
) -> None:
    """Delete sessions for good: text, index, archive and kept outputs. A tombstone stays in the audit."""
    from holdfast.chain.deletion import Deletion
    from holdfast.store.search import Search

    with _opened(context) as (control, chain):
        chosen = _chosen(control, sessions, thread, False)
        if not yes:
            _confirm(control, chosen)
        search = Search(control.store, control.home.data / "search")
        deletion = Deletion(control.store, chain.archive, control.outputs, clock=control.clock, scrub=search.scrub)
        try:
            gone = [deletion.delete(row.id, by=control.user, even_if_live=force) for row in chosen]
        finally:
            search.close()
        data = [
            {
                "session": one.session,
                "events": one.events,
                "outputs": one.outputs,
                "outputsLeft": one.outputs_left,
                "archive": one.archive,
                "index": one.index,
            }
            for one in gone
        ]
        text = [f"deleted {one.session}: {one.events} events, {one.outputs} outputs" for one in gone]
        text += [f"  {one.outputs_left} changed output files were left to you" for one in gone if one.outputs_left]
        if not all(one.index for one in gone):
            text.append("the search index is cleaned as soon as its writer has time; nothing of it is shown any more")
        emit(data, text, as_json)


def _confirm(control: Control, chosen: list[Session]) -> None:
    if not sys.stdin.isatty():
        raise Failure("this deletes for good; say --yes, or run it where you can be asked", EXIT_USAGE)
    for row in chosen:
        last = control.store.events(row.id.session, limit=1, newest_first=True)
        count = last[0].no if last else 0
        title = visible(row.title or row.id.thread, 60)
        click.echo(f"{row.id.session}  {moment(row.started_at)}  {count} events  {title}", err=True)
    click.confirm(f"Delete {'it' if len(chosen) == 1 else 'these'} for good?", abort=True, err=True)


def _chosen(control: Control, names: tuple[str, ...], thread: str | None, everything: bool) -> list[Session]:
    from holdfast.doors.session_rows import find_session, find_thread

    if sum(map(bool, (names, thread, everything))) != 1:
        raise click.UsageError("name sessions by their ids, or all of a thread by --thread")
    if everything:
        return list(reversed(control.store.sessions(user=control.user, limit=1_000_000)))
    if thread:
        return list(control.store.chain(find_thread(control.store, thread).id.key))
    return [find_session(control.store, name) for name in names]


def _tell(sealing: Sealing, as_json: bool) -> None:
    data = {"session": sealing.session.id.session, "status": sealing.status, "message": sealing.message.text()}
    text = [sealing.message.text()]
    if sealing.session.seal_mark:
        data["mark"] = sealing.session.seal_mark
        text.append(f"mark: {sealing.session.seal_mark}")
    if sealing.warning is not None:
        text.append(sealing.warning.text())
    emit(data, text, as_json)
    if sealing.status != "sealed":
        raise click.exceptions.Exit(EXIT_PROBLEM)


def _plain(recall: Any, row: Session) -> dict[str, Any]:
    return {**recall.described(row), "host": row.host, "vault": row.vault, "user": row.id.user, "model": row.model}
