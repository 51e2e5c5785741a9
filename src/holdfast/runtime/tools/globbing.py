"""Globs over paths, and walking a folder guided by them: only folders that can hold a match are opened.

`*` and `?` stay within a name, `**` as a whole name stands for any number of folders, `[a-z]`, `[!a]` and `{a,b}` as
in a shell. A name that begins with a dot needs no dot in the pattern. No link is followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

MOST_ALTERNATIVES = 256
_WILD = frozenset("*?[{")
State = tuple[int, int]
"""Which alternative, and how many of its names are matched."""


class GlobError(ValueError):
    """The pattern cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Glob:
    """The alternatives of a pattern, each a sequence of names."""

    alternatives: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, pattern: str) -> Glob:
        alternatives: dict[tuple[str, ...], None] = {}
        for plain in expand_braces(pattern):
            names = tuple(name for name in plain.split("/") if name not in ("", "."))
            if plain.startswith("/") or ".." in names:
                raise GlobError(f"{pattern!r} leads out of its folder; name the folder by `path` instead")
            collapsed = tuple(
                name for index, name in enumerate(names) if name != "**" or index == 0 or names[index - 1] != "**"
            )
            if collapsed:
                alternatives[collapsed] = None
        if not alternatives:
            raise GlobError(f"{pattern!r} names nothing; use a pattern such as **/*.py")
        return cls(tuple(alternatives))

    def start(self) -> frozenset[State]:
        return self._closed((number, 0) for number in range(len(self.alternatives)))

    def step(self, states: frozenset[State], name: str) -> frozenset[State]:
        """Where the walk stands after going into `name`."""
        following: set[State] = set()
        for number, index in states:
            names = self.alternatives[number]
            if index >= len(names):
                continue
            if names[index] == "**":
                following.add((number, index))
                if index == len(names) - 1:
                    following.add((number, index + 1))
            elif matches_name(names[index], name):
                following.add((number, index + 1))
        return self._closed(following)

    def accepts(self, states: frozenset[State]) -> bool:
        return any(index == len(self.alternatives[number]) for number, index in states)

    def goes_on(self, states: frozenset[State]) -> bool:
        return any(index < len(self.alternatives[number]) for number, index in states)

    def matches(self, path: str) -> bool:
        """Whether a relative path matches as a whole."""
        states = self.start()
        for name in path.split("/"):
            states = self.step(states, name)
        return self.accepts(states)

    def names_literally(self, name: str) -> bool:
        """Whether the pattern spells this name out: then it wants what is otherwise passed over."""
        return any(name in names for names in self.alternatives)

    def _closed(self, states: Sequence[State] | Iterator[State] | set[State]) -> frozenset[State]:
        """`**` may also stand for no folder at all, but at the end for at least one name: `a/**` is not `a`."""
        found: set[State] = set()
        for number, start in states:
            names = self.alternatives[number]
            index = start
            found.add((number, index))
            while index < len(names) - 1 and names[index] == "**":
                index += 1
                found.add((number, index))
        return frozenset(found)


def walk(root: str, glob: Glob, *, passed_over: frozenset[str] = frozenset()) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every match below `root` with its relative path, folders before what is in them, in order of names."""
    stack: list[tuple[str, str, frozenset[State]]] = [(root, "", glob.start())]
    while stack:
        folder, prefix, states = stack.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        below: list[tuple[str, str, frozenset[State]]] = []
        for entry in entries:
            after = glob.step(states, entry.name)
            if not after:
                continue
            relative = f"{prefix}{entry.name}"
            if glob.accepts(after):
                yield relative, entry
            enter = entry.name not in passed_over or glob.names_literally(entry.name)
            if enter and glob.goes_on(after) and entry.is_dir(follow_symlinks=False):
                below.append((entry.path, f"{relative}/", after))
        stack.extend(reversed(below))


def literal_part(pattern: str) -> tuple[str, str]:
    """The folder a pattern begins in, and the rest: `/etc/**/*.conf` -> (`/etc`, `**/*.conf`)."""
    names = pattern.split("/")
    count = 0
    # The last name always belongs to the rest: something must be left to match.
    while count < len(names) - 1 and not any(char in _WILD or char == "\\" for char in names[count]):
        count += 1
    folder = "/".join(names[:count])
    return "/" if folder == "" and pattern.startswith("/") else folder, "/".join(names[count:])


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_expression(pattern), re.DOTALL)


def matches_name(pattern: str, name: str) -> bool:
    return _compiled(pattern).fullmatch(name) is not None


def _expression(pattern: str) -> str:
    out: list[str] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        index += 1
        if char == "*":
            if not out or out[-1] != ".*":
                out.append(".*")
        elif char == "?":
            out.append(".")
        elif char == "[":
            end = _class_end(pattern, index)
            if end < 0:
                out.append("\\[")
                continue
            out.append(_class(pattern[index:end]))
            index = end + 1
        elif char == "\\" and index < len(pattern):
            out.append(re.escape(pattern[index]))
            index += 1
        else:
            out.append(re.escape(char))
    return "".join(out)


def _class_end(pattern: str, start: int) -> int:
    """Where the bracket closes; a `]` right at its beginning belongs to it."""
    index = start + 1 if pattern[start : start + 1] in ("!", "^") else start
    return pattern.find("]", index + 1)


def _class(body: str) -> str:
    negated = body[0] in "!^"
    members = body[1:] if negated else body
    parts: list[str] = []
    index = 0
    while index < len(members):
        low = members[index]
        if index + 2 < len(members) and members[index + 1] == "-":
            high = members[index + 2]
            if low <= high:
                parts.append(f"{re.escape(low)}-{re.escape(high)}")
            index += 3
        else:
            parts.append(re.escape(low))
            index += 1
    if not parts:
        return "." if negated else r"[^\s\S]"
    return f"[{'^' if negated else ''}{''.join(parts)}]"


def expand_braces(pattern: str) -> list[str]:
    """`a{b,c}` -> `ab`, `ac`, nested too; braces without a comma stand for themselves."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        text = waiting.pop()
        group = _first_group(text)
        if group is None:
            done.append(text)
        else:
            start, end, options = group
            waiting.extend(f"{text[:start]}{option}{text[end:]}" for option in reversed(options))
        if len(done) + len(waiting) > MOST_ALTERNATIVES:
            raise GlobError(f"{pattern[:80]!r} stands for more than {MOST_ALTERNATIVES} patterns; use fewer braces")
    return done


def _first_group(text: str) -> tuple[int, int, list[str]] | None:
    """The first `{a,b}`: where it begins, the index behind it, and what it offers."""
    start = text.find("{")
    while start >= 0:
        depth = 0
        options: list[str] = []
        mark = start + 1
        for index in range(start, len(text)):
            char = text[index]
            if char == "{":
                depth += 1
            elif char == "," and depth == 1:
                options.append(text[mark:index])
                mark = index + 1
            elif char == "}":
                depth -= 1
                if depth == 0:
                    options.append(text[mark:index])
                    if len(options) > 1:
                        return start, index + 1, options
                    break
        start = text.find("{", start + 1)
    return None
