"""The state of a project's memory bank, as the terminal and the page tell it."""

from __future__ import annotations

from typing import Any

from holdfast.core.memory import MEMORY, PATTERNS, focus_of, injection
from holdfast.core.settings import MemorySettings
from holdfast.store.memory_files import MemoryFiles


def memory_status(vault: str, settings: MemorySettings) -> dict[str, Any]:
    """What is there, and what is injected of it."""
    facts = MemoryFiles(settings.max_chars).facts(vault)
    files = sorted(facts.files) if facts else []
    focus = focus_of(facts.text) if facts else None
    return {
        "vault": vault,
        "files": files,
        "memory": MEMORY in files,
        "patterns": PATTERNS in files,
        "cut": bool(facts and facts.cut),
        "goal": focus.goal if focus else "",
        "guardMode": settings.guard_mode,
        "recovery": settings.recovery,
    }


def injected(vault: str, settings: MemorySettings) -> str:
    """The text that a model is given at the start."""
    return injection(MemoryFiles(settings.max_chars).facts(vault))
