"""The recall tools as any agent gets them: names, descriptions, schemas, and arguments checked before anything is read.

The own runtime offers them by `recall_tools`; the MCP server offers the same ones to every host.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.chain.chain import Chain
from holdfast.chain.cursors import RecallError
from holdfast.chain.embeddings import search_of
from holdfast.chain.reach import Reach, ThreadReach
from holdfast.chain.recall import MOST_EVENTS, MOST_HITS, Recall
from holdfast.chain.views import VIEWS
from holdfast.control import Control
from holdfast.core.keys import SessionId
from holdfast.store.json_text import to_json
from holdfast.store.search_filters import Filters
from holdfast.store.search_query import SearchError

Schema = Mapping[str, Any]
Call = Callable[[Mapping[str, Any]], Awaitable[str]]


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


_THREAD = _text("Not needed: your thread is known. If given it is only checked.")


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    name: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


RECALL_TOOLS: tuple[ToolDefinition, ...] = (
    ToolDefinition(
        "list_session_chain",
        "List the sessions of this thread, oldest first: number, state, start, end, and how full each one is.",
        {"threadId": _THREAD},
    ),
    ToolDefinition(
        "session_search",
        "Search everything that was said and done in all sessions of this thread: words, phrases in quotes, code "
        "identifiers, paths, error messages, Chinese. Gives ranked hits with a snippet, sessionId, eventNo and "
        "invocationId. Use it first whenever you are not sure what was done before, or why.",
        {
            "query": _text("What to look for."),
            "threadId": _THREAD,
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_HITS, "default": 10},
            "cursor": _text("nextCursor of the page before."),
            "sessionId": _text("Only in this session."),
            "kind": _text("Only this kind of event: prompt_submitted, assistant_replied, tool_calling, tool_called."),
            "tool": _text("Only this tool: bash, read, edit, ..."),
            "file": _text("Only events that touch this file or folder."),
        },
        ("query",),
    ),
    ToolDefinition(
        "read_session_events",
        'Read a session page by page. view "handoff": its digest and one line a request; "chat": the conversation; '
        '"raw": the events as they are.',
        {
            "sessionId": _text("From list_session_chain or session_search."),
            "cursor": _text("nextCursor of the page before."),
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_EVENTS, "default": 50},
            "view": {"type": "string", "enum": list(VIEWS), "default": "chat"},
        },
        ("sessionId",),
    ),
    ToolDefinition(
        "read_invocation_detail",
        "Read everything that one request led to: every call with its input and output.",
        {
            "invocationId": _text("From session_search or read_session_events."),
            "sessionId": _text("Where to look; not needed."),
            "cursor": _text("nextCursor of the page before."),
        },
        ("invocationId",),
    ),
)
_BY_NAME = {tool.name: tool for tool in RECALL_TOOLS}


def checked(tool: ToolDefinition, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were given, of the right kind; raises `RecallError`."""
    given = {name: value for name, value in arguments.items() if value is not None}
    unknown = sorted(set(given) - set(tool.properties))
    if unknown:
        raise RecallError(f"{tool.name} takes {', '.join(tool.properties)}; it knows no {', '.join(unknown)}")
    for name in tool.required:
        if name not in given:
            raise RecallError(f"{tool.name} needs {name}")
    for name, value in given.items():
        wanted = tool.properties[name]["type"]
        fits = isinstance(value, str) if wanted == "string" else isinstance(value, int) and not isinstance(value, bool)
        if not fits:
            raise RecallError(f"{name} must be a {'text' if wanted == 'string' else 'whole number'}, not {value!r}")
    return given


def answer(recall: Recall, reach: Reach, name: str, arguments: Mapping[str, Any]) -> str:
    """Carry out a call; the answer as JSON. Raises `RecallError`."""
    tool = _BY_NAME.get(name)
    if tool is None:
        raise RecallError(f"no tool {name!r}; there are {', '.join(_BY_NAME)}")
    given = checked(tool, arguments)
    match name:
        case "list_session_chain":
            return to_json(recall.list_session_chain(reach, given.get("threadId")))
        case "read_session_events":
            page = recall.read_session_events(
                reach,
                given["sessionId"],
                cursor=given.get("cursor"),
                limit=given.get("limit", 50),
                view=given.get("view", "chat"),
            )
            return to_json(page)
        case "read_invocation_detail":
            detail = recall.read_invocation_detail(
                reach, given["invocationId"], session=given.get("sessionId"), cursor=given.get("cursor")
            )
            return to_json(detail)
        case _:
            return to_json(
                recall.session_search(
                    reach,
                    given["query"],
                    thread=given.get("threadId"),
                    limit=given.get("limit", 10),
                    cursor=given.get("cursor"),
                    filters=_filters(given),
                )
            )


def _filters(given: Mapping[str, Any]) -> Filters:
    def one(name: str) -> tuple[str, ...]:
        return (str(given[name]),) if name in given else ()

    try:
        return Filters(sessions=one("sessionId"), kinds=one("kind"), tools=one("tool"), files=one("file"))
    except SearchError as error:
        raise RecallError(str(error)) from None


def recall_for(control: Control, chain: Chain | None = None) -> Recall:
    """Recall on a control's store, with its search index."""
    made = chain or Chain(control)
    return Recall(control.store, made.digests, search_of(control.store, control.home), clock=control.clock)


def recall_tools(control: Control, where: SessionId) -> list[tuple[str, str, dict[str, Any], Call]]:
    """`(name, description, schema, call)` of each tool, for an agent of the own runtime; it sees its own thread.

    A call gives JSON text; it raises `RecallError`, whose message is for the model.
    """
    recall = recall_for(control)
    reach = ThreadReach(control.store, where.key)

    def bound(name: str) -> Call:
        async def call(arguments: Mapping[str, Any]) -> str:
            return await asyncio.to_thread(answer, recall, reach, name, arguments)

        return call

    return [(tool.name, tool.description, tool.schema, bound(tool.name)) for tool in RECALL_TOOLS]
