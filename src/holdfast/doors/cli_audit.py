"""`holdfast audit`: what was decided, by which rule and by whom; whether the record is whole; and a copy of it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from holdfast.doors.audit_data import export_lines, report_data
from holdfast.doors.cli_reconcile import reconcile
from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM
from holdfast.doors.output import emit, json_option, moment, table, visible

session_option = click.option("--session", metavar="ID", help="Only this session.")


@click.group()
def audit_group() -> None:
    """Show, verify and export decisions."""


audit_group.add_command(reconcile)


@audit_group.command()
@session_option
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many of the latest.")
@click.option("--decision", type=click.Choice(["allow", "ask", "deny"]), help="Only these.")
@click.option("--domain", metavar="NAME", help="Only this domain, such as bash or edit.")
@json_option
@pass_context
def show(
    context: Context, session: str | None, limit: int, decision: str | None, domain: str | None, as_json: bool
) -> None:
    """Show the latest decisions.

    Oldest first: when, what, on which targets, by which rule and by whom.
    """
    chosen = (
        entry
        for entry in entries(context, session)
        if decision in (None, entry.get("decision")) and domain in (None, entry.get("permissionDomain"))
    )
    latest = heapq.nlargest(limit, enumerate(chosen), key=lambda pair: (pair[1].get("timestamp") or 0, pair[0]))
    found = [dict(entry) for _, entry in reversed(latest)]
    emit(found, table(map(_row, found)) if found else "nothing recorded", as_json)


@audit_group.command()
@session_option
@json_option
@pass_context
def verify(context: Context, session: str | None, as_json: bool) -> None:
    """Check that the record is whole.

    Exit code 1 when a line was removed, changed, moved, added or cut.
    """
    if not context.has_store:
        emit({"ok": True, "files": 0, "entries": 0, "problems": []}, "nothing recorded", as_json)
        return
    report = context.store.verify_audit(session=session)
    said = f"{report.entries} entries in {report.files} files"
    text = [str(problem) for problem in report.problems]
    text.append(f"{said}, all as they were written" if report.ok else f"{said}, {len(report.problems)} problems")
    emit(report_data(report), text, as_json)
    if not report.ok:
        raise click.exceptions.Exit(EXIT_PROBLEM)


@audit_group.command()
@session_option
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="File [default: stdout].")
@click.option("--format", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True, help="How.")
@json_option
@pass_context
def export(context: Context, session: str | None, output: Path | None, form: str, as_json: bool) -> None:
    """Copy the record.

    As JSON Lines with every field and the chain's hashes, or as CSV for a spreadsheet.
    With --json and --output, what was written is told as JSON.
    """
    count = 0
    with click.open_file(str(output) if output else "-", "w", encoding="utf-8", atomic=output is not None) as stream:
        for line in export_lines(entries(context, session), form):
            stream.write(line)
            count += 1
    if form == "csv":
        count -= 1  # the line of names
    if output is not None:
        emit({"path": str(output), "entries": count}, f"{count} entries in {output}", as_json)


def entries(context: Context, session: str | None) -> Iterator[Mapping[str, Any]]:
    """All entries of the store; none, and no database made, when nothing was ever recorded."""
    return context.store.audit(session=session) if context.has_store else iter(())


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    rule = entry.get("rule") or {}
    place = f"{rule.get('source')}:{rule['line']}" if rule.get("line") else rule.get("source") or entry.get("policy")
    why = " ".join(
        part for part in (visible(str(entry.get("rulePattern") or "")), f"({place})" if place else "") if part
    )
    targets = ", ".join(map(str, entry.get("targets") or ())) or str(entry.get("what") or entry.get("tool") or "")
    return (
        moment(entry.get("timestamp") or 0),
        str(entry.get("decision") or ""),
        str(entry.get("permissionDomain") or "-"),
        visible(targets, 80),
        why,
        f"by {entry.get('decidedBy') or '?'}",
        visible(str(entry.get("sessionId") or "")),
        str(entry.get("eventId") or ""),
    )
