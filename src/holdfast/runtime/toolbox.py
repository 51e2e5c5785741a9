"""The tools of an agent: built in, the user's own, by profile (PE1, HK3, HK6)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from holdfast.control import Control
from holdfast.runtime.tool import Tool


def tools_for(control: Control) -> Sequence[Tool]:
    """Everything the configured profile offers; the sub-agents' tool is added by the conversation."""
    profile = control.settings.runtime.profile
    return [tool for tool in built_in() if profile in tool.profiles]


def built_in() -> Sequence[Tool]:
    module: Any = import_module("holdfast.runtime.tools")
    return tuple(module.built_in_tools()) if hasattr(module, "built_in_tools") else ()
