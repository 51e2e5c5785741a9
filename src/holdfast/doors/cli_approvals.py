"""`holdfast approvals`: the inbox in the terminal: what waits, for whom, and the answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM
from holdfast.doors.output import emit, json_option, moment, table, visible

if TYPE_CHECKING:
    from holdfast.control import Control
    from holdfast.core.events import Answer
    from holdfast.store.interface import Approval

ANSWERS = {"once": "once", "always": "always", "while": "for_a_while", "deny": "deny"}


@click.group()
def approvals_group() -> None:
    """Answer what waits for you.

    Every host's and agent's questions are here; the first answer counts, wherever it is given.
    """


def _control(context: Context) -> Control:
    from holdfast.control import Control

    return Control(context.home, context.store, inline=context.inline)


@approvals_group.command("list")
@click.option("--all", "every", is_flag=True, help="Also what is decided.")
@json_option
@pass_context
def list_command(context: Context, every: bool, as_json: bool) -> None:
    """Show what waits, newest first."""
    if not context.has_store:
        emit([], "nothing waits", as_json)
        return
    control = _control(context)
    waiting = control.approvals.pending()
    shown = context.store.approvals(limit=200) if every else waiting
    rows = [(a.id[:12], a.status, moment(a.created_at), a.where.agent, a.tool, visible(_what(a), 80)) for a in shown]
    emit([_plain(a) for a in shown], table(rows) if rows else "nothing waits", as_json)


@approvals_group.command()
@click.argument("approval")
@json_option
@pass_context
def show(context: Context, approval: str, as_json: bool) -> None:
    """Show one question whole: what, why it was asked, and the rule that `always` would write."""
    found = _find(context, approval)
    emit(_plain(found), _card(found), as_json)


@approvals_group.command()
@click.argument("approval")
@click.argument("answer", type=click.Choice(list(ANSWERS)))
@click.option("--message", "-m", default="", help="Words for the agent, with a denial.")
@click.option("--rule", "pattern", metavar="PATTERN", help="Another rule than the proposed one, with always or while.")
@json_option
@pass_context
def answer(context: Context, approval: str, answer: str, message: str, pattern: str | None, as_json: bool) -> None:
    """Answer once, always, for a while (30 minutes), or deny.

    Always writes the rule that `show` prints first; a compound command can only be answered once.
    """
    found = _find(context, approval)
    control = _control(context)
    proposals = found.question.get("proposals") or []
    rule = {"domain": proposals[0]["domain"], "pattern": pattern} if pattern and proposals else None
    done = control.approvals.answer(
        found.id, cast("Answer", ANSWERS[answer]), by=control.user, message=message, rule=rule
    )
    text = [f"{done.approval.answer}: {visible(_what(found), 100)}"]
    if done.approval.rule:
        text += [f"  rule: {r['domain']} {r['pattern']}" for r in done.approval.rule["rules"]]
    if done.problem:
        text.append(f"  {done.problem}")
    emit({**_plain(done.approval), "problem": str(done.problem or "")}, text, as_json)


@approvals_group.command()
@click.argument("approvals", nargs=-1, metavar="[APPROVAL]...")
@click.option("--session", metavar="ID", help="All that wait in this session.")
@click.option("--all", "every", is_flag=True, help="All that wait.")
@json_option
@pass_context
def cancel(context: Context, approvals: tuple[str, ...], session: str | None, every: bool, as_json: bool) -> None:
    """Take questions back: they end without an answer, and whoever waits for one is refused.

    Exit code 1 when one of the named was decided before.
    """
    if sum(map(bool, (approvals, session, every))) != 1:
        raise click.UsageError("name approvals by their ids, or say --session ID or --all")
    chosen = [_find(context, start) for start in approvals] if context.has_store else []
    if approvals and not chosen:
        raise click.UsageError(f"no approval begins with {approvals[0]!r}; nothing was ever asked here")
    control = _control(context)
    if not approvals:
        chosen = list(control.approvals.pending(session=session)) if context.has_store else []
    ended = [approval for approval in chosen if control.approvals.cancel(approval_id=approval.id)]
    late = [_find(context, approval.id) for approval in chosen if approval not in ended]
    text = [f"cancelled: {approval.id[:12]}  {visible(_what(approval), 100)}" for approval in ended]
    text += [f"decided before: {approval.id[:12]}  {approval.answer or approval.status}" for approval in late]
    data = {"cancelled": [approval.id for approval in ended], "decidedBefore": [_plain(approval) for approval in late]}
    emit(data, text or "nothing waits", as_json)
    if late:
        raise click.exceptions.Exit(EXIT_PROBLEM)


@approvals_group.command()
@click.option("--seconds", type=click.FloatRange(1), default=3600.0, show_default=True, help="How long to watch.")
@json_option
@pass_context
def watch(context: Context, seconds: float, as_json: bool) -> None:
    """Print each question as it comes, until the time is up or Ctrl-C."""
    control = _control(context)
    seen: set[str] = set()
    revision = -1
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        latest = control.store.revision()
        if latest != revision:
            revision = latest
            for waiting in reversed(control.approvals.pending()):
                if waiting.id not in seen:
                    seen.add(waiting.id)
                    emit(_plain(waiting), _card(waiting), as_json)
        time.sleep(0.1)


def _find(context: Context, start: str) -> Approval:
    found = [a for a in context.store.approvals(limit=1000) if a.id.startswith(start)]
    if len(found) != 1:
        said = "no approval begins with" if not found else f"{len(found)} approvals begin with"
        raise click.UsageError(f"{said} {start!r}; `holdfast approvals list --all` shows them")
    return found[0]


def _what(approval: Approval) -> str:
    given = approval.question.get("input") or {}
    for key in ("command", "file_path", "filePath", "path", "url", "query"):
        if isinstance(given.get(key), str):
            return str(given[key])
    return str(given)


def _card(approval: Approval) -> list[str]:
    lines = [
        f"{approval.id[:12]}  {approval.status}  {approval.where.agent} in {approval.where.thread}",
        f"  {approval.tool}: {visible(_what(approval))}",
    ]
    lines += [f"  {f['why']['en']}" for f in approval.question.get("findings", ()) if f["decision"] != "allow"]
    for proposal in approval.question.get("proposals", ())[:3]:
        lines += [f"  always would write: {rule['domain']} {rule['pattern']}" for rule in proposal["rules"]]
    choices = "once|always|while|deny"
    if approval.policy != "permission":
        choices = "once|always|deny" if approval.policy == "doom_loop" else "once|deny"
    elif not approval.question.get("proposals"):
        lines.append("  it can only be answered once: no rule would mean the same thing next time")
        choices = "once|deny"
    if approval.status == "pending":
        lines.append(f"  answer: holdfast approvals answer {approval.id[:12]} {choices}")
    else:
        said = f" {approval.answer} by {approval.answered_by}" if approval.answer else ""
        lines.append(f"  {approval.status}{said}" + (f": {visible(approval.message)}" if approval.message else ""))
    return lines


def _plain(approval: Approval) -> dict[str, Any]:
    where = approval.where
    return {
        "id": approval.id,
        "status": approval.status,
        "agent": where.agent,
        "thread": where.thread,
        "session": where.session,
        "subagent": where.subagent,
        "tool": approval.tool,
        "callId": approval.call_id,
        "createdAt": approval.created_at,
        "deadline": approval.deadline,
        "question": dict(approval.question),
        "answer": approval.answer,
        "answeredBy": approval.answered_by,
        "message": approval.message,
        "rule": approval.rule,
    }
