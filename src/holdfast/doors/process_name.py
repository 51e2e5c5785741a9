"""The name under which our long-lived processes are known to `ps`, `pkill` and `killall`."""

from __future__ import annotations

import contextlib
from pathlib import Path

NAME = "holdfast"


def take_name() -> None:
    """Be `holdfast`, not `python`: who ends all of Python's processes does not mean the guard. Linux only."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(NAME)
