"""Many path globs as one expression, because this runs before every tool call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from holdfast.core.patterns import Rule, expressions, normal


class PathSet:
    """Absolute globs; upper and lower case count as the same, since some disks do not tell them apart."""

    __slots__ = ("_globs", "_known", "_pattern")

    def __init__(self, globs: Iterable[str]) -> None:
        self._globs = tuple(globs)
        self._known = tuple(dict.fromkeys(_known_part(glob) for glob in self._globs))
        self._pattern: re.Pattern[str] | None = None  # made when first asked: a hook's own process asks few of them

    def holds(self, path: str) -> bool:
        if not self._globs:
            return False
        if self._pattern is None:
            rules = (Rule("edit", f"fs:{glob}", "deny") for glob in self._globs)
            parts = [expression for rule in rules for expression in expressions(rule)]
            self._pattern = re.compile("|".join(parts), re.IGNORECASE)
        return self._pattern.fullmatch("fs:" + normal(path)) is not None

    def below(self, folder: str) -> bool:
        """Whether a known member lies below the folder, so that the folder going takes it along."""
        return bool(self.first_below(folder))

    def first_below(self, folder: str) -> str:
        """A known member below the folder; empty when there is none."""
        prefix = normal(folder).rstrip("/").casefold() + "/"
        return next((known.rstrip("/") for known in self._known if known.casefold().startswith(prefix)), "")

    def names_below(self, folder: str) -> tuple[str, ...]:
        """What stands directly in the folder and is, or holds, a known member."""
        prefix = normal(folder).rstrip("/") + "/"
        found = (known for known in self._known if known.casefold().startswith(prefix.casefold()))
        return tuple(dict.fromkeys(known[len(prefix) :].split("/", 1)[0] for known in found))


@lru_cache(maxsize=1024)  # the same few globs are asked of every word of every command
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
