"""The commented configuration that `holdfast init` writes: every default with its line of documentation.

It is made from the settings themselves, so it cannot say anything that is not so.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.core.decode import encode, fields_of
from holdfast.core.settings import RuntimeSettings

HEAD = """\
{
  // Settings of Holdfast. Comments and trailing commas are welcome; what is left out has its default.
  // Take the slashes away from a line to change it. `holdfast config validate` checks the file,
  // `holdfast config show --origin` says where each value comes from. API keys never belong in here.
  "agents": {
    "runtime": {
"""
RULES = """\
      // Rules of your own, the last one that matches decides. "Always" writes new ones here, above those that deny.
      "permission": {
        "rules": [
          // { "domain": "bash", "pattern": "git status *", "decision": "allow" },
          // { "domain": "read", "pattern": "vault:/secrets/**", "decision": "deny" },
        ],
"""
TAIL = """\
    },
  },
}
"""
_WIDEST = 110


def template() -> str:
    """The whole file."""
    runtime = RuntimeSettings()
    parts = []
    for key, (field, _) in fields_of(RuntimeSettings).items():
        value = getattr(runtime, field.name)
        if key == "permission":
            rest = [line for line in _members(value, "        ") if not line.lstrip("/ ").startswith('"rules"')]
            parts.append(RULES + "".join(f"{line}\n" for line in rest) + "      },\n")
        else:
            lines = [f"      // {field.metadata['doc']}", *_member(key, value, "      ")]
            parts.append("".join(f"{line}\n" for line in lines))
    return HEAD + "\n".join(parts) + TAIL


def _members(value: Any, indent: str) -> Iterator[str]:
    for key, (field, _) in fields_of(value.__class__).items():
        yield from _member(key, getattr(value, field.name), indent, str(field.metadata["doc"]))


def _member(key: str, value: Any, indent: str, doc: str = "") -> Iterator[str]:
    """A setting as commented lines, the documentation behind it or, when the line grows too long, above."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        if doc:
            yield f"{indent}// // {doc}"
        yield f'{indent}// "{key}": {{'
        for line in _members(value, ""):
            yield f"{indent}//   {line.removeprefix('// ')}"
        yield f"{indent}// }},"
        return
    text = f'{indent}// "{key}": {_json(encode(value))},'
    if doc and len(text) + len(doc) + 4 > _WIDEST:
        yield f"{indent}// // {doc}"
    elif doc:
        text += f" // {doc}"
    yield text


def _json(value: Any) -> str:
    return "{}" if isinstance(value, Mapping) and not value else json.dumps(value, ensure_ascii=False)
