"""`holdfast serve`: the page, for this machine, or for the phone behind TLS."""

from __future__ import annotations

import contextlib
import html
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM, Failure
from holdfast.doors.output import json_option

if TYPE_CHECKING:
    from holdfast.doors.web.security import Address
    from holdfast.doors.web.server import Server

PORT = 8787
OPENER = "page-open.html"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--port", type=click.IntRange(1, 65_535), help=f"Port to listen on [default: {PORT} or the next free].")
@click.option(
    "--listen",
    "--host",
    "listen",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to bind to.",
)
@click.option("--tls", type=(_FILE, _FILE), metavar="CERT KEY", help="Serve HTTPS with this certificate and key.")
@click.option("--behind-proxy", "proxy", metavar="URL", default="", help="A TLS proxy serves this at URL.")
@click.option("--name", "names", metavar="NAME", multiple=True, help="A further host name it is reached by.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option("--profile", type=click.Choice(["desktop", "mobile"]), help="mobile: no bash, no tools of your own.")
@json_option
@pass_context
def serve(
    context: Context,
    port: int | None,
    listen: str,
    tls: tuple[Path, Path] | None,
    proxy: str,
    names: tuple[str, ...],
    no_open: bool,
    profile: str | None,
    as_json: bool,
) -> None:
    """Serve the page until Ctrl-C: chat, approvals of every host, record and settings.

    It listens on this machine only, and a browser enters by the link that is printed: it works once, for ten minutes.
    Press Enter in the terminal for another. Any other address needs --tls or --behind-proxy.
    """
    if profile:
        context.assignments = (*context.assignments, f'profile="{profile}"')
    address = _address(listen, tls, proxy, names)
    from holdfast.doors.web.running import PortTaken, bind

    try:
        listening = bind(listen, port or PORT, exactly=port is not None)
    except PortTaken as taken:
        raise Failure(f"{taken}; name another by --port, or none to take the next free one", EXIT_PROBLEM) from None
    except OSError as error:
        raise Failure(f"cannot listen on {listen!r}: {error.strerror or error}; give one of this machine") from None
    with listening:
        _run(context, address(listening.getsockname()[1]), listening, tls, as_json=as_json, no_open=no_open)


def _address(
    listen: str, tls: tuple[Path, Path] | None, proxy: str, names: tuple[str, ...]
) -> Callable[[int], Address]:
    from holdfast.doors.web.security import Address

    if proxy and not proxy.startswith(("https://", "http://")):
        raise click.UsageError("--behind-proxy takes the URL that browsers use, like https://holdfast.example.org")

    def with_port(port: int) -> Address:
        return Address(listen, port, tls is not None, proxy.rstrip("/"), names)

    if not with_port(PORT).loopback_only and tls is None and not proxy:
        raise click.UsageError(
            f"--listen {listen} would send your work over the network in the clear: give --tls CERT KEY, or "
            "--behind-proxy URL when a proxy adds TLS"
        )
    return with_port


def _run(
    context: Context,
    address: Address,
    listening: Any,
    tls: tuple[Path, Path] | None,
    *,
    as_json: bool,
    no_open: bool,
) -> None:
    from holdfast.control import Control
    from holdfast.doors.process_name import take_name
    from holdfast.doors.web.running import Tls, has_desktop, run
    from holdfast.doors.web.server import Server
    from holdfast.store.home import VaultError

    take_name()
    vault: Path | None = None
    try:
        vault = context.vault()
    except VaultError as error:
        click.echo(f"{error}; the page can show everything, but new threads need a project", err=True)
    control = Control.open(
        context.home, inline=context.inline, on_problem=lambda error: click.echo(str(error), err=True)
    )
    server = Server(control, address=address, vault=vault, cwd=Path.cwd(), inline=context.inline)

    def ready() -> None:
        link = link_of(server)
        if as_json:
            facts = {"url": address.url, "link": link, "port": address.port, "pid": os.getpid()}
            click.echo(json.dumps(facts))
            sys.stdout.flush()
        else:
            _say(server, link)
        if not no_open and not as_json and sys.stdout.isatty() and has_desktop():
            _open_browser(server)
        if sys.stdin.isatty() and not as_json:
            _links_by_enter(server)

    try:
        run(server, listening, tls=Tls(*tls) if tls else None, ready=ready)
    finally:
        (context.home.run / OPENER).unlink(missing_ok=True)
        server.close()
    if not as_json:
        click.echo("stopped")


def link_of(server: Server) -> str:
    """A fresh link; the code is behind `#`, which browsers send to nobody."""
    base = server.address.public_url or server.address.url
    return f"{base}/#enter={server.codes.link()}"


def _say(server: Server, link: str) -> None:
    click.echo(f"The page is served at {server.address.url} until you press Ctrl-C. Enter by this link, once:")
    click.echo(f"\n  {link}\n")
    if sys.stdin.isatty():
        click.echo("Press Enter for a new link.")
    sys.stdout.flush()


def _open_browser(server: Server) -> None:
    """By a file that only the user can read: other programs see the arguments of every process, a browser's too."""
    import webbrowser

    from holdfast.store.atomic_file import write_atomic

    target = html.escape(link_of(server), quote=True)
    path = server.home.run / OPENER
    write_atomic(path, f'<!doctype html><meta http-equiv="refresh" content="0;url={target}">'.encode())
    threading.Thread(target=webbrowser.open, args=(path.as_uri(),), daemon=True).start()


def _links_by_enter(server: Server) -> None:
    def watch() -> None:
        with contextlib.suppress(OSError, ValueError):
            for _ in sys.stdin:
                _say(server, link_of(server))

    threading.Thread(target=watch, name="holdfast-enter", daemon=True).start()
