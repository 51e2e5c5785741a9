"""How an entry in somebody's settings is known to be ours: by what it runs, never by where it stands."""

from __future__ import annotations

import json
import re
from typing import Any

MCP_NAME = "holdfast"
_HOOK = re.compile(r"holdfast/doors/hook_client\.py|//127\.0\.0\.1:\d+/hook/|holdfast/hosts/opencode_plugin\.js")
_MCP = re.compile(r'"-m", "holdfast"(?:, "--home", "(?:[^"\\]|\\.)*")?, "mcp"')


def is_our_hook(value: Any) -> bool:
    return _HOOK.search(_text(value)) is not None


def is_our_server(value: Any) -> bool:
    return _MCP.search(_text(value)) is not None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\\\\", "/")
