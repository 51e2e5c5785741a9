"""`holdfast import`: take in the transcripts that other agents keep, once or as they grow."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM, EXIT_USAGE, Failure
from holdfast.doors.output import emit, json_option, size

if TYPE_CHECKING:
    from holdfast.chain.importers.sources import Importer, ImportReport
    from holdfast.control import Control

KINDS = ("claude-code", "codex", "gemini", "opencode", "jsonl")
_SHOWN_BROKEN = 20
_LOGGED_EVERY = 5.0


@click.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--watch", is_flag=True, help="Go on with what is added, until Ctrl-C.")
@click.option("--every", type=click.FloatRange(0.1), default=2.0, show_default=True, help="Seconds between looks.")
@click.option("--seconds", type=click.FloatRange(0.1), help="How long to watch [default: until Ctrl-C].")
@click.option("--no-index", is_flag=True, help="Leave the search index for later.")
@json_option
@pass_context
def import_command(
    context: Context,
    kind: str,
    paths: tuple[Path, ...],
    watch: bool,
    every: float,
    seconds: float | None,
    no_index: bool,
    as_json: bool,
) -> None:
    """Take in transcripts of other agents, so that they can be searched. The usual place is looked at unless PATHS
    are given. It can be repeated and interrupted: what is known is not taken in twice.

    jsonl reads what `holdfast sessions export` writes, and any lines with `role` and `content`.

    Lines that cannot be read are counted and listed, and the rest is taken in. Exit code 1 when there were any.
    """
    from holdfast.chain.importers.engine import ImportEngine
    from holdfast.control import Control

    importer = importer_of(kind)
    roots = _roots(importer, paths)
    control = Control.open(context.home, inline=context.inline)
    try:
        engine = ImportEngine(control.store, user=control.user, progress=_progress(as_json))
        report = engine.run(importer, roots)
        _clear(as_json)
        if not no_index:
            _index(control, as_json)
        emit(report.to_dict(), _text(report), as_json)
        if watch:
            _watch(engine, importer, roots, every, seconds, as_json)
    except KeyboardInterrupt:
        click.echo("interrupted; the same command goes on from here", err=True)
        raise
    finally:
        control.close()
    if report.broken_lines or report.skipped:
        raise click.exceptions.Exit(EXIT_PROBLEM)


def importer_of(kind: str) -> Importer:
    from holdfast.chain.importers.claude_code import ClaudeCodeImporter
    from holdfast.chain.importers.codex import CodexImporter
    from holdfast.chain.importers.gemini import GeminiImporter
    from holdfast.chain.importers.jsonl import JsonlImporter
    from holdfast.chain.importers.opencode import OpenCodeImporter

    made: dict[str, Any] = {
        "claude-code": ClaudeCodeImporter,
        "codex": CodexImporter,
        "gemini": GeminiImporter,
        "opencode": OpenCodeImporter,
        "jsonl": JsonlImporter,
    }
    importer: Importer = made[kind]()
    return importer


def _roots(importer: Importer, paths: tuple[Path, ...]) -> list[Path]:
    for path in paths:
        if not path.exists():
            raise Failure(f"{path}: there is no such file or folder", EXIT_USAGE)
    if paths:
        return list(paths)
    usual = importer.roots()
    if not usual:
        raise click.UsageError(f"say which files: holdfast import {importer.name} PATH...")
    there = [root for root in usual if root.exists()]
    if not there:
        raise Failure(f"no transcripts of {importer.name} in {usual[0]}; give the folder as PATH", EXIT_USAGE)
    return there


def _watch(
    engine: Any, importer: Importer, roots: list[Path], every: float, seconds: float | None, as_json: bool
) -> None:
    end = time.monotonic() + seconds if seconds is not None else None
    while end is None or time.monotonic() < end:
        time.sleep(every)
        report = engine.run(importer, roots)
        if report.events or report.broken_lines:
            _clear(as_json)
            emit(report.to_dict(), _text(report), as_json)


def _index(control: Control, as_json: bool) -> None:
    """Many events are indexed at once, so that the first search does not wait."""
    from holdfast.store.search import Search

    search = Search(control.store, control.home.data / "search")
    line = _Line(as_json)
    indexed = 0
    try:
        while search.unindexed(1):
            done = search.refresh(20.0, lambda count: line.show(f"indexing: {indexed + count} events"))  # noqa: B023 - called at once
            if done.busy:
                return
            indexed += done.indexed
    finally:
        search.close()
        _clear(as_json)


class _Line:
    """What is going on: one line that changes on a terminal, a new one now and then in a log."""

    def __init__(self, as_json: bool) -> None:
        self._silent = as_json
        self._in_place = sys.stderr.isatty()
        self._every = 0.1 if self._in_place else _LOGGED_EVERY
        self._next = 0.0 if self._in_place else time.monotonic() + self._every

    def show(self, text: str) -> None:
        now = time.monotonic()
        if self._silent or now < self._next:
            return
        self._next = now + self._every
        click.echo(f"\r{text} " if self._in_place else text, nl=not self._in_place, err=True)


def _progress(as_json: bool) -> Any:
    line = _Line(as_json)
    began = time.monotonic()

    def tell(report: ImportReport, done: int, total: int, file: str) -> None:
        share = 100 * done / total if total else 100
        rate = size(done / max(0.001, time.monotonic() - began))
        line.show(f"{share:3.0f} %  {size(done)} of {size(total)}  {rate}/s  {report.events} events")

    return tell


def _clear(as_json: bool) -> None:
    if sys.stderr.isatty() and not as_json:
        click.echo("\r" + " " * 78 + "\r", nl=False, err=True)


def _some(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _text(report: ImportReport) -> list[str]:
    known = f", {report.known} known already" if report.known else ""
    same = f", {report.unchanged} unchanged" if report.unchanged else ""
    rate = f", {size(report.bytes / report.seconds)}/s" if report.seconds > 1 else ""
    text = [
        f"{_some(report.events, 'event')} of {_some(len(report.sessions), 'session')}{known}; "
        f"{_some(report.files, 'file')}{same}{rate}"
    ]
    text += [f"skipped  {file}: {why}" for file, why in report.skipped]
    if report.broken_lines:
        text.append(f"{_some(report.broken_lines, 'line')} could not be read:")
        text += [f"  {broken}" for broken in report.broken[:_SHOWN_BROKEN]]
        if report.broken_lines > _SHOWN_BROKEN:
            text.append(f"  and {report.broken_lines - _SHOWN_BROKEN} more (--json lists up to 1000)")
    return text
