"""`holdfast search`: find what was said and done, in this project, in a conversation or everywhere."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_USAGE, Failure
from holdfast.doors.output import emit, json_option, moment, size, visible

if TYPE_CHECKING:
    from holdfast.store.search import Search, SearchHit, SearchPage

_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_MANY = 1_000


@click.command()
@click.argument("query", nargs=-1)
@click.option("--here", is_flag=True, help="Only this project.")
@click.option("--thread", "threads", multiple=True, metavar="ID", help="Only this conversation; its beginning will do.")
@click.option("--session", "sessions", multiple=True, metavar="ID", help="Only this session; its beginning will do.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Only this agent.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only such events, as prompt_submitted.")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="Only calls of this tool.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="Only calls that touched this file or folder.")
@click.option("--since", metavar="WHEN", help="A date, a date with time, or an age such as 3d, 12h, 30m.")
@click.option("--until", metavar="WHEN", help="The same; not included.")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Hits on a page.")
@click.option("--cursor", metavar="CURSOR", help="The next page: what the last one printed.")
@click.option("--all", "match_all", is_flag=True, help="Every word must be there, also in a question.")
@click.option("--any", "match_any", is_flag=True, help="Some of the words are enough.")
@click.option("--semantic", is_flag=True, help="Search by meaning too; vectors that are missing are made first.")
@click.option("--plain", is_flag=True, help="Search by words only, whatever is configured.")
@click.option("--rebuild", is_flag=True, help="Build the index anew from the store; with --semantic the vectors.")
@click.option("--status", "show_status", is_flag=True, help="Tell how large and how current the index is.")
@json_option
@pass_context
def search(
    context: Context,
    query: tuple[str, ...],
    here: bool,
    threads: tuple[str, ...],
    sessions: tuple[str, ...],
    agents: tuple[str, ...],
    kinds: tuple[str, ...],
    tools: tuple[str, ...],
    files: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int,
    cursor: str | None,
    match_all: bool,
    match_any: bool,
    semantic: bool,
    plain: bool,
    rebuild: bool,
    show_status: bool,
    as_json: bool,
) -> None:
    """Search everything that was said and done.

    Words, "phrases", beginnings* and questions; parts of identifiers, paths, error messages, Chinese. What is
    written without a space, as store/search.py, is found as it stands. Each hit names its session and event number.
    """
    if match_all and match_any:
        raise click.UsageError("--all and --any exclude one another")
    if semantic and plain:
        raise click.UsageError("--semantic and --plain exclude one another")
    if not query and not rebuild and not show_status and not semantic:
        raise click.UsageError("say what to search for")
    if not context.has_store:
        emit({"hits": [], "cursor": None} if query else {}, "nothing recorded", as_json)
        return
    from holdfast.chain.embeddings import search_of
    from holdfast.doors import search_names as names
    from holdfast.store.search_filters import Filters, Scope
    from holdfast.store.search_query import SearchError

    finder = search_of(context.store, context.home)
    try:
        if rebuild and semantic:
            _forget_vectors(finder)
        elif rebuild:
            _rebuild(finder, as_json and not query)
        if semantic:
            _make_vectors(finder, as_json or bool(query))
        if show_status:
            _show_status(finder, as_json)
        if not query:
            return
        _catch_up(finder)
        scope = Scope.project(str(context.vault())) if here else Scope()
        filters = Filters(
            names.known_sessions(context.store, sessions),
            names.known_kinds(kinds),
            tools,
            files,
            names.known_agents(context.store, agents),
            names.known_threads(context.store, threads),
            *_between(since, until),
        )
        match: str = "all" if match_all else "any" if match_any else "auto"
        page = finder.find(" ".join(query), scope, filters, limit, cursor, match=match, by_meaning=not plain)  # type: ignore[arg-type]
        emit(_as_data(page), _as_text(page, sys.stdout.isatty()), as_json)
    except SearchError as error:
        raise Failure(str(error), EXIT_USAGE) from None
    finally:
        finder.close()


def _rebuild(finder: Search, as_json: bool) -> None:
    done = finder.rebuild(_progress("indexing"))
    _end_of_progress()
    if done.busy:
        raise Failure("another process is writing the index; stop it (`holdfast daemon stop`) or try again later")
    _drop_leftovers(finder)
    emit({"indexed": done.indexed}, f"{done.indexed} events read into a new index", as_json)


def _drop_leftovers(finder: Search) -> None:
    """Vectors of a search by meaning that was turned off."""
    from holdfast.store.meaning_embedder import EmbeddingError

    try:
        if not finder.meaning.is_on:
            finder.meaning.clear()
    except EmbeddingError:
        return  # the configuration cannot be read: whether it is off is not known


def _forget_vectors(finder: Search) -> None:
    if not finder.meaning.clear():
        raise Failure("another process is making vectors; stop it (`holdfast daemon stop`) or try again later")


def _make_vectors(finder: Search, quiet: bool) -> None:
    """What is missing, with progress; an endpoint that fails is told, and the search goes on by words."""
    from holdfast.store.meaning_embedder import EmbeddingError

    try:
        if not finder.meaning.is_on:
            raise Failure(
                "search by meaning is off: `search.semantic.model` and `search.semantic.baseUrl` in the "
                "configuration file turn it on (docs/how-to/search.md)",
                EXIT_USAGE,
            )
        done = finder.meaning.follow(None, _progress("reading for meaning"))
        _end_of_progress()
        if done.busy:
            click.echo("another process is making vectors; not all of them may be there yet", err=True)
        elif not quiet:
            click.echo(f"{done.indexed} vectors made")
    except EmbeddingError as error:
        _end_of_progress()
        click.echo(f"not all vectors could be made: {visible(str(error))}", err=True)


def _show_status(finder: Search, as_json: bool) -> None:
    status = finder.status()
    meaning = finder.meaning.status()
    text = [
        f"indexed  {status.documents} events with text, {size(status.bytes)}",
        f"current  {'no, the rest is read when you search' if status.behind else 'yes'}",
    ]
    if status.removed:
        text.append(f"deleted  {status.removed} events, still in old files until --rebuild")
    if status.trouble:
        text.append(f"trouble  {visible(status.trouble)}; --rebuild makes a new index")
    if meaning is not None:
        current = "more to be made" if meaning.behind else "current"
        text.append(f"meaning  {meaning.vectors} vectors by {visible(meaning.model)}, {size(meaning.bytes)}, {current}")
    emit({**asdict(status), "meaning": asdict(meaning) if meaning else None}, text, as_json)


def _catch_up(finder: Search) -> None:
    """A few new events are simply read along; many are indexed first, which every later search is glad of."""
    if finder.unindexed(_MANY) < _MANY:
        return
    while (done := finder.refresh(4.0, _progress("indexing"))).behind and not done.busy:
        pass
    _end_of_progress()


def _progress(what: str) -> Callable[[int], None]:
    shown = sys.stderr.isatty()

    def show(count: int) -> None:
        if shown:
            click.echo(f"\r{what}: {count} events", nl=False, err=True)

    return show


def _end_of_progress() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)


def _between(since: str | None, until: str | None) -> tuple[float | None, float | None]:
    now = time.time()
    low, high = _moment_of(since, now), _moment_of(until, now)
    if low is not None and high is not None and low >= high:
        raise Failure(f"--since {since} is not before --until {until}", EXIT_USAGE)
    return low, high


def _moment_of(text: str | None, now: float) -> float | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([mhdw])", text)
    if found:
        return now - float(found[1]) * _UNITS[found[2]]
    from datetime import datetime

    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except ValueError:
        raise Failure(
            f"{text!r} is no time: give a date (2026-03-01), a date with time, or an age (3d, 12h, 30m)", EXIT_USAGE
        ) from None


def _as_data(page: SearchPage) -> dict[str, object]:
    return asdict(page)


def _as_text(page: SearchPage, in_colour: bool) -> Iterator[str]:
    if not page.hits:
        yield "nothing found"
    for hit in page.hits:
        what = f"{hit.kind} {hit.tool}".strip()
        yield f"{visible(hit.session)} #{hit.event_no}  {moment(hit.at)}  {visible(what)}"
        yield f"    {_marked(hit, in_colour)}"
    if not page.complete:
        yield "not everything could be searched in time; search again, or run `holdfast search --rebuild`"
    if page.notice:
        yield visible(page.notice.text())
    if page.cursor is not None:
        yield f"more: --cursor {page.cursor}"


def _marked(hit: SearchHit, in_colour: bool) -> str:
    """The snippet with its matches in bold; whatever else could steer a terminal is made visible."""
    pieces, at = [], 0
    for low, high in hit.marks:
        found = visible(hit.snippet[low:high])
        pieces += [visible(hit.snippet[at:low]), click.style(found, bold=True) if in_colour else found]
        at = high
    return "".join([*pieces, visible(hit.snippet[at:])])
