"""Files for the conversation: names of the vault to mention, and files that are dragged in."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from holdfast.core.messages import Phrase
from holdfast.doors.web.bodies import require_length, too_large
from holdfast.doors.web.routes import ApiError, Call, Route
from holdfast.doors.web.server import Server
from holdfast.doors.web.thread_view import newest_of

_BAD_NAME = Phrase(
    "file.bad_name",
    "a file's name holds no slash, no control character and at most 200 bytes",
    "文件名不得含有斜杠或控制字符，最多 200 字节",
)
_TOO_SLOW = Phrase("file.too_slow", "the file did not come within {seconds} s", "文件未在 {seconds} 秒内到达")
_TOO_MANY = Phrase(
    "file.too_many", "there are {count} files called {name} already", "已有 {count} 个名为 {name} 的文件"
)
_NO_VAULT = Phrase(
    "file.no_vault", "the server was started where no project is; name a thread", "服务器启动的位置没有项目；请指定对话"
)
_GONE = Phrase("file.vault_gone", "{vault} is not there any more", "{vault} 已不存在")


MOST_NAMES = 50_000
LIST_SECONDS = 1.0
FRESH_SECONDS, NEWEST_SECONDS = 5.0, 0.3
"""How old a listing may be; what it does not hold may have been made since, so then it must be newer."""
UPLOAD_SECONDS = 600.0
_NOT_LISTED = frozenset(
    (
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        ".venv",
        "venv",
        "__pycache__",
        ".mypy_cache",
        ".ruff_cache",
        ".tox",
        "dist",
    )
)
_PIECE = 1 << 20
_MOST_OF_ONE_NAME = 1000


class FileMatch(TypedDict):
    path: str
    folder: bool


class FileList(TypedDict):
    files: list[FileMatch]


class Uploaded(TypedDict):
    path: str
    bytes: int


_listings: dict[str, tuple[float, list[FileMatch]]] = {}
_lock = threading.Lock()


def complete(call: Call) -> FileList:
    """Files whose path fits what was typed, the likeliest first; names only, no contents."""
    vault = _vault(call)
    wanted = call.text("prefix").lstrip("@").casefold()
    limit = call.number("limit", 20, 100, 1)
    ranked = _ranked(_listing(vault, FRESH_SECONDS), wanted) or _ranked(_listing(vault, NEWEST_SECONDS), wanted)
    ranked.sort(key=lambda found: (found[0], len(found[1]["path"]), found[1]["path"]))
    return {"files": [match for _, match in ranked[:limit]]}


def _ranked(files: list[FileMatch], wanted: str) -> list[tuple[int, FileMatch]]:
    return [(rank, match) for match in files if (rank := _rank(match["path"].casefold(), wanted)) is not None]


def _rank(path: str, wanted: str) -> int | None:
    if not wanted:
        return path.count("/")
    name = path.rpartition("/")[2]
    if name.startswith(wanted):
        return 0
    if path.startswith(wanted):
        return 1
    if wanted in name:
        return 2
    if wanted in path:
        return 3
    letters = iter(path)
    return 4 if all(letter in letters for letter in wanted) else None


def _listing(vault: Path, age: float) -> list[FileMatch]:
    """The files of the vault, as they were at most `age` seconds ago."""
    key = str(vault)
    with _lock:
        known = _listings.get(key)
    if known is not None and time.monotonic() - known[0] < age:
        return known[1]
    found = list(_walk(vault))
    with _lock:
        _listings.clear()  # one project at a time is what people work in
        _listings[key] = (time.monotonic(), found)
    return found


def _walk(vault: Path) -> Iterator[FileMatch]:
    """Breadth first, so that what is near the top is there when time or number runs out; no link is followed."""
    end = time.monotonic() + LIST_SECONDS
    folders, count = [""], 0
    while folders and time.monotonic() < end:
        folder = folders.pop(0)
        with contextlib.suppress(OSError), os.scandir(vault / folder) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                path = f"{folder}{entry.name}"
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and (entry.name in _NOT_LISTED or entry.name.startswith(".")):
                    continue
                count += 1
                if count > MOST_NAMES:
                    return
                with contextlib.suppress(UnicodeEncodeError):
                    path.encode()
                    yield {"path": path + ("/" if is_folder else ""), "folder": is_folder}
                if is_folder:
                    folders.append(f"{path}/")


async def upload(call: Call) -> Uploaded:
    """Into a folder of its own in the vault, which git ignores; never over a file that is there."""
    name = call.text("name")
    if not _is_name(name):
        raise ApiError(422, "bad_name", _BAD_NAME())
    require_length(call.request, call.server.upload_limit)
    server = call.server
    vault = await server.work(_vault, call)
    place = vault if server.control.settings.runtime.profile == "desktop" else None
    upload = await server.work(_Upload, server, place, name)
    try:
        await _receive(call, upload)
    except BaseException:
        await server.work(upload.abandon)
        raise
    await server.work(upload.finish)
    shown = upload.path.relative_to(vault).as_posix() if place is not None else str(upload.path)
    await server.work(lambda: server.on_record("page.upload", path=shown, bytes=upload.size))
    return {"path": shown, "bytes": upload.size}


async def _receive(call: Call, upload: _Upload) -> None:
    import asyncio

    kept: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            async for part in call.request.stream():
                kept.append(part)
                size += len(part)
                if upload.size + size > call.server.upload_limit:
                    raise too_large(call.server.upload_limit)
                if size >= _PIECE:
                    await call.server.work(upload.write, b"".join(kept))
                    kept, size = [], 0
            await call.server.work(upload.write, b"".join(kept))
    except TimeoutError:
        raise ApiError(408, "too_slow", _TOO_SLOW(seconds=f"{UPLOAD_SECONDS:g}")) from None


class _Upload:
    """A file that is being received; it gets its name when it is whole."""

    def __init__(self, server: Server, vault: Path | None, name: str) -> None:
        self._server = server
        self._vault = vault
        self.size = 0
        with server.control.outputs.uploads(vault) as (folder, handle):
            self.path, self._file = _reserve(folder, handle, name)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]
        self.size += len(data)

    def finish(self) -> None:
        os.fsync(self._file)
        os.close(self._file)

    def abandon(self) -> None:
        os.close(self._file)
        with contextlib.suppress(OSError), self._server.control.outputs.uploads(self._vault) as (_, handle):
            os.unlink(self.path.name, dir_fd=handle)


def _reserve(folder: Path, handle: int, name: str) -> tuple[Path, int]:
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    for number in range(1, _MOST_OF_ONE_NAME):
        tried = name if number == 1 else f"{stem}-{number}{dot}{ending}"
        with contextlib.suppress(FileExistsError):
            return folder / tried, os.open(tried, flags, 0o600, dir_fd=handle)
    raise ApiError(409, "bad_name", _TOO_MANY(count=_MOST_OF_ONE_NAME, name=name))


def _is_name(name: str) -> bool:
    plain = name.isprintable() and not set(name) & {"/", "\\", "\x00"} and name not in ("", ".", "..")
    try:
        return plain and len(name.encode()) <= 200
    except UnicodeEncodeError:
        return False


def _vault(call: Call) -> Path:
    thread = call.text("thread")
    if thread:
        vault = Path(newest_of(call.server.control, thread).vault)
    elif call.server.vault is not None:
        vault = call.server.vault
    else:
        raise ApiError(422, "no_vault", _NO_VAULT())
    if not vault.is_dir():
        raise ApiError(409, "vault", _GONE(vault=vault))
    return vault


ROUTES = (
    Route(
        "GET",
        "/api/files/complete",
        complete,
        "Files to mention.",
        query={"thread": str, "prefix": str, "limit": int},
        returns=FileList,
    ),
    Route(
        "POST",
        "/api/files",
        upload,
        "A file that is dragged in; its bytes are the body.",
        query={"thread": str, "name": str},
        returns=Uploaded,
        takes="bytes",
    ),
)
