"""Path globs by the folder or file names they insist on: a few look-ups instead of an automaton over all rules.

Only plain globs are taken (names, `*` inside a name, `**` as a name); everything else stays with RE2. The meaning is
that of `core.patterns`; the property test of the index covers both ways. Matching takes linear time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NOT_PLAIN = frozenset("?[{\\")
MOST_PER_NAME = 32
"""A name that more rules insist on tells them apart too badly."""

_Name = str | tuple[str, ...]
"""A literal name, or the parts between the `*` of one."""


@dataclass(frozen=True, slots=True)
class PlainGlob:
    """`/head/**/gap/**/tail`: runs of names with any number of names between them."""

    position: int
    head: tuple[_Name, ...]
    gaps: tuple[tuple[_Name, ...], ...]
    tail: tuple[_Name, ...] | None
    """None when there is no `**` at all."""

    def literals(self) -> Iterator[str]:
        for run in (self.head, *self.gaps, self.tail or ()):
            yield from (name for name in run if isinstance(name, str) and name)

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
    """Plain globs, found by the rarest name each insists on."""

    __slots__ = ("_by_name", "refused")

    def __init__(self, globs: Iterable[PlainGlob]) -> None:
        known = list(globs)
        uses = Counter(name for glob in known for name in glob.literals())
        self._by_name: dict[str, list[PlainGlob]] = {}
        self.refused: list[int] = []
        """Positions of those that no rare name tells apart."""
        for glob in known:
            rarest = min(glob.literals(), key=uses.__getitem__, default="")
            if not rarest or uses[rarest] > MOST_PER_NAME:
                self.refused.append(glob.position)
            else:
                self._by_name.setdefault(rarest, []).append(glob)

    def found(self, path: str) -> set[int]:
        """Positions of the globs that cover an absolute path."""
        positions: set[int] = set()
        names = path[1:].split("/")
        by_name = self._by_name
        for name in names:
            for glob in by_name.get(name, ()):
                if glob.position not in positions and glob.covers(names):
                    positions.add(glob.position)
        return positions


def plain_glob(glob: str, position: int) -> PlainGlob | None:
    """The glob of an absolute path, when it is plain."""
    if not glob.startswith("/") or any(char in _NOT_PLAIN for char in glob):
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
    if not rest:
        return PlainGlob(position, first, (), None)
    return PlainGlob(position, first, tuple(rest[:-1]), rest[-1])


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
