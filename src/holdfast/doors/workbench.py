"""What every conversation of a process shares: the user's tools and agents, and the MCP servers, opened once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from holdfast.control import Control
from holdfast.core.settings import ModelParams
from holdfast.runtime.mcp_servers import McpServers
from holdfast.runtime.runner import Conversation
from holdfast.runtime.tool import Tool
from holdfast.runtime.toolbox import Toolbox, Tools, tools_in
from holdfast.runtime.ui_events import Watch
from holdfast.store.agent_files import AgentWatcher
from holdfast.store.interface import Session


class Workbench:
    """`say` hears what of tools, agents and servers is broken, each thing once."""

    def __init__(self, control: Control, say: Callable[[str], None]) -> None:
        self.control = control
        self._say = say
        self._tools = Tools(control.home)
        self._servers = McpServers(control.home.logs)
        self._agents = AgentWatcher(control.home.agents, lambda problem: say(str(problem)))
        self._started = False

    def conversation(
        self,
        session: Session,
        watch: Watch,
        *,
        model: str = "",
        agent: str = "",
        interactive: bool = True,
        inline: ModelParams | None = None,
        answer_by_itself: Callable[[Any], str | None] = lambda approval: None,
    ) -> Conversation:
        def tools() -> Sequence[Tool]:
            return tools_in(self.current_tools(), self.control, session.id)

        return Conversation(
            self.control,
            session,
            watch=watch,
            tools=tools,
            model=model,
            agent=agent,
            interactive=interactive,
            inline=inline,
            answer_by_itself=answer_by_itself,
        )

    def current_tools(self) -> Toolbox:
        """The tools of the next run, judged by their own specs."""
        self._agents.current()
        own = self._tools.current(self.control.settings.runtime)
        tools, specs = (*own.tools, *self._servers.tools), {**own.specs, **self._servers.specs}
        found = replace(own, tools=tools, specs=specs)
        self.control.offer(found.specs)
        for problem in found.problems:
            self._say(problem)
        return found

    async def start(self) -> None:
        """Before the first run: a resumed one is judged by these tools, and a broken file is named before a message."""
        if not self._started:
            self._started = True
            runtime = self.control.settings.runtime
            await self._servers.open(runtime.mcp, profile=runtime.profile)
            for problem in self._servers.problems:
                self._say(problem)
        await asyncio.to_thread(self.current_tools)  # it loads files that may take seconds

    async def close(self) -> None:
        await self._servers.close()
