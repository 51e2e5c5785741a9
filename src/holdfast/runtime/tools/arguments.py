"""What a model sent, taken apart with patience: aliases and numbers in quotes are understood, the rest is explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.runtime.tool import ToolFailure

PATH_KEYS = ("path", "file_path", "filePath", "file")
"""The names of the neutral tool table: whatever is understood here has been judged there."""


def schema(properties: Mapping[str, Mapping[str, Any]], required: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON schema of an input object."""
    return {
        "type": "object",
        "properties": {name: dict(about) for name, about in properties.items()},
        "required": list(required),
        "additionalProperties": False,
    }


def text_of(given: Mapping[str, Any], *keys: str, empty: bool = False) -> str:
    """The first of the keys that is there; a missing one is the model's mistake."""
    found = optional_text(given, *keys)
    if found is None or not (found or empty):
        raise ToolFailure(f"{keys[0]!r} is missing. Call again with {keys[0]!r} as a string.")
    return found


def optional_text(given: Mapping[str, Any], *keys: str) -> str | None:
    for key in keys:
        value = given.get(key)
        if value is None:
            continue
        if not isinstance(value, str):
            raise ToolFailure(f"{key!r} must be a string, not {type(value).__name__}.")
        return value
    return None


def path_of(given: Mapping[str, Any]) -> str:
    return text_of(given, *PATH_KEYS)


def number_of(given: Mapping[str, Any], key: str, default: int, *, least: int = 0, most: int | None = None) -> int:
    value = given.get(key)
    if value is None:
        return default
    try:
        if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
            raise ValueError
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise ToolFailure(f"{key!r} must be a whole number, not {value!r}.") from None
    if number < least or (most is not None and number > most):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ToolFailure(f"{key!r} must be {bounds}, not {number}.")
    return number


def flag_of(given: Mapping[str, Any], key: str, default: bool = False) -> bool:
    value = given.get(key)
    if value is None:
        return default
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise ToolFailure(f"{key!r} must be true or false, not {value!r}.")
    return value


def choice_of(given: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
    value = given.get(key, choices[0])
    if value not in choices:
        raise ToolFailure(f"{key!r} must be one of {', '.join(choices)}, not {value!r}.")
    return str(value)
