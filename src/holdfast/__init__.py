"""The control plane for long-running AI agents.

The names below are the public ones; everything else may change between releases. Each is imported when it is first
used, so that `import holdfast` (and with it the hook client, which runs before every tool call) stays cheap.
"""

from holdfast._version import __version__

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` for it would cost 5 ms in every hook
if TYPE_CHECKING:
    from typing import Any

    from holdfast.approvals import Approvals
    from holdfast.control import Control
    from holdfast.core.events import Event, PromptSubmitted, ToolCall, ToolCalled, ToolCalling
    from holdfast.core.keys import SessionId, SessionKey
    from holdfast.core.outcome import Outcome
    from holdfast.core.patterns import Rule
    from holdfast.core.policy import Capabilities, Policy
    from holdfast.core.settings import Settings
    from holdfast.core.targets import Access
    from holdfast.core.verdict import Finding, Verdict
    from holdfast.plane import Plane
    from holdfast.shell import CommandReading, read_command
    from holdfast.store.home import Home
    from holdfast.store.interface import AlreadyDecided, Session, Store

__all__ = [
    "Access",
    "AlreadyDecided",
    "Approvals",
    "Capabilities",
    "CommandReading",
    "Control",
    "Event",
    "Finding",
    "Home",
    "Outcome",
    "Plane",
    "Policy",
    "PromptSubmitted",
    "Rule",
    "Session",
    "SessionId",
    "SessionKey",
    "Settings",
    "Store",
    "ToolCall",
    "ToolCalled",
    "ToolCalling",
    "Verdict",
    "__version__",
    "read_command",
]

# public name -> the module that defines it; for type checkers each name is also imported under TYPE_CHECKING above
_HOME_OF: dict[str, str] = {
    "Access": "holdfast.core.targets",
    "AlreadyDecided": "holdfast.store.interface",
    "Approvals": "holdfast.approvals",
    "Capabilities": "holdfast.core.policy",
    "CommandReading": "holdfast.shell",
    "Control": "holdfast.control",
    "Event": "holdfast.core.events",
    "Finding": "holdfast.core.verdict",
    "Home": "holdfast.store.home",
    "Outcome": "holdfast.core.outcome",
    "Plane": "holdfast.plane",
    "Policy": "holdfast.core.policy",
    "PromptSubmitted": "holdfast.core.events",
    "Rule": "holdfast.core.patterns",
    "Session": "holdfast.store.interface",
    "SessionId": "holdfast.core.keys",
    "SessionKey": "holdfast.core.keys",
    "Settings": "holdfast.core.settings",
    "Store": "holdfast.store.interface",
    "ToolCall": "holdfast.core.events",
    "ToolCalled": "holdfast.core.events",
    "ToolCalling": "holdfast.core.events",
    "Verdict": "holdfast.core.verdict",
    "read_command": "holdfast.shell",
}


def __getattr__(name: str) -> "Any":
    if name not in _HOME_OF:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 (only when a lazy name is used)

    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
