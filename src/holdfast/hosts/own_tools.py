"""Our own MCP tools under a host's name for them: they have no effect outside, and the hook leaves them a ticket."""

from __future__ import annotations

from holdfast.chain.memory_tools import MEMORY_TOOLS
from holdfast.chain.recall_tools import RECALL_TOOLS
from holdfast.chain.tickets import leave_ticket
from holdfast.control import OWN_MCP_SERVER
from holdfast.core.events import ToolCalling
from holdfast.core.outcome import Outcome
from holdfast.hosts.sessions import Place
from holdfast.store.interface import Store

OWN_TOOLS = frozenset(tool.name for tool in (*RECALL_TOOLS, *MEMORY_TOOLS))
_PREFIX = f"mcp__{OWN_MCP_SERVER}__"


def neutral(tool: str) -> str:
    """`session_search` for `mcp__holdfast__session_search`; any other name stays as it is."""
    bare = tool.removeprefix(_PREFIX)
    return bare if bare in OWN_TOOLS and tool.startswith(_PREFIX) else tool


def announce(store: Store, place: Place, event: ToolCalling, outcome: Outcome) -> None:
    """Tell the server whose call it is about to get (SC5)."""
    if event.call.tool in OWN_TOOLS and event.call.host_tool != event.call.tool:
        arguments = outcome.input if outcome.input is not None else event.call.input
        leave_ticket(store, event.where, place.vault, event.call.tool, arguments, event.call.id, event.at)
