"""Threads: the list of every host's, and talking with the own agent (UI1, MO1)."""

from __future__ import annotations

import os
from typing import Any, TypedDict

from holdfast.core.events import ModeChanged
from holdfast.core.keys import SessionKey
from holdfast.core.messages import Phrase
from holdfast.doors.web.desk import NOT_OWN
from holdfast.doors.web.items import KINDS
from holdfast.doors.web.live_shapes import ItemShape, ModeName, QueuedShape, ThreadRow, ThreadState
from holdfast.doors.web.routes import ApiError, Call, Route, bad_request, not_found
from holdfast.doors.web.server import Server
from holdfast.doors.web.thread_view import (
    health_shape,
    matches,
    newest_of,
    newest_sessions,
    pending_of,
    segments_of,
    thread_row,
    usage_shape,
)
from holdfast.runtime.message_queue import MessageQueue
from holdfast.runtime.threads import new_thread
from holdfast.store.home import find_vault
from holdfast.store.interface import AlreadyDecided, Session, StateConflict

_NO_VAULT = Phrase(
    "chat.no_vault",
    "the server was started where no project is; say which directory to work in",
    "服务器启动的位置没有项目；请指定要在哪个目录中工作",
)
GONE_CURSOR = Phrase(
    "page.gone_cursor", "this page ends at something that is gone; begin anew", "此页的末尾已不存在；请重新开始"
)
_SEALED = Phrase(
    "chat.sealed", "this session is sealed; the next message starts a new one", "此会话已封存；下一条消息会开始新会话"
)
_CONFIRM = Phrase(
    "chat.confirm", "nothing would be asked any more in this session; confirm it", "此会话将不再询问任何操作；请确认"
)
_EMPTY = Phrase("chat.empty", "say something", "请输入内容")
_TOO_LONG = Phrase("chat.too_long", "a message has at most {most} characters", "一条消息最多 {most} 个字符")


MOST_THREADS = 500
MOST_MESSAGES = 500
MOST_TEXT = 500_000


class ThreadList(TypedDict):
    threads: list[ThreadRow]


class NewThread(TypedDict, total=False):
    model: str
    agent: str
    vault: str


class MessagePage(TypedDict):
    items: list[ItemShape]
    before: str | None
    eventNo: int


class TextBody(TypedDict):
    text: str


class Sent(TypedDict):
    queued: bool
    id: str


class Stopped(TypedDict):
    stopped: bool


class Resumed(TypedDict):
    resumed: bool


class Started(TypedDict):
    started: bool


class ModeBody(TypedDict):
    mode: ModeName
    confirmed: bool


class ModelBody(TypedDict):
    model: str


class EditBody(TypedDict):
    event: str
    text: str


class QueueShape(TypedDict):
    queue: list[QueuedShape]


def list_threads(call: Call) -> ThreadList:
    server = call.server
    control = server.control
    found = newest_sessions(control, host=call.query["host"], vault=call.query["vault"])
    if wanted := call.text("q"):
        found = [session for session in found if matches(session, wanted)]
    pending = pending_of(control)
    shown = found[: call.number("limit", 100, MOST_THREADS, 1)]
    rows = [thread_row(control, one, pending[one.id.key], busy=server.desk.is_busy(one.id.key)) for one in shown]
    return {"threads": rows}


def create(call: Call) -> ThreadState:
    server, body = call.server, call.body
    chosen = body.get("vault")
    vault = find_vault(chosen, home=server.home) if chosen else server.vault
    if vault is None:
        raise ApiError(422, "no_vault", _NO_VAULT())
    cwd = server.cwd if server.cwd is not None and server.cwd.is_relative_to(vault) else vault
    agent = body.get("agent") or server.control.settings.runtime.agent.id
    session = new_thread(server.control, vault, cwd, agent=agent, model=body.get("model", ""))
    server.watch.look()
    return state_of(call, session)


def show(call: Call) -> ThreadState:
    return state_of(call, _row(call))


def messages(call: Call) -> MessagePage:
    """The latest entries, or those before a place; a thread's sessions follow one another."""
    server = call.server
    number = server.hub.last
    row = _row(call)
    chain = list(server.control.store.chain(row.id.key))
    at, before = len(chain) - 1, None
    if cursor := call.text("before"):
        session, _, place = cursor.rpartition(":")
        known = next((index for index, one in enumerate(chain) if one.id.session == session), None)
        if known is None or not place.isdigit():
            raise ApiError(422, "bad_cursor", GONE_CURSOR())
        at, before = known, int(place)
    items, cursor_of_more = _entries(server, chain, at, before, call.number("limit", 100, MOST_MESSAGES, 1))
    return {"items": items, "before": cursor_of_more, "eventNo": number}


def _entries(
    server: Server, chain: list[Session], at: int, before: int | None, wanted: int
) -> tuple[list[ItemShape], str | None]:
    """Backwards through the sessions until there is enough."""
    store = server.control.store
    pages: list[list[ItemShape]] = []
    count = 0
    while at >= 0:
        session = chain[at]
        records = store.events(session.id.session, before=before, kinds=KINDS, limit=wanted - count, newest_first=True)
        is_over = session.state == "sealed" or at < len(chain) - 1
        page = server.items.page(list(reversed(records)), session_is_over=is_over)
        for item in page:
            if item["kind"] == "session":
                item["number"] = session.number
        pages.append(page)
        count += len(records)
        if count >= wanted:
            return _joined(pages), f"{session.id.session}:{records[-1].no}"
        at, before = at - 1, None
    return _joined(pages), None


def _joined(pages: list[list[ItemShape]]) -> list[ItemShape]:
    return [item for page in reversed(pages) for item in page]


def send(call: Call) -> Sent:
    text = _text(call)
    identity, queued = call.server.desk.send(_row(call), text)
    return {"queued": queued, "id": identity}


def stop(call: Call) -> Stopped:
    return {"stopped": call.server.desk.stop(_row(call))}


def resume(call: Call) -> Resumed:
    return {"resumed": call.server.desk.resume(_row(call))}


def compact(call: Call) -> Started:
    return {"started": call.server.desk.compact(_row(call))}


def edit(call: Call) -> Sent:
    identity, queued = call.server.desk.edit(_row(call), call.body["event"], _text(call))
    return {"queued": queued, "id": identity}


def mode(call: Call) -> ThreadState:
    """Full access is confirmed once by a person, and stands in the audit either way (MO1)."""
    control = call.server.control
    row, wanted = _row(call), call.body["mode"]
    if row.state == "sealed":
        raise ApiError(409, "sealed", _SEALED())
    # The same question, asked by the configuration before the first message.
    asked = [one.id for one in control.approvals.pending(session=row.id.session) if one.policy == "modes"]
    if wanted == "full_access" and (row.mode != "full_access" or asked) and not call.body["confirmed"]:
        raise ApiError(409, "confirm_full_access", _CONFIRM())
    by = f"{control.user} ({call.device.name})"
    for approval_id in asked:
        _settle(call, approval_id, wanted, by)
    row = _row(call)
    if row.mode != wanted:
        control.plane.handle(ModeChanged(id=control.new_id(), at=control.clock(), where=row.id, to=wanted, by=by))
    call.server.watch.look()
    return state_of(call, _row(call))


def _settle(call: Call, approval_id: str, wanted: str, by: str) -> None:
    try:
        call.server.control.approvals.answer(approval_id, "once" if wanted == "full_access" else "deny", by=by)
    except AlreadyDecided:
        return


def model(call: Call) -> ThreadState:
    """From the next message on; an empty name stands for the configured one."""
    control, row, chosen = call.server.control, _row(call), call.body["model"]
    if row.host != "holdfast":
        raise ApiError(409, "not_own", NOT_OWN(), host=row.host)
    for _ in range(20):
        try:
            control.store.update_session(row.id.session, row.version, model=chosen)
            break
        except StateConflict:
            row = _row(call)
    call.server.desk.choose_model(row, chosen)
    call.server.watch.look()
    return state_of(call, _row(call))


def queue(call: Call) -> QueueShape:
    return {"queue": queue_of(call.server, _row(call).id.key)}


def unqueue(call: Call) -> QueueShape:
    row = _row(call)
    if not call.server.desk.unqueue(row, call.path["id"]):
        raise not_found("queued message", call.path["id"])
    call.server.watch.look()
    return {"queue": queue_of(call.server, row.id.key)}


def queue_of(server: Server, key: SessionKey) -> list[QueuedShape]:
    waiting = MessageQueue(server.control.store, key, server.control.new_id).waiting()
    return [{"id": queued.id, "text": queued.text} for queued in waiting]


def state_of(call: Call, row: Session) -> ThreadState:
    """A thread as it stands: everything a page needs to show it and to follow the stream from here."""
    server = call.server
    control = server.control
    key = row.id.key
    live, number = server.desk.live(key)
    busy = server.desk.is_busy(key)
    waiting = control.approvals.pending(session=row.id.session)
    note: Any = control.store.noted(f"run:{row.id.session}")
    driver = server.desk.driver(row.id.session) if row.host == "holdfast" else None
    return {
        **thread_row(control, row, len(waiting), busy=busy),
        "number": row.number,
        "agentFile": row.id.agent,
        "unfinished": not busy and driver is None and isinstance(note, dict) and note.get("state") != "done",
        "drivenElsewhere": driver not in (None, os.getpid()),
        "live": live,
        "queue": queue_of(server, key),
        "approvals": [server.cards.card(approval, call.device.id) for approval in waiting],
        "health": health_shape(control, row, lambda: segments_of(control, row)),
        "usage": usage_shape(control, key),
        "eventNo": number,
    }


def _row(call: Call) -> Session:
    return newest_of(call.server.control, call.path["thread"])


def _text(call: Call) -> str:
    text = str(call.body["text"])
    if not text.strip():
        raise bad_request(_EMPTY(), "text")
    if len(text) > MOST_TEXT:
        raise ApiError(413, "too_large", _TOO_LONG(most=MOST_TEXT))
    return text


_THREAD = "/api/threads/{thread}"
ROUTES = (
    Route(
        "GET",
        "/api/threads",
        list_threads,
        "Threads of every host, newest first.",
        query={"host": str, "vault": str, "q": str, "limit": int},
        returns=ThreadList,
    ),
    Route("POST", "/api/threads", create, "A new thread of the own agent.", body=NewThread, returns=ThreadState),
    Route("GET", _THREAD, show, "One thread as it stands now.", returns=ThreadState),
    Route(
        "GET",
        f"{_THREAD}/messages",
        messages,
        "Entries of a thread, the latest page, or the one before a place.",
        query={"before": str, "limit": int},
        returns=MessagePage,
    ),
    Route("POST", f"{_THREAD}/messages", send, "A message to the own agent.", body=TextBody, returns=Sent),
    Route("POST", f"{_THREAD}/stop", stop, "End the turn now.", returns=Stopped),
    Route("POST", f"{_THREAD}/resume", resume, "Take up what was cut off.", returns=Resumed),
    Route("POST", f"{_THREAD}/compact", compact, "Make the history smaller.", returns=Started),
    Route("POST", f"{_THREAD}/edit", edit, "Another text instead of a message.", body=EditBody, returns=Sent),
    Route("POST", f"{_THREAD}/mode", mode, "Switch between agent and full access.", body=ModeBody, returns=ThreadState),
    Route("POST", f"{_THREAD}/model", model, "Another model from now on.", body=ModelBody, returns=ThreadState),
    Route("GET", f"{_THREAD}/queue", queue, "Messages that wait.", returns=QueueShape),
    Route("DELETE", f"{_THREAD}/queue/{{id}}", unqueue, "Take back a message that waits.", returns=QueueShape),
)
