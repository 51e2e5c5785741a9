"""The stream of events as a page follows it; what it missed is in the hub's ring or in the store."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse

from holdfast.core.messages import Phrase
from holdfast.doors.web.catching_up import missed_by
from holdfast.doors.web.hub import Place, follow
from holdfast.doors.web.routes import ApiError, Call, Route

MOST_STREAMS = 100
_TOO_MANY = Phrase(
    "page.too_many_streams", "{most} pages are open already; close one", "已打开 {most} 个页面；请关闭一个"
)


async def events(call: Call) -> StreamingResponse:
    hub, devices, device = call.server.hub, call.server.devices, call.device
    if hub.streams >= MOST_STREAMS:
        raise ApiError(503, "too_many_streams", _TOO_MANY(most=MOST_STREAMS))
    last_id = call.request.headers.get("last-event-id") or call.text("since")
    since = hub.place_of(last_id) if last_id else hub.here()
    server = call.server

    async def caught_up(seen: Place, here: Place) -> bytes | None:
        return await server.work(missed_by, server, seen, here)

    async def body() -> AsyncIterator[bytes]:
        hub.streams += 1
        try:
            async for part in follow(hub, since, lambda: devices.is_known(device.id), caught_up):
                yield part
        finally:
            hub.streams -= 1

    headers = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}
    return StreamingResponse(body(), headers=headers)


ROUTES = (
    Route(
        "GET",
        "/api/events",
        events,
        "The stream of events; goes on behind Last-Event-ID, also after a restart; `reset` where it cannot.",
        query={"since": str},
        returns=None,
        content="text/event-stream",
    ),
)
