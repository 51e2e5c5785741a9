"""Looks at a vault's memory bank, and looks again only when something there has changed."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from holdfast.core.memory import FOLDER, MEMORY, MemoryFacts

MOST_FILES = 5000
"""A memory bank is prose of people's; whatever is larger is something else, and is not walked to its end."""


@dataclass(frozen=True, slots=True)
class _Seen:
    folders: tuple[tuple[str, int], ...]
    memory: tuple[int, int, int] | None
    facts: MemoryFacts


class MemoryFiles:
    """`facts(vault)`; cached by the folders' and MEMORY.md's own times, so that a look costs a few `stat` calls."""

    def __init__(self, max_chars: int = 12_000, *, folds_case: bool = False) -> None:
        self.max_chars = max_chars
        self._folds_case = folds_case
        self._seen: dict[str, _Seen] = {}
        self._lock = threading.Lock()

    def facts(self, vault: str) -> MemoryFacts | None:
        if not vault:
            return None
        seen = self._seen.get(vault)
        if seen is not None and seen.memory == _stamp(vault) and all(_time(f) == t for f, t in seen.folders):
            return seen.facts
        with self._lock:
            seen = self._look(vault)
            self._seen[vault] = seen
        return seen.facts

    def _look(self, vault: str) -> _Seen:
        stamp = _stamp(vault)
        folders: list[tuple[str, int]] = []
        files: set[str] = set()
        top = os.path.join(vault, FOLDER)
        folders.append((top, _time(top)))
        for folder, names, found in os.walk(top):
            names.sort()
            folders += [(path, _time(path)) for path in (os.path.join(folder, name) for name in names)]
            inside = os.path.relpath(folder, vault).replace(os.sep, "/")
            files.update(f"{inside}/{name}" for name in found)
            if len(files) > MOST_FILES:
                break
        text, cut = _text(vault, self.max_chars)
        return _Seen(tuple(folders), stamp, MemoryFacts(frozenset(files), text, cut, self._folds_case))


def _text(vault: str, limit: int) -> tuple[str, bool]:
    try:
        with Path(vault, MEMORY).open(encoding="utf-8", errors="replace") as file:
            text = file.read(limit + 1)
    except OSError:
        return "", False
    return text[:limit], len(text) > limit


def _stamp(vault: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(os.path.join(vault, MEMORY))
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _time(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return -1
