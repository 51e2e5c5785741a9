"""What an external tool is: a function, the schema of its input, and what it says it touches."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from holdfast.core.targets import Domain
from holdfast.core.tools import ToolSpec, declared_tool

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")
_SIMPLE: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
    Any: {},
    object: {},
}


@dataclass(frozen=True, slots=True)
class ExternalTool:
    """A tool ready to be offered to the model."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of the input object."""
    function: Callable[..., Any]
    spec: ToolSpec
    """How its calls are judged (PE1)."""
    native: Any = None
    """The tool object of an agent library, when the file gave one; it is called with JSON and the library's context."""

    async def call(self, arguments: Mapping[str, Any], context: Any = None) -> Any:
        """Run it. A function that is not a coroutine runs in a thread, so that it cannot hold up the others."""
        if self.native is not None:
            return await self.native.on_invoke_tool(context, json.dumps(dict(arguments), ensure_ascii=False))
        try:
            inspect.signature(self.function).bind(**arguments)
        except TypeError as error:
            known = ", ".join(self.parameters.get("properties", {})) or "none"
            raise ValueError(f"{self.name}: {error}; its parameters are: {known}") from None
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**arguments)
        return await asyncio.to_thread(self.function, **arguments)


@dataclass(frozen=True, slots=True)
class Declaration:
    """What `@external_tool(...)` notes on a function."""

    name: str
    description: str
    parameters: Mapping[str, Any] | None
    domain: Domain | None
    targets: Mapping[str, tuple[str, ...]]


def external_tool(
    *,
    name: str = "",
    description: str = "",
    parameters: Mapping[str, Any] | None = None,
    domain: Domain | None = None,
    reads: tuple[str, ...] = (),
    writes: tuple[str, ...] = (),
    deletes: tuple[str, ...] = (),
    urls: tuple[str, ...] = (),
    queries: tuple[str, ...] = (),
    commands: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say what a function touches: its domain, and which of its parameters name the targets.

    Without a domain every call is asked about as `mcp:external/<name>`.
    """
    targets = {
        "reads": reads,
        "writes": writes,
        "deletes": deletes,
        "urls": urls,
        "queries": queries,
        "commands": commands,
    }
    named: Mapping[str, object] = targets
    for kind, keys in named.items():
        if isinstance(keys, str):
            raise TypeError(f"{kind} must be a tuple of parameter names, got {keys!r}; write ({keys!r},)")

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        declaration = Declaration(name, description, parameters, domain, targets)
        function.__holdfast_tool__ = declaration  # type: ignore[attr-defined]
        return function

    return mark


def tool_of(given: object) -> ExternalTool:
    """A function, decorated or not, or a tool object of an agent library; raises `TypeError` with the reason."""
    if all(hasattr(given, part) for part in ("name", "description", "params_json_schema", "on_invoke_tool")):
        native: Any = given
        name = _checked_name(native.name)
        return ExternalTool(
            name, str(native.description), native.params_json_schema, native.on_invoke_tool, declared_tool(name), native
        )
    if not callable(given) or inspect.isclass(given):
        raise TypeError(f"{given!r} is no tool; give functions, or tool objects of the agent library")
    declared: Declaration = getattr(given, "__holdfast_tool__", Declaration("", "", None, None, {}))
    name = _checked_name(declared.name or getattr(given, "__name__", ""))
    parameters = declared.parameters if declared.parameters is not None else schema_of(given)
    for keys in declared.targets.values():
        unknown = [key for key in keys if key.partition("[]")[0] not in parameters.get("properties", {})]
        if unknown:
            raise TypeError(f"{name!r} declares the target {unknown[0]!r}, but has no parameter of that name")
    description = declared.description or inspect.getdoc(given) or name
    return ExternalTool(name, description, parameters, given, declared_tool(name, declared.domain, **declared.targets))


def line_of(given: object) -> int | None:
    code = getattr(inspect.unwrap(given) if callable(given) else given, "__code__", None)
    return getattr(code, "co_firstlineno", None)


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON schema of a function's parameters, from its annotations."""
    hints = get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(
                f"parameter {str(parameter)!r} of {function.__name__!r} cannot be given by name; use plain parameters"
            )
        schema = dict(_schema(hints.get(parameter.name, Any), f"{function.__name__}({parameter.name})"))
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif _is_json(parameter.default):
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _schema(kind: Any, where: str) -> Mapping[str, Any]:
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        words = [note for note in inside[1:] if isinstance(note, str)]
        return {**_schema(inside[0], where), **({"description": words[0]} if words else {})}
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [dict(_schema(option, where)) for option in inside]}
    if origin in (list, tuple, set) and inside:
        return {"type": "array", "items": dict(_schema(inside[0], where))}
    if origin is dict:
        return {"type": "object"}
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    raise TypeError(
        f"{where} has the type {getattr(kind, '__name__', kind)!s}, which JSON cannot carry; use str, int, float, "
        "bool, list, dict, Literal or X | None, or give `parameters` to external_tool"
    )


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        raise TypeError(f"{name!r} is no name for a tool; use letters, digits, _ and -, at most 64")
    return name
