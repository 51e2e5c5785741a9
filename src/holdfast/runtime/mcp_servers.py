"""Tools of MCP servers, over standard input and streamable HTTP, judged per server and tool like every other (PE4).

Each server is held open by a task of its own, because its connection must be closed where it was opened. One that does
not start, or dies, is named and left out; the others are there all the same, and the next call tries it again.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.core.settings import McpServer
from holdfast.core.tools import ToolSpec
from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput

if TYPE_CHECKING:
    from mcp.client.client import Client

START_SECONDS = 15.0
CALL_SECONDS = 120.0
PING_SECONDS = 5.0
_CLOSE_SECONDS = 5.0
_MOST_PAGES = 50
_LONGEST_NAME = 64
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


class McpServers:
    """The configured servers of one process."""

    def __init__(self, logs: Path, *, start_seconds: float = START_SECONDS, call_seconds: float = CALL_SECONDS) -> None:
        self._logs = logs
        self._patience = (start_seconds, call_seconds)
        self._servers: dict[str, _Server] = {}
        self.problems: list[str] = []
        """Servers that did not start, each with the reason."""

    async def open(self, configured: Mapping[str, McpServer], *, profile: str = "desktop") -> None:
        """Start what is switched on; returns when each has answered or its time is up."""
        wanted = {
            name: _Server(name, server, self._logs, *self._patience)
            for name, server in configured.items()
            if server.enabled and (server.url or (server.command and profile == "desktop"))
        }
        self._servers |= wanted
        found = await asyncio.gather(*(server.start() for server in wanted.values()), return_exceptions=True)
        self.problems = [
            f"The MCP server {name!r} is left out: {_words(error)}. Its log: {self._logs / f'mcp-{name}.log'}"
            for name, error in zip(wanted, found, strict=True)
            if isinstance(error, BaseException)
        ]

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Each under a name of its own: a name that stood for two tools would be judged by the wrong one's rules."""
        found: dict[str, Tool] = {}
        for tool in (tool for server in self._servers.values() for tool in server.tools):
            name = tool.name
            if name in found and tool.spec is not None:
                name = tool_name(tool.spec.mcp_server, tool.spec.mcp_tool, marked=True)
            found.setdefault(name, replace(tool, name=name))
        return tuple(found.values())

    @property
    def specs(self) -> dict[str, ToolSpec]:
        return {tool.name: tool.spec for tool in self.tools if tool.spec is not None}

    async def close(self) -> None:
        await asyncio.gather(*(server.close() for server in self._servers.values()))
        self._servers.clear()


class _Server:
    """One server: connected, listed, called."""

    def __init__(self, name: str, settings: McpServer, logs: Path, start_seconds: float, call_seconds: float) -> None:
        self._name = name
        self._start_seconds = start_seconds
        self._call_seconds = call_seconds
        self._settings = settings
        self._logs = logs
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Client] | None = None
        self._closing = asyncio.Event()
        self.tools: tuple[Tool, ...] = ()

    async def start(self) -> None:
        client = await self._client()
        listed: list[Any] = []
        cursor: str | None = None
        async with asyncio.timeout(self._start_seconds):
            for _ in range(_MOST_PAGES):
                page = await client.list_tools(cursor=cursor)
                listed += page.tools
                cursor = page.next_cursor
                if not cursor:
                    break
        self.tools = tuple(self._tool(tool) for tool in listed)

    async def close(self) -> None:
        if self._task is None:
            return
        self._closing.set()
        _, running = await asyncio.wait([self._task], timeout=_CLOSE_SECONDS)
        for task in running:
            task.cancel()
        await asyncio.wait([self._task], timeout=_CLOSE_SECONDS)
        self._task = None

    async def _client(self) -> Client:
        """The connection, made anew when it is gone."""
        if self._task is None or self._task.done():
            self._ready = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._hold(self._ready), name=f"mcp {self._name}")
        assert self._ready is not None
        async with asyncio.timeout(self._start_seconds):
            return await asyncio.shield(self._ready)

    async def _hold(self, ready: asyncio.Future[Client]) -> None:
        from mcp.client.client import Client  # noqa: PLC0415 (most of a second to load, and not everybody has servers)

        try:
            with self._log() as log:
                async with Client(self._transport(log)) as client:
                    ready.set_result(client)
                    await self._closing.wait()
        except Exception as error:
            if not ready.done():
                ready.set_exception(error)
                ready.exception()  # somebody may have stopped waiting for it

    def _transport(self, log: Any) -> Any:
        if self._settings.url:
            return self._settings.url
        from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415 (as above)

        server = StdioServerParameters(
            command=self._settings.command, args=list(self._settings.args), env=dict(self._settings.env) or None
        )
        return stdio_client(server, errlog=log)

    def _log(self) -> contextlib.AbstractContextManager[Any]:
        self._logs.mkdir(parents=True, exist_ok=True)
        name = _NOT_IN_A_NAME.sub("_", self._name)
        return (self._logs / f"mcp-{name}.log").open("a", encoding="utf-8", errors="replace")

    def _tool(self, listed: Any) -> Tool:
        original = str(listed.name)

        async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
            return await self._call(original, given)

        return Tool(
            name=tool_name(self._name, original),
            description=str(listed.description or f"{original} of the MCP server {self._name}"),
            parameters=dict(listed.input_schema or {"type": "object", "properties": {}}),
            run=run,
            spec=ToolSpec(original, "mcp", mcp_server=self._name, mcp_tool=original),
        )

    async def _call(self, tool: str, given: Mapping[str, Any]) -> ToolOutput:
        try:
            client = await self._client()
            async with asyncio.timeout(self._call_seconds):
                result = await client.call_tool(tool, dict(given))
        except TimeoutError:
            await self._drop_if_gone()
            raise ToolFailure(
                f"The MCP server {self._name!r} did not answer {tool} within {self._call_seconds:g} s. It may have had "
                "an effect: look before you repeat it."
            ) from None
        except Exception as error:
            await self._drop_if_gone()
            raise ToolFailure(f"The MCP server {self._name!r} failed at {tool}: {_words(error)}") from error
        return output_of(result)

    async def _drop_if_gone(self) -> None:
        """The library does not say that a server has died; one that does not answer a ping is connected anew."""
        task, ready = self._task, self._ready
        if task is None or task.done() or ready is None or not ready.done() or ready.exception() is not None:
            return
        try:
            async with asyncio.timeout(PING_SECONDS):
                await ready.result().list_tools()
        except Exception:
            task.cancel()
            await asyncio.wait([task], timeout=_CLOSE_SECONDS)


def tool_name(server: str, tool: str, *, marked: bool = False) -> str:
    """What models call it: `mcp__server__tool`, in the letters and the length that providers take."""
    name = _NOT_IN_A_NAME.sub("_", f"mcp__{server}__{tool}")
    if len(name) <= _LONGEST_NAME and not marked:
        return name
    mark = hashlib.sha256(f"{server}\n{tool}".encode()).hexdigest()[:8]
    return f"{name[: _LONGEST_NAME - 9]}_{mark}"


def output_of(result: Any) -> ToolOutput:
    """A result as text: what has none is named, never passed on in bulk."""
    parts = [_part(content) for content in result.content or ()]
    text = "\n".join(part for part in parts if part)
    if not text and result.structured_content is not None:
        return ToolOutput(json.dumps(result.structured_content, ensure_ascii=False), structured=True)
    return ToolOutput(text, failed=bool(result.is_error))


def _part(content: Any) -> str:
    text = getattr(content, "text", None)
    if isinstance(text, str):
        return text
    resource: Any = getattr(content, "resource", None)
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        return text
    data = getattr(content, "data", None) or getattr(resource, "blob", None) or ""
    kind = getattr(content, "mime_type", None) or getattr(resource, "mime_type", None) or getattr(content, "type", "")
    where = getattr(content, "uri", None) or getattr(resource, "uri", None) or ""
    return f"[{kind} {where}".rstrip() + (f", {len(data)} characters of base64]" if data else "]")


def _words(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):  # the library's task groups wrap what went wrong
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    return f"{type(error).__name__}: {error}".rstrip(": ")[:500]
