"""What clients send, within bounds of size and time."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from holdfast.core.messages import Phrase
from holdfast.doors.web.routes import ApiError

BODY_SECONDS = 30.0
TOO_SLOW = Phrase("page.body_slow", "the body did not come within {seconds} s", "请求内容未在 {seconds} 秒内到达")
_WRONG_TYPE = Phrase("page.wrong_type", "send {wanted}, not {given}", "请发送 {wanted}，而不是 {given}")
_TOO_LARGE = Phrase("page.too_large", "more than {most} bytes are not taken here", "此处最多接受 {most} 字节")


async def read_body(request: Request, most: int, seconds: float = BODY_SECONDS) -> bytes:
    """The whole body; refused as soon as it is known to be too long or too slow."""
    parts: list[bytes] = []
    size = 0
    require_length(request, most)
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise too_large(most)
                parts.append(part)
    except TimeoutError:
        raise ApiError(408, "too_slow", TOO_SLOW(seconds=f"{seconds:g}")) from None
    return b"".join(parts)


def require_length(request: Request, most: int) -> None:
    """Refuse a body by what its header says, before any of it is read."""
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > most:
        raise too_large(most)


def require_type(request: Request, wanted: str) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != wanted:
        raise ApiError(415, "wrong_type", _WRONG_TYPE(wanted=wanted, given=repr(given[:60])))


def too_large(most: int) -> ApiError:
    return ApiError(413, "too_large", _TOO_LARGE(most=most))
