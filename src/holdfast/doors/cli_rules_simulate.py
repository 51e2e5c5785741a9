"""`holdfast rules simulate`: what edited rules would have decided about everything that is on record (AU3)."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.output import emit, json_option, table, visible

if TYPE_CHECKING:
    from holdfast.simulator import Simulation

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_QUIET_STEP = 20_000


@click.command("simulate")
@click.option(
    "--rules",
    "rules_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="An edited copy of config.jsonc.",
)
@click.option("--since", metavar="AGE", help="Only decisions of the last AGE: 90m, 12h, 7d, 4w.")
@click.option("--session", metavar="ID", help="Only this session.")
@click.option("--limit", type=click.IntRange(1), default=40, show_default=True, help="Most rows of the table.")
@json_option
@pass_context
def simulate_command(
    context: Context, rules_file: Path, since: str | None, session: str | None, limit: int, as_json: bool
) -> None:
    """Replay recorded decisions against edited rules and show what would change. Nothing is written."""
    from holdfast.control import folds_case, rules_in_force
    from holdfast.simulator import simulate
    from holdfast.store.config_file import load_config

    index = rules_in_force(load_config(rules_file, context.inline), context.home)
    entries = context.store.audit(session=session) if context.has_store else iter(())
    result = simulate(
        entries,
        index,
        fold_case=folds_case(context.home.root),
        since=time.time() - age(since) if since else None,
        progress=_progress(),
    )
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
    emit(result.to_dict(), _lines(result, limit), as_json)


def age(text: str) -> float:
    """`7d` in seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text.strip())
    if match is None:
        raise click.UsageError(f"{text!r} is no age; write a number and s, m, h, d or w, such as 7d")
    return float(match[1]) * _SECONDS[match[2]]


def _progress() -> Callable[[int], None]:
    """On a terminal one line that counts; elsewhere a line now and then."""
    live = sys.stderr.isatty()

    def tell(done: int) -> None:
        if live:
            click.echo(f"\r{done:,} decisions replayed", err=True, nl=False)
        elif done and done % _QUIET_STEP == 0:
            click.echo(f"{done:,} decisions replayed", err=True)

    return tell


def _lines(result: Simulation, limit: int) -> list[str]:
    lines: list[str] = []
    groups = result.grouped()
    if groups:
        header = ("times", "before", "after", "tool", "target", "rule")
        rows = [
            (str(count), one.before, one.after, one.tool, visible(one.target, 70), visible(one.rule_after or "no rule"))
            for count, one in groups[:limit]
        ]
        lines += table([header, *rows])
        if len(groups) > limit:
            lines.append(f"and {len(groups) - limit} more kinds (--limit, or --json for all)")
    told = ", ".join(f"{count} from {before} to {after}" for (before, after), count in result.totals().most_common())
    lines.append(
        f"{result.replayed:,} decisions replayed, {len(result.changes):,} would change" + (f": {told}" if told else "")
    )
    if result.redacted:
        lines.append(f"{len(result.redacted):,} cannot be replayed: secrets were taken out of their targets")
    if result.unreadable:
        lines.append(f"{len(result.unreadable):,} cannot be replayed: their records are of an unknown form")
    return lines
