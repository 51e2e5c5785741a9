"""`holdfast chat`, `holdfast run` and `holdfast tour`: the own agent from the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.context import Context, pass_context

if TYPE_CHECKING:
    from holdfast.doors.chat_wanted import Wanted


def _shared(command: Any) -> Any:
    for option in (
        click.option(
            "--profile", type=click.Choice(["desktop", "mobile"]), help="mobile: no bash, no tools of your own."
        ),
        click.option("--agent", metavar="ID", default="", help="Use agents/ID.md of the home."),
        click.option("--model", metavar="NAME", default="", help="Model for this conversation [default: configured]."),
        click.option("--resume", is_flag=True, help="Go on with the newest thread of this directory."),
        click.option("--thread", metavar="ID", default="", help="Go on with this thread (the beginning will do)."),
    ):
        command = option(command)
    return command


@click.command()
@_shared
@pass_context
def chat(context: Context, thread: str, resume: bool, model: str, agent: str, profile: str | None) -> None:
    """Talk with an agent in the terminal. Lines from a pipe are taken one by one, with nobody there to be asked."""
    wanted = {"thread": thread, "resume": resume, "model": model, "agent": agent}
    _choose_profile(context, profile)
    if sys.stdin.isatty() and sys.stdout.isatty():
        code = _at_terminal(context, wanted)
    else:
        from holdfast.doors.chat_script import chat_from_lines

        code = chat_from_lines(_wanted(context, wanted, interactive=False), sys.stdin, context.language)
    if code:
        raise click.exceptions.Exit(code)


def _at_terminal(context: Context, wanted: dict[str, Any]) -> int:
    import asyncio

    from holdfast._version import __version__
    from holdfast.doors import chat_words as say
    from holdfast.doors.chat_app import ChatApp
    from holdfast.doors.chat_rich import RichView
    from holdfast.doors.chat_status import Status

    spoken = context.language
    vault = context.vault()
    model = wanted["model"] or context.config.settings.runtime.model or "offline"
    context.home.create()
    view = RichView(spoken)
    view.say(say.WELCOME(version=__version__, vault=vault, model=model).text(spoken), "dim")

    def load(watch: Any) -> Any:
        from holdfast.doors.chat_engine import Engine

        return Engine(_wanted(context, wanted), watch, on_problem=lambda error: watch(_notice(str(error))))

    app = ChatApp(load, view, history=context.home.data / "chat-history", status=Status(model, spoken), language=spoken)
    return asyncio.run(app.run())


@click.command()
@click.argument("message", nargs=-1, required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per event, the last one is turn_ended.")
@click.option("--yes-safe", is_flag=True, help="Allow commands that are proven to change nothing and read no secret.")
@click.option("--deny-asks", is_flag=True, help="Deny whatever would be asked (the default without a terminal).")
@click.option("--park", is_flag=True, help="Leave the run at a question and exit with 7; --resume goes on later.")
@_shared
@pass_context
def run(
    context: Context,
    message: tuple[str, ...],
    as_json: bool,
    yes_safe: bool,
    deny_asks: bool,
    park: bool,
    thread: str,
    resume: bool,
    model: str,
    agent: str,
    profile: str | None,
) -> None:
    """Give an agent one task and wait for its end. `-` reads the task from standard input.

    \b
    Exit codes: 0 finished; 1 the run failed; 6 finished, but something was refused;
    7 it waits for an answer (--park); 130 interrupted.
    """
    from dataclasses import replace

    from holdfast.doors.chat_script import Script, run_script

    _choose_profile(context, profile)
    text = " ".join(message)
    if text == "-":
        text = sys.stdin.read()
    if not text.strip() and not resume and not thread:
        raise click.UsageError('say what is to be done: holdfast run "..."')
    at_terminal = sys.stdin.isatty() and sys.stderr.isatty() and not as_json
    interactive = park or (at_terminal and not deny_asks)
    wanted = _wanted(
        context, {"thread": thread, "resume": resume, "model": model, "agent": agent}, interactive=interactive
    )
    asked = wanted.interactive  # a person, not only the flag
    if yes_safe:
        wanted = replace(wanted, interactive=True)
    script = Script(text.strip(), as_json=as_json, yes_safe=yes_safe, park=park and asked, ask=asked and not park)
    code = run_script(wanted, script, context.language)
    if code:
        raise click.exceptions.Exit(code)


@click.command()
@click.option("--fast", is_flag=True, help="Without the pauses.")
@pass_context
def tour(context: Context, fast: bool) -> None:
    """See what Holdfast does, in three minutes, in a throw-away directory and with the offline model."""
    from holdfast.doors.chat_tour import run_tour

    code = run_tour(context.language, fast=fast)
    if code:
        raise click.exceptions.Exit(code)


def _choose_profile(context: Context, profile: str | None) -> None:
    """`--profile` is a setting like any other, given inline (HK6)."""
    if profile:
        context.assignments = (*context.assignments, f'profile="{profile}"')


def _wanted(context: Context, given: dict[str, Any], *, interactive: bool = True) -> Wanted:
    from pathlib import Path

    from holdfast.doors.chat_wanted import Wanted

    unattended = context.config.settings.runtime.permission.unattended
    return Wanted(
        home=context.home,
        inline=context.inline,
        vault=context.vault(),
        cwd=Path.cwd(),
        interactive=interactive and not unattended,
        **given,
    )


def _notice(text: str) -> Any:
    from holdfast.runtime.ui_events import Notice

    return Notice(text=text)
