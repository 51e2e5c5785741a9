"""The commands of the chat: one function each, by name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from holdfast.doors import chat_words as say
from holdfast.doors.output import moment, table, visible

if TYPE_CHECKING:
    from holdfast.doors.chat_app import ChatApp

Command = Callable[["ChatApp", str], Awaitable[None]]


async def run_command(app: ChatApp, line: str) -> None:
    """`/name argument`."""
    name, _, argument = line.partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        app.say(say.NO_SUCH_COMMAND(name=visible(name, 40)), "red")
        return
    await command(app, argument.strip())


async def _help(app: ChatApp, argument: str) -> None:
    rows = [(name, phrase().text(app.language)) for name, phrase in say.HELP]
    app.view.say("\n".join(table(rows)))


async def _compact(app: ChatApp, argument: str) -> None:
    engine = await app.engine()
    await engine.conversation.compact()
    app.status.follow(engine)


async def _mode(app: ChatApp, argument: str) -> None:
    engine = await app.engine()
    wanted = {"agent": "agent", "full": "full_access", "full_access": "full_access"}.get(argument.lower())
    if wanted is None:
        app.say(say.MODE_NOW(mode=engine.conversation.session.mode))
        return
    if wanted == "full_access" and not app.status.full_access:
        if not await app.confirm(say.CONFIRM_FULL().text(app.language)):
            return
        await engine.conversation.set_mode("full_access")
    elif wanted == "agent":
        await engine.conversation.set_mode("agent")
    app.status.follow(engine)


async def _model(app: ChatApp, argument: str) -> None:
    from holdfast.model_endpoints import key_source

    engine = await app.engine()
    if argument:
        engine.conversation.models.name = "" if argument == "default" else argument
    choice = engine.conversation.models.choice()
    app.status.follow(engine)
    source = await asyncio.to_thread(key_source, choice, engine.control.home) if choice.needs_key else "none"
    key = say.KEY_FROM[source or "missing"](name=choice.key_name).text(app.language)
    app.say(say.MODEL_NOW(name=choice.name, url=choice.base_url or "-", window=choice.window or "?", key=key))
    if not argument:
        app.say(say.MODEL_HOW(config=engine.control.home.config))


async def _agent(app: ChatApp, argument: str) -> None:
    from holdfast.store.agent_files import load_agents

    engine = await app.engine()
    files_in = engine.control.home.agents
    files = load_agents(files_in)
    names = ", ".join(files.agents)
    if argument and argument != "default" and argument not in files.agents:
        app.view.say(f"no agent {visible(argument, 40)!r}", "red")
    elif argument:
        engine.conversation.setup.agent = "" if argument == "default" else argument
    current = engine.conversation.setup.agent or engine.control.settings.runtime.agent.id or "default"
    app.say(say.AGENT_NOW(name=current, names=names) if names else say.NO_AGENTS(folder=files_in))
    for problem in files.problems:
        app.view.say(str(problem), "yellow")


async def _undo(app: ChatApp, argument: str) -> None:
    engine = await app.engine()
    what = engine.undo()
    app.say(say.UNDONE(what=visible(what)) if what else say.NOTHING_TO_UNDO())


async def _resume(app: ChatApp, argument: str) -> None:
    engine = await app.engine()
    if argument:
        await engine.switch(argument)
        app.status.follow(engine)
    if not await app.resume():
        app.say(say.NOTHING_TO_RESUME())


async def _sessions(app: ChatApp, argument: str) -> None:
    from pathlib import Path

    from holdfast.runtime.threads import threads

    engine = await app.engine()
    current = engine.conversation
    rows = []
    for session in threads(engine.control, Path(current.session.vault)):
        mark = "*" if session.id.thread == current.where.thread else " "
        title = engine.first_words(session)
        rows.append((f"{mark} {session.id.thread}", moment(session.started_at), session.state, visible(title, 60)))
    app.view.say("\n".join(table(rows)))


async def _new(app: ChatApp, argument: str) -> None:
    engine = await app.engine()
    await engine.switch()
    app.status.follow(engine)


async def _quit(app: ChatApp, argument: str) -> None:
    app.quitting = True


COMMANDS: Mapping[str, Command] = {
    "/help": _help,
    "/compact": _compact,
    "/mode": _mode,
    "/model": _model,
    "/agent": _agent,
    "/undo": _undo,
    "/resume": _resume,
    "/sessions": _sessions,
    "/new": _new,
    "/quit": _quit,
    "/exit": _quit,
}
