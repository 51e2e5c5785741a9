"""Search over everything that was said and done: what the command line finds, with places as the page counts them."""

from __future__ import annotations

import time
from typing import Literal

from holdfast.chain.views import CHAT_KINDS
from holdfast.core.messages import Message, Phrase
from holdfast.core.tools import NEUTRAL_TOOLS
from holdfast.doors.web import chain_shapes as shapes
from holdfast.doors.web.records import Answer, Records
from holdfast.doors.web.routes import ApiError, Call, Route, bad_request
from holdfast.doors.web.titles import title_of
from holdfast.store.interface import Session
from holdfast.store.search import Match, SearchHit, SearchPage
from holdfast.store.search_filters import Filters, Scope
from holdfast.store.search_query import SearchError

_NO_QUERY = Phrase("page.no_query", "say what to search for", "请说明要搜索什么")
TOO_LONG = Phrase("page.too_long_query", "{name} must be at most {most} characters long", "{name} 最多 {most} 个字符")


MOST_HITS = 100
LONGEST_QUERY = 1000
_PATIENCE = 10.0
_MOST_SESSIONS = 5000


def find(call: Call) -> Answer:
    """One page of hits, the best first, each with where to read on."""
    records, query = call.server.records, call.query
    limit = call.number("limit", 20, MOST_HITS, 1)
    text = call.text("q").strip()
    if not text:
        raise bad_request(_NO_QUERY(), "q")
    if len(text) > LONGEST_QUERY:
        raise bad_request(TOO_LONG(name="q", most=LONGEST_QUERY), "q")
    for name in query["session"]:
        records.session(name)
    try:
        filters = Filters(
            sessions=tuple(query["session"]),
            kinds=tuple(query["kind"]),
            tools=tuple(query["tool"]),
            files=tuple(query["file"]),
            agents=tuple(query["agent"]),
            threads=tuple(query["thread"]),
            since=query["since"],
            until=query["until"],
        )
        return _found(records, call, text, filters, limit)
    except SearchError as error:
        raise ApiError(422, "bad_search", error.message) from None


def _found(records: Records, call: Call, text: str, filters: Filters, limit: int) -> Answer:
    """Hosts are no label of the index: hits of others are left out afterwards, and more are asked for."""
    hosts = frozenset(call.query["host"])
    scope = Scope(user=records.control.user, vault=call.query["vault"])
    cursor: str | None = call.query["cursor"]
    rows: dict[str, Session | None] = {}
    titles: dict[str, str] = {}
    hits: list[Answer] = []
    complete, page = True, SearchPage(())
    notice: Message | None = None
    end = time.monotonic() + _PATIENCE
    while True:
        wanted = limit - len(hits)
        match: Match = call.query["match"] or "auto"
        page = records.search().find(
            text, scope, filters, wanted, cursor, match=match, patience=max(0.1, end - time.monotonic())
        )
        cursor, complete, notice = page.cursor, complete and page.complete, notice or page.notice
        for hit in page.hits:
            if hit.session not in rows:
                rows[hit.session] = records.store.session(hit.session)
            row = rows[hit.session]
            if row is not None and (not hosts or row.host in hosts):
                if hit.session not in titles:
                    titles[hit.session] = title_of(records.store, row)
                hits.append(_hit(hit, row, titles[hit.session]))
        if cursor is None or len(hits) >= limit:
            break
        if time.monotonic() > end:
            complete = False
            break
    return {
        "hits": hits,
        "cursor": cursor,
        "match": page.match,
        "order": page.order,
        "complete": complete,
        "notice": notice and notice.to_dict(),
    }


def _hit(hit: SearchHit, row: Session, title: str) -> Answer:
    return {
        "session": hit.session,
        "thread": hit.thread,
        "agent": hit.agent,
        "host": row.host,
        "vault": row.vault,
        "title": title,
        "number": row.number,
        "eventNo": hit.event_no,
        "invocationId": hit.invocation,
        "kind": hit.kind,
        "tool": hit.tool,
        "subagent": hit.subagent.partition("#")[0],
        "at": hit.at,
        "snippet": hit.snippet,
        "marks": [[_units(hit.snippet[:low]), _units(hit.snippet[:high])] for low, high in hit.marks],
    }


def _units(text: str) -> int:
    """Length as JavaScript counts it: a character beyond the basic plane counts twice."""
    return len(text) + sum(1 for char in text if char > "\uffff")


def options(call: Call) -> Answer:
    """What can be filtered by."""
    records = call.server.records
    rows = records.store.sessions(user=records.control.user, limit=_MOST_SESSIONS)
    return {
        "kinds": list(CHAT_KINDS),
        "tools": sorted(NEUTRAL_TOOLS),
        "agents": sorted({row.id.agent for row in rows}),
        "hosts": sorted({row.host for row in rows}),
        "vaults": sorted({row.vault for row in rows if row.vault}),
    }


_ASKED = {
    "q": str,
    "session": list[str],
    "thread": list[str],
    "kind": list[str],
    "tool": list[str],
    "file": list[str],
    "agent": list[str],
    "host": list[str],
    "vault": str,
    "since": float,
    "until": float,
    "match": Literal["auto", "all", "any"],
    "cursor": str,
    "limit": int,
}

ROUTES = (
    Route("GET", "/api/search", find, "Search everything", query=_ASKED, returns=shapes.Hits),
    Route("GET", "/api/search/options", options, "What can be filtered by", returns=shapes.SearchOptions),
)
