"""Calls the own agent's tools for real, as the runner would after the plane let a call pass."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.core.keys import SessionId, SessionKey
from holdfast.core.settings import Settings
from holdfast.runtime.tool import ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools import all_tools
from holdfast.runtime.tools.bash_jobs import end_session
from holdfast.runtime.tools.journal import Undone, undo_last

TOOLS = {tool.name: tool for tool in all_tools("desktop")}


def with_runtime(settings: Settings, **changes: Any) -> Settings:
    """The settings with other values under `agents.runtime`."""
    return replace(settings, agents=replace(settings.agents, runtime=replace(settings.runtime, **changes)))


def with_bash(settings: Settings, **changes: Any) -> Settings:
    tools = settings.runtime.tools
    return with_runtime(settings, tools=replace(tools, bash=replace(tools.bash, **changes)))


class Bench:
    def __init__(self, folder: Path, settings: Settings | None = None) -> None:
        self.vault = folder / "vault"
        self.home = folder / "home"
        for path in (self.vault, self.home):
            path.mkdir(mode=0o700, exist_ok=True)
        self.settings = settings or Settings()
        self.memory: dict[str, Any] = {}
        self.said: list[str] = []
        self._calls = 0

    def context(self, cwd: Path | None = None) -> ToolContext:
        self._calls += 1
        return ToolContext(
            vault=self.vault,
            cwd=cwd or self.vault,
            where=SessionId(SessionKey("user", "agent", "thread"), "session-1"),
            call_id=f"call-{self._calls}",
            settings=self.settings,
            home=self.home,
            say=self.said.append,
            memory=self.memory,
        )

    async def acall(self, tool: str, *, cwd: Path | None = None, **given: Any) -> ToolOutput:
        return await TOOLS[tool].run(self.context(cwd), given)

    def call(self, tool: str, *, cwd: Path | None = None, **given: Any) -> ToolOutput:
        return asyncio.run(self.acall(tool, cwd=cwd, **given))

    def text(self, tool: str, **given: Any) -> str:
        return self.call(tool, **given).text

    def failure(self, tool: str, **given: Any) -> str:
        """What the tool refused with; it is a mistake of the test when it did not."""
        try:
            output = self.call(tool, **given)
        except ToolFailure as failure:
            return str(failure)
        raise AssertionError(f"{tool} did not refuse: {output.text}")

    def put(self, path: str, content: str | bytes = "", mode: int | None = None) -> Path:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            file.chmod(mode)
        return file

    def seen(self, path: str, content: str | bytes = "") -> Path:
        """A file that the model has read."""
        file = self.put(path, content)
        self.call("read", path=path)
        return file

    def undo(self) -> Undone | None:
        return undo_last(self.context())

    def tree(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.vault).as_posix(): path.read_bytes()
            for path in sorted(self.vault.rglob("*"))
            if path.is_file()
        }

    def close(self) -> None:
        end_session(self.context())
