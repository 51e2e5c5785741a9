"""The control plane for long-running AI agents.

The names below are the public ones; everything else may change between releases. Each is imported when it is first
used, so that `import holdfast` (and with it the hook client, which runs before every tool call) stays cheap.
"""

from holdfast._version import __version__

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` for it would cost 5 ms in every hook
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "__version__",
]

# public name -> the module that defines it; for type checkers each name is also imported under TYPE_CHECKING above
_HOME_OF: dict[str, str] = {}


def __getattr__(name: str) -> "Any":
    if name not in _HOME_OF:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 (only when a lazy name is used)

    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
