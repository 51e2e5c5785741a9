"""Many path globs as one expression, because this runs before every tool call."""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.core.patterns import Rule, expressions, normal


class PathSet:
    """Absolute globs; upper and lower case count as the same, since some disks do not tell them apart."""

    __slots__ = ("_globs", "_pattern")

    def __init__(self, globs: Iterable[str]) -> None:
        self._globs = tuple(globs)
        rules = (Rule("edit", f"fs:{glob}", "deny") for glob in self._globs)
        parts = [expression for rule in rules for expression in expressions(rule)]
        self._pattern = re.compile("|".join(parts), re.IGNORECASE) if parts else None

    def holds(self, path: str) -> bool:
        return self._pattern is not None and self._pattern.fullmatch("fs:" + normal(path)) is not None

    def below(self, folder: str) -> bool:
        """Whether a known member lies below the folder, so that the folder going takes it along."""
        prefix = normal(folder).rstrip("/").casefold() + "/"
        return any(_known_part(glob).casefold().startswith(prefix) for glob in self._globs)


def _known_part(glob: str) -> str:
    """The part of a glob before its first wildcard, with a `/` behind a folder."""
    text = re.split(r"(?<!\\)[*?\[{]", glob, maxsplit=1)[0]
    return normal(re.sub(r"\\(.)", r"\1", text))


def could_be(glob: str, protected: str) -> bool:
    """Whether a glob, as a command holds it, could stand for a protected path or something below it.

    In doubt yes: classes and braces count as any text. Linear in both, because the glob comes from the agent.
    """
    wanted = [name for name in _known_part(protected).split("/") if name]
    given = [name for name in re.sub(r"\[[^\]]*\]|\{[^}]*\}", "*", glob).split("/") if name]
    if "**" in given:
        given = given[: given.index("**")]
    elif len(given) < len(wanted):
        return False
    return all(_fits(name, pattern) for name, pattern in zip(wanted, given, strict=False))


def _fits(name: str, pattern: str) -> bool:
    """The usual wildcard walk: on a mismatch only the latest `*` takes one more character."""
    at = i = 0
    star = retry = -1
    while at < len(name):
        if i < len(pattern) and pattern[i] == "*":
            star, retry = i, at
            i += 1
        elif i < len(pattern) and pattern[i] in ("?", name[at]):
            i += 1
            at += 1
        elif star >= 0:
            retry += 1
            i, at = star + 1, retry
        else:
            return False
    return all(char == "*" for char in pattern[i:])
