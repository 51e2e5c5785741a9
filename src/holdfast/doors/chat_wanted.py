"""What the command line asked of a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from holdfast.store.config_file import Inline
from holdfast.store.home import Home


@dataclass(frozen=True, slots=True)
class Wanted:
    home: Home
    inline: Inline
    vault: Path
    cwd: Path
    thread: str = ""
    resume: bool = False
    model: str = ""
    agent: str = ""
    interactive: bool = True
