"""`holdfast transcript`: read a session, as a conversation, as a hand-over, or as it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_USAGE, Failure
from holdfast.doors.output import emit, json_option, moment, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHOLE = 1_000_000


@click.command()
@click.argument("session")
@click.option(
    "--view",
    type=click.Choice(["chat", "handoff", "raw"]),
    default="chat",
    show_default=True,
    help="The conversation; its digest and one line a request; the events as they are.",
)
@click.option("--limit", type=click.IntRange(1, 200), default=200, show_default=True, help="Entries on a page.")
@click.option("--cursor", metavar="CURSOR", help="The next page: what the last one printed.")
@click.option("--invocation", metavar="ID", help="Everything that one request led to.")
@click.option("--follow", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@click.option("--seconds", type=click.FloatRange(0.1), default=86_400.0, help="How long to follow.")
@json_option
@pass_context
def transcript(
    context: Context,
    session: str,
    view: str,
    limit: int,
    cursor: str | None,
    invocation: str | None,
    follow: bool,
    seconds: float,
    as_json: bool,
) -> None:
    """Read a session, also while it is active. The beginning of its id will do."""
    from holdfast.chain.chain import Chain
    from holdfast.chain.cursors import RecallError
    from holdfast.chain.reach import UserReach
    from holdfast.chain.recall import Recall
    from holdfast.control import Control
    from holdfast.doors.session_rows import find_session

    control = Control.open(context.home, inline=context.inline)
    try:
        row = find_session(control.store, session)
        reach = UserReach(control.store, control.user)
        # A person's terminal is no context window: pages are by number of entries.
        recall = Recall(control.store, Chain(control).digests, None, clock=control.clock, most_tokens=_WHOLE)
        name = row.id.session
        try:
            if invocation:
                page = recall.read_invocation_detail(reach, invocation, session=name, cursor=cursor)
            else:
                page = recall.read_session_events(reach, name, cursor=cursor, limit=limit, view=view)
        except RecallError as error:
            raise Failure(str(error), EXIT_USAGE) from None
        emit(page, _text(page), as_json)
        if follow:
            _follow(control, name, page, seconds, as_json)
    finally:
        control.close()


def _follow(control: Any, name: str, page: dict[str, Any], seconds: float, as_json: bool) -> None:
    from holdfast.chain.digests import all_events
    from holdfast.chain.views import chat_entry

    last = control.store.events(name, limit=1, newest_first=True)
    after = last[0].no if last else 0
    if page.get("nextCursor") and page.get("events"):
        after = page["events"][-1]["eventNo"]
    end = time.monotonic() + seconds
    revision = -1
    while time.monotonic() < end:
        latest = control.store.revision()
        if latest != revision:
            revision = latest
            for record in all_events(control.store, name, after):
                after = record.no
                entry = chat_entry(record)
                if entry is not None:
                    emit(entry, _line(entry), as_json)
        time.sleep(0.2)


def _text(page: dict[str, Any]) -> Iterator[str]:
    if page.get("digest"):
        yield page["digest"]
        yield ""
    for note in page.get("invocations", ()):
        first, last = note["events"]
        tools = ", ".join(f"{tool} {count}" for tool, count in note["tools"].items())
        yield f"#{first}-{last}  {note['invocationId']}  {visible(note['asked'], 100)}"
        yield f"    {tools or 'no tools'}{', failed ' + str(note['failed']) if note['failed'] else ''}"
        if note["answered"]:
            yield f"    {visible(note['answered'], 200)}"
    for entry in page.get("events", ()):
        yield from _line(entry)
    if page.get("nextCursor"):
        yield f"more: --cursor {page['nextCursor']}"


def _line(entry: dict[str, Any]) -> Iterator[str]:
    if "who" not in entry:
        yield f"#{entry['eventNo']}  {moment(entry['at'])}  {entry['kind']}  {visible(str(entry.get('data')))}"
        return
    who = entry["who"]
    if entry.get("calls"):
        who = f"calls {entry['calls']}"
    elif entry.get("tool"):
        who = f"{entry['tool']}: {entry['outcome']}"
    if entry.get("subagent"):
        who = f"{who} ({entry['subagent']})"
    decision = f"  [{entry['decision']}]" if entry.get("decision") else ""
    yield f"#{entry['eventNo']}  {moment(entry['at'])}  {who}{decision}"
    for line in str(entry["text"]).splitlines():
        yield f"    {visible(line)}"
