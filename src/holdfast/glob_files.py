"""The files that a glob of a command stands for, as bash would expand it.

Looking is bounded: a pattern over half the disk is not expanded but called unknown.
"""

from __future__ import annotations

import fnmatch
import os
import re

_WILD = re.compile(r"[*?\[]")
MOST_FILES = 256
MOST_LOOKS = 20_000


def expand_glob(pattern: str, *, most_files: int = MOST_FILES, most_looks: int = MOST_LOOKS) -> list[str] | None:
    """Matching paths in order; None when they are too many to name or to look for."""
    if not pattern.startswith("/"):
        return None
    found = [""]
    looks = 0
    for name in (part for part in pattern.split("/") if part):
        following: list[str] = []
        matches = _expression(name).match if _WILD.search(name) else None
        for folder in found:
            if matches is None:
                following.append(f"{folder}/{name}")
                continue
            try:
                entries = os.scandir(folder or "/")
            except OSError:
                continue
            with entries:
                for entry in entries:
                    looks += 1
                    if looks > most_looks:
                        return None
                    hidden = entry.name.startswith(".") and not name.startswith(".")
                    if not hidden and matches(entry.name):
                        following.append(f"{folder}/{entry.name}")
        if len(following) > most_files:
            return None
        found = following
    return sorted(path for path in found if os.path.lexists(path))


def _expression(name: str) -> re.Pattern[str]:
    """The quotes of the command are gone by now: a bracket may be a class or a bracket, so both are looked for."""
    as_class = fnmatch.translate(name.replace("[^", "[!"))
    as_bracket = fnmatch.translate(name.replace("[", "[[]"))
    return re.compile(f"{as_class}|{as_bracket}" if "[" in name else as_class)
