"""Path globs by the folder or file names they insist on: a few look-ups instead of an automaton over all rules.

Only plain globs are taken (names, `*` inside a name, `**` as a name); everything else stays with RE2. The meaning is
that of `core.patterns`; the property test of the index covers both ways. Matching takes linear time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_NOT_PLAIN = frozenset("?[{\\")
MOST_PER_NAME = 32
"""A name that more rules insist on tells them apart too badly."""

_Name = str | tuple[str, ...]
"""A literal name, or the parts between the `*` of one."""


@dataclass(frozen=True, slots=True)
class PlainGlob:
    """`/head/**/gap/**/tail`: runs of names with any number of names between them."""

    head: tuple[_Name, ...]
    gaps: tuple[tuple[_Name, ...], ...]
    tail: tuple[_Name, ...] | None
    """None when there is no `**` at all."""
    literals: tuple[str, ...]
    """The names without a wildcard: a path that lacks one is not covered."""

    def covers(self, names: list[str]) -> bool:
        if self.tail is None:
            return len(names) == len(self.head) and _fit(names, self.head, 0)
        at, end = len(self.head), len(names) - len(self.tail)
        if end < at or not _fit(names, self.head, 0) or not _fit(names, self.tail, end):
            return False
        for gap in self.gaps:  # the first place that fits leaves most room for the others
            while at + len(gap) <= end and not _fit(names, gap, at):
                at += 1
            at += len(gap)
        return at <= end


class PathRules:
    """Plain globs with the positions of their rules, found by the rarest name each insists on."""

    __slots__ = ("_by_name", "refused")

    def __init__(self, globs: Sequence[tuple[int, PlainGlob]]) -> None:
        uses = Counter(name for _, glob in globs for name in glob.literals)
        self._by_name: dict[str, list[tuple[int, PlainGlob]]] = {}
        self.refused: list[int] = []
        """Positions of those that no rare name tells apart."""
        for position, glob in globs:
            rarest = min(glob.literals, key=uses.__getitem__, default="")
            if not rarest or uses[rarest] > MOST_PER_NAME:
                self.refused.append(position)
            else:
                self._by_name.setdefault(rarest, []).append((position, glob))

    def found(self, path: str) -> set[int]:
        """Positions of the globs that cover an absolute path."""
        positions: set[int] = set()
        names = path[1:].split("/")
        by_name = self._by_name
        for name in names:
            for position, glob in by_name.get(name, ()):
                if position not in positions and glob.covers(names):
                    positions.add(position)
        return positions


def plain_glob(glob: str) -> PlainGlob | None:
    """The glob of an absolute path, when it is plain."""
    if not glob.startswith("/") or not _NOT_PLAIN.isdisjoint(glob):
        return None
    runs: list[list[_Name]] = [[]]
    for name in glob[1:].split("/"):
        if name == "**":
            runs.append([])
        elif "***" in name:
            return None
        else:
            runs[-1].append(tuple(name.replace("**", "*").split("*")) if "*" in name else name)
    first, *rest = (tuple(run) for run in runs)
    literals = tuple(name for run in runs for name in run if isinstance(name, str) and name)
    if not rest:
        return PlainGlob(first, (), None, literals)
    return PlainGlob(first, tuple(rest[:-1]), rest[-1], literals)


def _fit(names: list[str], run: tuple[_Name, ...], at: int) -> bool:
    for offset, wanted in enumerate(run):
        name = names[at + offset]
        if name != wanted if isinstance(wanted, str) else not _fits(name, wanted):
            return False
    return True


def _fits(name: str, parts: tuple[str, ...]) -> bool:
    """Whether the parts stand in the name in order, the first at its start and the last at its end."""
    first, last = parts[0], parts[-1]
    at, end = len(first), len(name) - len(last)
    if end < at or not name.startswith(first) or not name.endswith(last):
        return False
    for part in parts[1:-1]:
        at = name.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True
