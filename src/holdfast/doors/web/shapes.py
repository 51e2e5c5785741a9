"""JSON shapes, written as Python types: their schema for the OpenAPI document, and a check of what clients send.

A shape is a TypedDict, or what those are made of. Only what this server uses is understood.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from holdfast.core.messages import Message, Phrase

_IT = Phrase("shape.it", "it", "请求")
_ONE_OF = Phrase("shape.one_of", "{place} must be one of {allowed}", "{place} 须为以下之一：{allowed}")
_KIND = Phrase("shape.kind", "{place} must be a JSON {kind}", "{place} 须为 JSON {kind}")
_LACKS = Phrase("shape.lacks", "{place} lacks {name}", "{place} 缺少 {name}")
_MAY_NOT = Phrase("shape.may_not", "{place} may not hold {name}", "{place} 不能含有 {name}")
Schema = dict[str, Any]
_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}
_PYTHON: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list, tuple),
    "object": (dict,),
}


def schema_of(shape: Any, named: dict[str, Schema] | None = None) -> Schema:
    """The schema; TypedDicts go into `named` and are referred to when it is given, else they stand in place."""
    if shape in _PLAIN:
        return dict(_PLAIN[shape])
    origin, inner = get_origin(shape), get_args(shape)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(one, named) for one in inner]}
    if origin in (list, Sequence) or shape is list:
        return {"type": "array", "items": schema_of(inner[0], named) if inner else {}}
    if origin in (dict, Mapping) or shape is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1], named) if inner else {}}
    if is_typeddict(shape):
        return _of_typed_dict(shape, named)
    raise TypeError(f"{shape!r} has no JSON schema here; use a TypedDict, a Literal, list, dict or a plain type")


def _of_typed_dict(shape: Any, named: dict[str, Schema] | None) -> Schema:
    name = shape.__name__
    if named is not None and name in named:
        return {"$ref": f"#/components/schemas/{name}"}
    if named is not None:
        named[name] = {}  # a shape may hold itself
    hints, required = _keys_of(shape)
    schema: Schema = {
        "type": "object",
        "properties": {key: schema_of(kind, named) for key, kind in hints.items()},
        "required": list(required),
        "additionalProperties": False,
    }
    if named is None:
        return schema
    named[name] = schema
    return {"$ref": f"#/components/schemas/{name}"}


@cache
def _keys_of(shape: Any) -> tuple[Mapping[str, Any], Sequence[str]]:
    """The type of each key, and which keys must be there."""
    hints = get_type_hints(shape)
    marked = get_type_hints(shape, include_extras=True)  # `__required_keys__` does not understand postponed annotations
    return hints, [key for key, kind in marked.items() if shape.__total__ and get_origin(kind) is not NotRequired]


def problem_with(value: Any, schema: Schema, place: str = "") -> Message | None:
    """What is wrong with a value, with its place; None when it fits. The schema holds no references."""
    if "anyOf" in schema:
        problems = [problem_with(value, one, place) for one in schema["anyOf"]]
        return None if None in problems else problems[0]
    if "enum" in schema:
        allowed = schema["enum"]
        return None if value in allowed else _ONE_OF(place=place or _IT(), allowed=", ".join(map(str, allowed)))
    kind = schema.get("type")
    if kind is None:
        return None
    fits: bool = isinstance(value, _PYTHON[kind]) and not (isinstance(value, bool) and kind in ("integer", "number"))
    if not fits:
        return _KIND(place=place or _IT(), kind=kind)
    if kind == "array":
        parts = ((f"{place}[{at}]", one, schema["items"]) for at, one in enumerate(value))
        return _first_problem(parts)
    if kind == "object":
        return _object_problem(value, schema, place)
    return None


def _object_problem(value: Mapping[str, Any], schema: Schema, place: str) -> Message | None:
    known: Mapping[str, Schema] = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return _LACKS(place=place or _IT(), name=repr(missing[0]))
    more = schema.get("additionalProperties", {})
    unknown = [name for name in value if name not in known]
    if unknown and more is False:
        return _MAY_NOT(place=place or _IT(), name=repr(unknown[0]))
    return _first_problem((f"{place}.{name}".lstrip("."), one, known.get(name, more)) for name, one in value.items())


def _first_problem(parts: Any) -> Message | None:
    found = (problem_with(value, schema, place) for place, value, schema in parts)
    return next((problem for problem in found if problem is not None), None)
