"""Outputs that were too long for the model, whole: by pages of lines, with find, as a download, in another program.

An output is named by its session and call; no path ever comes from a request (TR6).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypedDict

from starlette.responses import Response, StreamingResponse

from holdfast.core.messages import Phrase
from holdfast.doors.web.entry import can_open
from holdfast.doors.web.items import truncated_of
from holdfast.doors.web.line_index import LineIndex
from holdfast.doors.web.routes import ApiError, Call, Route, bad_request, not_found
from holdfast.doors.web.running import has_desktop
from holdfast.doors.web.server import Server
from holdfast.store.interface import EventRecord, Store

_ONE_LINE = Phrase(
    "output.one_line",
    "give one line to look for, of 1,000 characters at most",
    "请给出一行要查找的内容，最多 1,000 个字符",
)
_NO_DESKTOP = Phrase(
    "output.no_desktop",
    "there is no desktop here that could show it; look at it in the page",
    "此机器没有可显示它的桌面；请在页面中查看",
)
_NO_PROGRAM = Phrase(
    "output.no_program", "this system has no xdg-open; install xdg-utils", "此系统没有 xdg-open；请安装 xdg-utils"
)
_NOT_OPENED = Phrase(
    "output.not_opened", "the system's program could not open it ({error})", "系统程序无法打开它（{error}）"
)
_WHOLE = Phrase("output.whole", "this output is whole in the conversation", "此输出在对话中是完整的")
_NOT_KEPT = Phrase("output.not_kept", "the rest of this output could not be kept", "此输出的其余部分未能保留")
_EXPIRED = Phrase("output.expired", "this output has expired and was removed", "此输出已过期并被移除")
_UNREADABLE = Phrase("output.unreadable", "this output cannot be read: {error}", "此输出无法读取：{error}")


State = Literal["ok", "partial", "expired", "unreadable"]
MOST_LINES = 2000
MOST_MATCHES = 200
OPEN_SECONDS = 10.0
_FIRST_LOOK = 0.5
_PATIENCE = 3.0
_PAGE = 200
_KEPT = 32
_CHUNK = 1 << 18


class OutputInfo(TypedDict):
    session: str
    callId: str
    tool: str
    state: State
    path: str
    bytes: int
    lines: int
    canOpen: bool


OutputLines = TypedDict(
    "OutputLines", {"state": State, "from": int, "lines": list[str], "cut": list[int], "total": int}
)


class MatchShape(TypedDict):
    line: int
    column: int
    length: int
    text: str


class OutputMatches(TypedDict):
    state: State
    matches: list[MatchShape]
    next: int | None


class Url(TypedDict):
    url: str


class Opened(TypedDict):
    opened: bool


_indexes: OrderedDict[tuple[int, int, int, int], LineIndex] = OrderedDict()
_lock = threading.Lock()


def info(call: Call) -> OutputInfo:
    record = _called(call)
    path = _path_of(record)
    told: OutputInfo = {
        "session": record.where.session,
        "callId": call.path["call"],
        "tool": record.tool,
        "state": "expired",
        "path": path,
        "bytes": 0,
        "lines": 0,
        "canOpen": False,
    }
    try:
        with _opened(call.server, path) as (descriptor, index):
            index.extend(descriptor, seconds=_FIRST_LOOK)
            state: State = "ok" if index.complete else "partial"
            told["state"], told["bytes"], told["lines"] = state, index.size, index.total
            told["canOpen"] = can_open(call) and has_desktop()
    except ApiError as error:
        told["state"] = "expired" if error.code == "expired" else "unreadable"
    return told


def lines(call: Call) -> OutputLines:
    first = call.number("from", 0, 1 << 40)
    count = call.number("count", 200, MOST_LINES, 1)
    with _opened(call.server, _path_of(_called(call))) as (descriptor, index):
        index.extend(descriptor, seconds=_PATIENCE, line=first + count)
        found = index.read(descriptor, first, count)
        state: State = "ok" if index.complete else "partial"
        return {"state": state, "from": first, "lines": found.lines, "cut": found.cut, "total": index.total}


def find(call: Call) -> OutputMatches:
    wanted = call.text("q")
    if not wanted or "\n" in wanted or len(wanted) > 1000:
        raise bad_request(_ONE_LINE(), "q")
    first = call.number("from", 0, 1 << 40)
    with _opened(call.server, _path_of(_called(call))) as (descriptor, index):
        index.extend(descriptor, seconds=_PATIENCE, line=first)
        found, following = index.find(descriptor, wanted, first, most=MOST_MATCHES, seconds=_FIRST_LOOK)
        state: State = "ok" if index.complete else "partial"
        matches: list[MatchShape] = [
            {"line": one.line, "column": one.column, "length": one.length, "text": one.text} for one in found
        ]
        return {"state": state, "matches": matches, "next": following}


def offer_download(call: Call) -> Url:
    record = _called(call)
    path = _path_of(record)
    with _opened(call.server, path):
        pass  # whether it is there is said here, not behind a link
    ticket = call.server.tickets.give("output", path)
    request_path = call.request.scope["raw_path"].decode("ascii").partition("?")[0]
    return {"url": f"{request_path}?ticket={ticket}"}


def download(call: Call) -> Response:
    path = Path(call.server.tickets.take("output", call.text("ticket")))
    descriptor = _open(call.server, str(path))
    size = os.fstat(descriptor).st_size

    def body() -> Iterator[bytes]:
        try:
            while chunk := os.read(descriptor, _CHUNK):
                yield chunk
        finally:
            os.close(descriptor)

    name = path.name.encode("ascii", "replace").decode().replace('"', "'")
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "content-length": str(size),
        "content-security-policy": "sandbox; default-src 'none'",
    }
    return StreamingResponse(body(), media_type="text/plain; charset=utf-8", headers=headers)


def open_it(call: Call) -> Opened:
    """In the system's own program, for whoever sits before this machine."""
    if not can_open(call) or not has_desktop():
        raise ApiError(409, "cannot_open", _NO_DESKTOP())
    path = _path_of(_called(call))
    with _opened(call.server, path):
        pass
    program = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if program is None:
        raise ApiError(409, "cannot_open", _NO_PROGRAM())
    try:
        subprocess.run([program, path], timeout=OPEN_SECONDS, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    except (subprocess.SubprocessError, OSError) as error:
        raise ApiError(409, "cannot_open", _NOT_OPENED(error=type(error).__name__)) from None
    return {"opened": True}


# finding and opening


def _called(call: Call) -> EventRecord:
    store, session, call_id = call.server.control.store, call.path["session"], call.path["call"]
    record = _result_of(store, session, call_id)
    if record is None:
        raise not_found("call", call_id)
    return record


def _result_of(store: Store, session: str, call_id: str) -> EventRecord | None:
    """The latest result of a call; recent ones are asked for, so it is looked for from the end."""
    before: int | None = None
    while page := store.events(session, before=before, kinds=("tool_called",), limit=_PAGE, newest_first=True):
        found = next((record for record in page if record.data["call"]["id"] == call_id), None)
        if found is not None:
            return found
        before = page[-1].no
    return None


def _path_of(record: EventRecord) -> str:
    truncated = truncated_of(record)
    if truncated is None:
        raise ApiError(404, "not_truncated", _WHOLE())
    if not truncated["path"]:
        raise ApiError(410, "expired", _NOT_KEPT())
    return truncated["path"]


def _open(server: Server, path: str) -> int:
    try:
        return server.control.outputs.open_kept(path)
    except FileNotFoundError:
        raise ApiError(410, "expired", _EXPIRED()) from None
    except OSError as error:
        raise ApiError(409, "unreadable", _UNREADABLE(error=error.strerror or error)) from None


@contextlib.contextmanager
def _opened(server: Server, path: str) -> Iterator[tuple[int, LineIndex]]:
    """A handle on the file, and what is known of its lines; known again as long as it stays the same file."""
    descriptor = _open(server, path)
    try:
        about = os.fstat(descriptor)
        key = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)
        with _lock:
            index = _indexes.pop(key, None) or LineIndex(about.st_size)
            _indexes[key] = index
            while len(_indexes) > _KEPT:
                _indexes.popitem(last=False)
        yield descriptor, index
    finally:
        os.close(descriptor)


_OUTPUT = "/api/outputs/{session}/{call}"
ROUTES = (
    Route("GET", _OUTPUT, info, "How long an output is, and whether it is still there.", returns=OutputInfo),
    Route(
        "GET", f"{_OUTPUT}/lines", lines, "Some of its lines.", query={"from": int, "count": int}, returns=OutputLines
    ),
    Route(
        "GET",
        f"{_OUTPUT}/find",
        find,
        "Lines that hold some words, without regard to case.",
        query={"q": str, "from": int},
        returns=OutputMatches,
    ),
    Route("POST", f"{_OUTPUT}/download", offer_download, "An address that gives it once.", returns=Url),
    Route(
        "GET",
        f"{_OUTPUT}/download",
        download,
        "The whole output.",
        query={"ticket": str},
        returns=None,
        content="text/plain",
    ),
    Route("POST", f"{_OUTPUT}/open", open_it, "Open it in the system's program.", returns=Opened),
)
