"""Answers as JSON."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from holdfast.store.json_text import to_json_bytes


def json_response(data: Any, status: int = 200) -> Response:
    return Response(to_json_bytes(data), status, media_type="application/json")
