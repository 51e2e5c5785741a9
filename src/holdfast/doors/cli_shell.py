"""`holdfast shell explain`: what a command would do, in words, as JSON, or line by line."""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

import click

from holdfast.doors.context import Context, pass_context
from holdfast.shell import CommandTable, default_table, read_command
from holdfast.shell import explain as in_words


@click.group("shell")
def shell_group() -> None:
    """Read shell commands without running them."""


@shell_group.command("explain")
@click.argument("command", required=False)
@click.option("--cwd", default=None, help="The directory the command would run in.")
@click.option("--home", default=None, help="The home directory of who would run it.")
@click.option("--json", "as_json", is_flag=True, help="Print the reading as JSON.")
@click.option(
    "--jsonl",
    "lines",
    is_flag=True,
    help='Read lines {"command": ..., "cwd": ...} from standard input and answer each with one line.',
)
@pass_context
def explain_command(
    context: Context, command: str | None, cwd: str | None, home: str | None, as_json: bool, lines: bool
) -> None:
    """Say what COMMAND would read, write, run, reach and destroy. Nothing is run.

    Write COMMAND in quotes. Programs that shell.commands in the configuration describes are known.
    """
    if lines and command is not None:
        raise click.UsageError("Give a command, or --jsonl and lines on standard input, not both.")
    table = default_table().extended(context.config.settings.runtime.shell.commands)
    if lines:
        answer_lines(sys.stdin.buffer, sys.stdout, cwd, home, table)
        return
    if command is None:
        raise click.UsageError("Give a command in quotes, or use --jsonl and write lines to standard input.")
    reading = read_command(command, cwd=cwd, home=home, table=table)
    click.echo(json.dumps(reading.to_dict(), ensure_ascii=False, indent=2) if as_json else in_words(reading))


def answer_lines(
    source: Any, sink: TextIO, cwd: str | None, home: str | None, table: CommandTable | None = None
) -> None:
    """One answer a line, flushed at once; a bad line gives an error line and the rest go on."""
    for number, raw in enumerate(source, start=1):
        if not raw.strip():
            continue
        try:
            answer = _answer(raw, cwd, home, table)
        except ValueError as error:
            answer = {"error": f"line {number}: {error}", "line": number}
        # Surrogates cannot be written as UTF-8, and "\u2028" is no line end: ASCII escapes are always safe.
        sink.write(json.dumps(answer, ensure_ascii=True) + "\n")
        sink.flush()


def _answer(raw: bytes, cwd: str | None, home: str | None, table: CommandTable | None) -> dict[str, Any]:
    try:
        given = json.loads(raw)
    except ValueError as error:
        raise ValueError(f'not JSON ({error}); write one object a line: {{"command": "..."}}') from None
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(given, dict) or not isinstance(given.get("command"), str):
        raise ValueError('expected an object with a text "command"')
    place = given.get("cwd", cwd)
    if place is not None and not isinstance(place, str):
        raise ValueError(f'"cwd" must be a text, got {place!r}')
    where = given.get("home", home)
    if where is not None and not isinstance(where, str):
        raise ValueError(f'"home" must be a text, got {where!r}')
    return read_command(given["command"], cwd=place, home=where, table=table).to_dict()
