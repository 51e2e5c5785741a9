"""`holdfast mcp`: recall and memory for hosts, over standard input or HTTP on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_USAGE, Failure

if TYPE_CHECKING:
    from holdfast.control import Control
    from holdfast.doors.mcp import CallerScope


@click.command()
@click.option("--http", is_flag=True, help="Serve streamable HTTP on loopback instead of standard input.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Port of --http [default: any that is free].")
@click.option("--thread", metavar="ID", default="", help="Serve this one thread, to hosts without hooks.")
@click.option("--agent", metavar="NAME", default="", help="Whose thread it is [default: whoever has one of that name].")
@click.option(
    "--scope",
    type=click.Choice(["ticket", "vault"]),
    default="ticket",
    show_default=True,
    help="ticket: a call reads the thread of the session whose hook announced it; vault: all threads of this project.",
)
@pass_context
def mcp_command(context: Context, http: bool, port: int, thread: str, agent: str, scope: str) -> None:
    """Serve recall and memory over MCP: what was said and done before, to any agent that may know it.

    With hooks attached nothing needs to be said: a call reads the thread of the session that made it.
    """
    import asyncio
    import logging
    import sys

    from holdfast.control import Control
    from holdfast.doors.mcp import RecallServer, serve_stdio

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    control = Control.open(context.home, inline=context.inline)
    try:
        chosen = _scope(context, control, thread, agent, scope)
        with RecallServer(control, chosen) as recall:
            asyncio.run(_serve_http(context, recall, port) if http else serve_stdio(recall))
    except KeyboardInterrupt:
        pass
    finally:
        control.close()


def _scope(context: Context, control: Control, thread: str, agent: str, scope: str) -> CallerScope:
    from holdfast.core.keys import SessionKey
    from holdfast.doors.mcp import ByThread, ByTicket, ByVault

    if thread and scope == "vault":
        raise click.UsageError("--thread and --scope vault exclude one another")
    if scope == "vault":
        return ByVault(control, str(context.vault()))
    if not thread:
        return ByTicket(control)
    known = control.store.sessions(user=control.user, thread=thread, agent=agent or None, limit=1000)
    agents = sorted({session.id.agent for session in known})
    if len(agents) > 1:
        raise Failure(f"thread {thread!r} has sessions of {', '.join(agents)}; choose one by --agent", EXIT_USAGE)
    if not agents and not agent:
        raise Failure(f"there is no thread {thread!r}; `holdfast sessions list` shows them", EXIT_USAGE)
    return ByThread(control, SessionKey(control.user, agent or agents[0], thread), str(context.vault()))


async def _serve_http(context: Context, recall: Any, port: int) -> None:
    import socket

    import uvicorn

    from holdfast.doors.daemon_process import token_of
    from holdfast.doors.mcp import http_app

    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen()
        except OSError as error:
            raise Failure(f"port {port} cannot be used: {error.strerror}; give another by --port", EXIT_USAGE) from None
        chosen = int(listener.getsockname()[1])
        app = http_app(recall, token_of(context.home), chosen)
        click.echo(f"http://127.0.0.1:{chosen}/mcp  (token in {context.home.run / 'token'})", err=True)
        config = uvicorn.Config(app, log_level="warning", timeout_keep_alive=600, lifespan="on")
        await uvicorn.Server(config).serve(sockets=[listener])
