"""Rules over targets: the reference that every faster matcher must equal (PE3).

A pattern is a glob, or an RE2 expression behind `regex:`. The scheme is split off first, because wildcards mean
different things in a path and in a command. Both the reference (`re`) and the index (RE2) use the expressions
made here, so they can only differ in speed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from holdfast.core.targets import DOMAINS, SCHEMES, Domain, Scheme, Target
from holdfast.core.verdict import Decision, RuleRef

REGEX_PREFIX = "regex:"
_PATH_SCHEMES: frozenset[Scheme] = frozenset({"vault", "fs", "url", "mcp"})
_SCHEMES_OF: dict[Domain, tuple[Scheme, ...]] = {
    "read": ("vault", "fs"),
    "edit": ("vault", "fs"),
    "bash": ("shell",),
    "web_fetch": ("url",),
    "web_search": ("query",),
    "mcp": ("mcp",),
}
_SPECIAL = frozenset("\\.^$|?*+()[]{}-&~#")


@dataclass(frozen=True, slots=True)
class Rule:
    """`{domain, pattern, decision}` and where it was written."""

    domain: Domain
    pattern: str
    decision: Decision
    source: str = field(default="built-in", compare=False)
    line: int | None = field(default=None, compare=False)
    index: int | None = field(default=None, compare=False)
    expires: float | None = None
    """Seconds since 1970; after that the rule no longer counts ("like this for 30 minutes")."""

    def ref(self) -> RuleRef:
        return RuleRef(self.pattern, self.decision, self.domain, self.source, self.line, self.index)


class Matcher(Protocol):
    """Finds the rule that decides about one target."""

    def match(self, domain: Domain, target: Target) -> Rule | None:
        """The last rule of the domain that matches, or None."""
        ...


class PatternError(ValueError):
    """A pattern that cannot be used; the message says what and how to mend it."""


def normal(text: str) -> str:
    """One unicode form for patterns and targets, so that composed and decomposed names compare equal."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def expressions(rule: Rule, *, fold_case: bool = False) -> tuple[str, ...]:
    """Anchored expressions, valid in `re` and RE2, over the full target text `scheme:value`.

    For a `regex:` pattern the expression is searched for anywhere, in the whole text and in the value alone.
    """
    pattern = normal(rule.pattern)
    if pattern.startswith(REGEX_PREFIX):
        body = pattern[len(REGEX_PREFIX) :]
        flags = "(?i)" if fold_case else ""
        return (f"{flags}(?:{body})",)
    scheme, value = split_scheme(pattern)
    if scheme is not None and scheme not in _SCHEMES_OF[rule.domain]:
        allowed = ", ".join(f"{name}:" for name in _SCHEMES_OF[rule.domain])
        raise PatternError(
            f"pattern {rule.pattern!r} can never match: targets of domain {rule.domain!r} begin with {allowed}"
        )
    schemes = (scheme,) if scheme is not None else _SCHEMES_OF[rule.domain]
    flags = "(?is)" if fold_case else "(?s)"
    return tuple(f"{flags}^{name}:{_value_expression(value, name, scheme is not None)}$" for name in schemes)


def split_scheme(pattern: str) -> tuple[Scheme | None, str]:
    """`vault:/a` -> ("vault", "/a"); `git *` -> (None, "git *")."""
    head, colon, rest = pattern.partition(":")
    if colon and head in SCHEMES:
        return head, rest
    return None, pattern


def _value_expression(value: str, scheme: Scheme, explicit: bool) -> str:
    if scheme not in _PATH_SCHEMES:
        # `git status *` also means `git status`: an argument list may be empty.
        if value.endswith(" *") and len(value) > 2:
            return f"{_text_glob(value[:-2])}(?:[ \\t\\n].*)?"
        return _text_glob(value)
    if value in ("*", "**") and not explicit:
        return ".*"
    if scheme == "url":
        return _path_glob(value if "://" in value else "{http,https}://" + value)
    if scheme == "mcp":
        return _path_glob(value if "/" in value or value == "**" else value + "/*")
    if not value.startswith("/"):
        bare_name = not explicit and "/" not in value
        value = ("/**/" if bare_name else "/") + value
    return _path_glob(value)


def _literal(char: str) -> str:
    return "\\" + char if char in _SPECIAL else char


def _bracket(text: str, start: int) -> tuple[str, int] | None:
    """A `[...]` class beginning at `start`: its expression and the index behind it, or None if never closed."""
    i = start + 1
    negate = i < len(text) and text[i] in "!^"
    i += negate
    members: list[str] = []
    first = True
    while i < len(text) and (first or text[i] != "]"):
        first = False
        if text[i] == "\\" and i + 1 < len(text):
            i += 1
        if i + 2 < len(text) and text[i + 1] == "-" and text[i + 2] != "]":
            low, high = text[i], text[i + 2]
            i += 3
            if low <= high:
                members.append(f"{_literal(low)}-{_literal(high)}")
            continue
        members.append(_literal(text[i]))
        i += 1
    if i >= len(text):
        return None
    if not members:
        return (".", i + 1) if negate else ("[^\\s\\S]", i + 1)
    return f"[{'^' if negate else ''}{''.join(members)}]", i + 1


def _text_glob(pattern: str) -> str:
    """Commands and queries: `*` and `?` cross everything."""
    out: list[str] = []
    i = 0
    while i < len(pattern):
        char = pattern[i]
        if char == "*":
            out.append(".*")
        elif char == "?":
            out.append(".")
        elif char == "[" and (found := _bracket(pattern, i)):
            out.append(found[0])
            i = found[1]
            continue
        elif char == "\\" and i + 1 < len(pattern):
            i += 1
            out.append(_literal(pattern[i]))
        else:
            out.append(_literal(char))
        i += 1
    return "".join(out)


def _path_glob(pattern: str) -> str:
    """Paths, URLs and MCP names: `*` stops at `/`, `**` as a whole component crosses it, `{a,b}` chooses."""
    out: list[str] = []
    depth = 0
    i = 0
    while i < len(pattern):
        char = pattern[i]
        if char == "*":
            j = i
            while j < len(pattern) and pattern[j] == "*":
                j += 1
            at_start = i == 0 or pattern[i - 1] in "/{,"
            at_end = j == len(pattern) or pattern[j] in "/},"
            if j - i >= 2 and at_start and j < len(pattern) and pattern[j] == "/":
                out.append("(?:.*/)?")
                i = j + 1
                continue
            out.append(".*" if j - i >= 2 and at_start and at_end else "[^/]*")
            i = j
            continue
        if char == "?":
            out.append("[^/]")
        elif char == "[" and (found := _bracket(pattern, i)):
            out.append(found[0])
            i = found[1]
            continue
        elif char == "{" and "}" in pattern[i:]:
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "\\" and i + 1 < len(pattern):
            i += 1
            out.append(_literal(pattern[i]))
        else:
            out.append(_literal(char))
        i += 1
    out.append(")" * depth)
    return "".join(out)


@lru_cache(maxsize=65536)
def _compiled(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(expression)
    except re.error as error:
        raise PatternError(f"expression {expression!r} is not valid: {error}") from None


def matches(rule: Rule, target: Target, *, fold_case: bool = False) -> bool:
    """Whether the rule's pattern covers the target, ignoring its domain."""
    text = normal(str(target))
    if rule.pattern.startswith(REGEX_PREFIX):
        (expression,) = expressions(rule, fold_case=fold_case)
        pattern = _compiled(expression)
        return bool(pattern.search(text) or pattern.search(text.partition(":")[2]))
    return any(_compiled(expression).search(text) for expression in expressions(rule, fold_case=fold_case))


class LinearMatcher:
    """The reference: tries every rule, newest first."""

    def __init__(self, rules: Iterable[Rule], *, fold_case: bool = False) -> None:
        self._fold_case = fold_case
        self._by_domain: dict[Domain, list[Rule]] = {domain: [] for domain in DOMAINS}
        for rule in rules:
            self._by_domain[rule.domain].append(rule)

    def all_matches(self, domain: Domain, target: Target) -> Iterator[Rule]:
        """Every matching rule, the deciding one first; those after it are shadowed."""
        for rule in reversed(self._by_domain[domain]):
            if matches(rule, target, fold_case=self._fold_case):
                yield rule

    def match(self, domain: Domain, target: Target) -> Rule | None:
        return next(self.all_matches(domain, target), None)
