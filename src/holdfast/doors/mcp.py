"""The MCP server: recall and memory for any host, over standard input or over HTTP on loopback (SC5).

Whose threads a call may read is decided by the server's scope, never by what the call says. This is the only module
that imports the `mcp` library: it costs most of a second.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast._version import __version__
from holdfast.chain.chain import Chain
from holdfast.chain.cursors import RecallError
from holdfast.chain.embeddings import search_of
from holdfast.chain.memory_tools import MEMORY_TOOLS, memory_answer
from holdfast.chain.reach import Reach, ThreadReach, VaultReach
from holdfast.chain.recall import Recall
from holdfast.chain.recall_tools import RECALL_TOOLS, answer
from holdfast.chain.tickets import TicketError, take_ticket
from holdfast.control import Control
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import StoreError
from holdfast.store.search_keeper import KeepFresh

CALL_SECONDS = 60.0
_MEMORY = {tool.name for tool in MEMORY_TOOLS}
_NAMES = tuple(tool.name for tool in (*RECALL_TOOLS, *MEMORY_TOOLS))
_CALL_ID_KEYS = ("claudecode/toolUseId", "toolUseId", "tool_use_id", "callId", "call_id")

INSTRUCTIONS = (
    "Holdfast keeps the whole record of this thread, also of sessions before this one. When you are not sure what was "
    "done, why, or where a file or decision comes from: session_search first, then read_session_events with "
    'view="handoff", then read_invocation_detail. Do not guess.'
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose call it is."""

    reach: Reach
    where: SessionId
    vault: str
    call_id: str = ""


class CallerScope(Protocol):
    def caller(self, tool: str, arguments: Mapping[str, Any], call_id: str) -> Caller:
        """Raises `TicketError` when it cannot be told."""
        ...


class ByTicket:
    """With hooks attached: whoever's hook has left a ticket for this very call."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def caller(self, tool: str, arguments: Mapping[str, Any], call_id: str) -> Caller:
        control = self._control
        ticket = take_ticket(control.store, control.user, tool, arguments, control.clock(), call_id)
        reach = ThreadReach(control.store, ticket.where.key)
        return Caller(reach, ticket.where, ticket.vault, ticket.call_id)


class ByThread:
    """Without hooks: the one thread that the server was started for."""

    def __init__(self, control: Control, key: SessionKey, vault: str) -> None:
        self._control = control
        self._key = key
        self._vault = vault

    def caller(self, tool: str, arguments: Mapping[str, Any], call_id: str) -> Caller:
        chain = self._control.store.chain(self._key)
        where = chain[-1].id if chain else SessionId(self._key, f"mcp-{self._key.thread}")
        vault = chain[-1].vault if chain else self._vault
        return Caller(ThreadReach(self._control.store, self._key), where, vault)


class ByVault:
    """Without hooks: all threads of the user in one project, because a person has started it so."""

    def __init__(self, control: Control, vault: str) -> None:
        self._control = control
        self._vault = vault

    def caller(self, tool: str, arguments: Mapping[str, Any], call_id: str) -> Caller:
        key = SessionKey(self._control.user, "mcp", f"mcp-{self._vault}")
        return Caller(VaultReach(self._control.store, key.user, self._vault), SessionId(key, key.thread), self._vault)


class RecallServer:
    """The tools on one control. Every call has a deadline and runs in a thread of its own."""

    def __init__(self, control: Control, scope: CallerScope, *, keep_fresh: bool = True) -> None:
        self._control = control
        self._scope = scope
        self.search = search_of(control.store, control.home)
        self._recall = Recall(control.store, Chain(control).digests, self.search, clock=control.clock)
        self._keeper = KeepFresh(self.search) if keep_fresh else None
        self.server: Server[Any] = Server(
            "holdfast",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    def __enter__(self) -> RecallServer:
        if self._keeper is not None:
            self._keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._keeper is not None:
            self._keeper.stop()
        else:
            self.search.close()

    async def _list_tools(self, ctx: Any, params: Any) -> ListToolsResult:
        tools = [
            Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.schema,
                annotations=ToolAnnotations(
                    read_only_hint=tool.name != "memory_propose", destructive_hint=False, open_world_hint=False
                ),
            )
            for tool in (*RECALL_TOOLS, *MEMORY_TOOLS)
        ]
        return ListToolsResult(tools=tools)

    async def _call_tool(self, ctx: Any, params: CallToolRequestParams) -> CallToolResult:
        arguments = params.arguments or {}
        call_id = _call_id(ctx.meta)
        text, failed = "this took too long; ask for less", True
        with anyio.move_on_after(CALL_SECONDS):
            text, failed = await anyio.to_thread.run_sync(
                self.call, params.name, arguments, call_id, abandon_on_cancel=True
            )
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=failed)

    def call(self, name: str, arguments: Mapping[str, Any], call_id: str = "") -> tuple[str, bool]:
        """The answer's text, and whether it is an error. Nothing of another thread is ever in it."""
        try:
            if name not in _NAMES:
                raise RecallError(f"no tool {name!r}; there are {', '.join(_NAMES)}")
            caller = self._scope.caller(name, arguments, call_id)
            if name in _MEMORY:
                said = memory_answer(self._control, caller.where, caller.vault, name, arguments, caller.call_id)
                return said, False
            return answer(self._recall, caller.reach, name, arguments), False
        except (RecallError, TicketError) as error:
            return str(error), True
        except StoreError as error:
            logger.warning("recall failed: %s", error)
            return f"Holdfast's store could not be read ({type(error).__name__}); run `holdfast doctor`", True
        except Exception as error:
            logger.exception("recall failed")
            return f"Holdfast itself failed ({type(error).__name__}); run `holdfast doctor`", True


def _call_id(meta: Any) -> str:
    """The host's own id of the call, where it hands it on."""
    known = meta if isinstance(meta, Mapping) else getattr(meta, "model_extra", None) or {}
    return next((str(known[key]) for key in _CALL_ID_KEYS if known.get(key)), "")


async def serve_stdio(recall: RecallServer) -> None:
    """Until the host closes our standard input."""
    async with stdio_server() as (incoming, outgoing):
        await recall.server.run(incoming, outgoing, recall.server.create_initialization_options())


def http_app(recall: RecallServer, token: str, port: int) -> ASGIApp:
    """Streamable HTTP at /mcp; only for programs of this machine that know the token."""
    hosts = [f"{name}:{port}" for name in ("127.0.0.1", "localhost")]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[])
    app = recall.server.streamable_http_app(json_response=True, transport_security=security)
    return TokenGate(app, token)


class TokenGate:
    """Lets nobody through without the token, and no browser page at all."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._may_enter(dict(scope["headers"])):
            headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b'{"error":"wrong or missing token"}'})
            return
        await self._app(scope, receive, send)

    def _may_enter(self, headers: Mapping[bytes, bytes]) -> bool:
        given = headers.get(b"authorization", b"")
        return b"origin" not in headers and hmac.compare_digest(given, self._expected)
