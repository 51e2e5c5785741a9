"""The built page, from memory: what is not in the build cannot be asked for, so no path leads anywhere else."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".webmanifest": "application/json"}
_TEXT = ("text/", "image/svg", "application/json")
_MISSING = (
    b"<!doctype html><meta charset=utf-8><title>Holdfast</title><p>The page is not built: run <code>make web</code>."
)


@dataclass(frozen=True, slots=True)
class StaticFile:
    body: bytes
    packed: bytes | None
    kind: str
    etag: str


class StaticFiles:
    """Read once; a few hundred kilobytes."""

    def __init__(self, folder: Path = FOLDER) -> None:
        found = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
        self.files = {"/" + path.relative_to(folder).as_posix(): _read(path) for path in found}
        if "/index.html" not in self.files:
            self.files["/index.html"] = _made(_MISSING, "text/html; charset=utf-8")

    def answer(self, request: Request) -> Response:
        path = request.url.path
        file = self.files.get("/index.html" if path == "/" else path)
        if file is None:
            return Response(b"not found", 404, media_type="text/plain")
        headers = {"etag": file.etag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        body = file.body
        if file.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            body = file.packed
            headers["content-encoding"] = "gzip"
        return Response(body, headers={**headers, "content-type": file.kind})


@cache
def built_page() -> StaticFiles:
    """Those of this installation; packed once for a process."""
    return StaticFiles()


def _read(path: Path) -> StaticFile:
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if kind.startswith("text/"):
        kind += "; charset=utf-8"
    return _made(path.read_bytes(), kind)


def _made(body: bytes, kind: str) -> StaticFile:
    packed = gzip.compress(body, 9, mtime=0) if kind.startswith(_TEXT) else None
    if packed is not None and len(packed) >= len(body):
        packed = None
    return StaticFile(body, packed, kind, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
