"""Regular expressions that are compiled when they are first asked: most commands need few of them.

A hook is a process of its own for every command, and compiling all patterns takes longer than reading the command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

_METHODS = ("match", "search", "fullmatch", "finditer", "findall", "sub", "split")


class Lazy:
    """Stands for `re.compile(pattern, flags)`; after the first use its methods are those of the compiled one."""

    __slots__ = (*_METHODS, "flags", "pattern")

    match: Callable[..., re.Match[str] | None]
    search: Callable[..., re.Match[str] | None]
    fullmatch: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]
    findall: Callable[..., list[Any]]
    sub: Callable[..., str]
    split: Callable[..., list[Any]]

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        """Only reached while the slots are empty."""
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(self, name)
