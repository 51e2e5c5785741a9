"""The OpenAPI document, made from the table of routes: what is not in the table is not answered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from holdfast._version import __version__
from holdfast.doors.web.routes import Call, Route
from holdfast.doors.web.shapes import Schema, schema_of

ERROR: Schema = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "params": {"type": "object"},
                "en": {"type": "string"},
                "zh": {"type": "string"},
            },
            "required": ["code", "params", "en", "zh"],
            "additionalProperties": False,
        }
    },
    "required": ["error"],
}


def document(routes: Sequence[Route]) -> dict[str, Any]:
    named: dict[str, Schema] = {"Error": ERROR}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, named)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Holdfast", "version": __version__, "summary": "The API of the page."},
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(named.items())),
            "securitySchemes": {
                "cookie": {"type": "apiKey", "in": "cookie", "name": "holdfast_PORT"},
                "key": {"type": "apiKey", "in": "header", "name": "x-holdfast"},
            },
        },
        "security": [{"cookie": [], "key": []}],
    }


def _operation(route: Route, named: dict[str, Schema]) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = [
        {"name": part[1:-1], "in": "path", "required": True, "schema": {"type": "string"}}
        for part in route.segments
        if part.startswith("{")
    ]
    parameters += [
        {"name": name, "in": "query", "required": False, "schema": schema_of(kind)}
        for name, kind in route.query.items()
    ]
    answer: dict[str, Any] = {} if route.returns is None else {"schema": schema_of(route.returns, named)}
    operation: dict[str, Any] = {
        "operationId": f"{route.method.lower()}_{'_'.join(part.strip('{}') for part in route.segments[1:])}",
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            "200": {"description": "As asked.", "content": {route.content: answer}},
            "default": {
                "description": "An error, by its code.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }
    if route.takes == "bytes":
        operation["requestBody"] = {"required": True, "content": {"application/octet-stream": {}}}
    elif route.body is not None:
        body = {"schema": schema_of(route.body, named)}
        operation["requestBody"] = {"required": True, "content": {"application/json": body}}
    if route.public:
        operation["security"] = []
    return operation


@cache
def _whole() -> dict[str, Any]:
    from holdfast.doors.web.app import load_routes

    return document(load_routes())


def show(call: Call) -> dict[str, Any]:
    return _whole()


ROUTES = (Route("GET", "/api/openapi.json", show, "This document."),)
