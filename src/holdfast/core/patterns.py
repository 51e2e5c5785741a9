"""Rules over targets: the reference that every faster matcher must equal (PE3).

A pattern is a glob, or an RE2 expression behind `regex:`. The scheme is split off first, because wildcards mean
different things in a path and in a command. Both the reference (`re`) and the index (RE2) use the expressions
made here, so they can only differ in speed. The reference is for tests and for rules without `regex:`; a hostile
expression would stall `re`, so whatever decides in earnest uses `holdfast.rule_index`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, Protocol

from holdfast.core.messages import Phrase, TellableError
from holdfast.core.targets import DOMAINS, SCHEMES, Domain, Scheme, Target, has_drive
from holdfast.core.verdict import Decision, RuleRef

REGEX_PREFIX = "regex:"
_PATH_SCHEMES: frozenset[Scheme] = frozenset({"vault", "fs", "url", "mcp"})
SCHEMES_OF: dict[Domain, tuple[Scheme, ...]] = {
    "read": ("vault", "fs"),
    "edit": ("vault", "fs"),
    "bash": ("shell",),
    "web_fetch": ("url",),
    "web_search": ("query",),
    "mcp": ("mcp",),
}
_SPECIAL = frozenset("\\.^$|?*+()[]{}-&~#")
_TEXT_WILDCARDS = frozenset("*?[\\")
_PATH_WILDCARDS = frozenset("*?[{\\")
_SURROGATES = re.compile("[\ud800-\udfff]")


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
    only: Literal["", "read_only"] = ""
    """`read_only`: counts only for a command that parsing has proven to change nothing (PE8)."""

    def ref(self) -> RuleRef:
        return RuleRef(self.pattern, self.decision, self.domain, self.source, self.line, self.index)


class Matcher(Protocol):
    """Finds the rules that speak about one target."""

    def match(self, domain: Domain, target: Target) -> Rule | None:
        """The last rule of the domain that matches, or None."""
        ...

    def all_matches(self, domain: Domain, target: Target) -> Iterable[Rule]:
        """Every matching rule, the deciding one first; those after it are shadowed."""
        ...


class PatternError(TellableError, ValueError):
    """A pattern that cannot be used; the message says what and how to mend it."""


_NEVER = Phrase(
    "pattern.never",
    "pattern {pattern} can never match: targets of domain {domain} begin with {allowed}",
    "模式 {pattern} 永远不会匹配：{domain} 类的目标以 {allowed} 开头",
)
_INVALID = Phrase(
    "pattern.invalid", "expression {expression} is not valid: {error}", "表达式 {expression} 无效：{error}"
)


def normal(text: str) -> str:
    """One unicode form for patterns and targets, so that composed and decomposed names compare equal.

    Bytes that are no text (lone surrogates, as Python reads them from file names) become U+FFFD.
    """
    return text if text.isascii() else unicodedata.normalize("NFC", _SURROGATES.sub("\ufffd", text))


def folded(text: str, fold_case: bool) -> str:
    """The form in which pattern and target are compared."""
    return normal(text).casefold() if fold_case else normal(text)


def is_regex(rule: Rule) -> bool:
    return rule.pattern.startswith(REGEX_PREFIX)


def is_literal(rule: Rule) -> bool:
    """Whether the pattern stands for exactly one target: no wildcard, no expression, no place left open."""
    if is_regex(rule):
        return False
    scheme, value = split_scheme(rule.pattern)
    if rule.domain in ("bash", "web_search"):
        return not any(char in _TEXT_WILDCARDS for char in value)
    if scheme is None or any(char in _PATH_WILDCARDS for char in value):
        return False
    return "://" in value if scheme == "url" else "/" in value


def escaped(target: Target) -> str:
    """A pattern that matches this target and nothing else."""
    wildcards = _PATH_WILDCARDS if target.scheme in _PATH_SCHEMES else _TEXT_WILDCARDS
    return f"{target.scheme}:" + "".join("\\" + char if char in wildcards else char for char in target.value)


def at_home(rule: Rule, home: str) -> Rule:
    """`~/x` and `fs:~/x` of a rule about files, with the user's home written out."""
    for lead in ("fs:~/", "~/"):
        if rule.domain in ("read", "edit") and rule.pattern.startswith(lead):
            folder = escaped(Target("fs", home.rstrip("/")))
            return replace(rule, pattern=f"{folder}/{rule.pattern[len(lead) :]}")
    return rule


def expressions(rule: Rule, *, fold_case: bool = False) -> tuple[str, ...]:
    """Expressions, valid in `re` and RE2, over the full target text `scheme:value`.

    Those of a glob must match the whole text; that of a `regex:` pattern is searched for anywhere, in the whole text
    and in the value alone.
    """
    if is_regex(rule):
        body = normal(rule.pattern)[len(REGEX_PREFIX) :]
        return (f"(?i:{body})" if fold_case else f"(?:{body})",)
    scheme, value = split_scheme(folded(rule.pattern, fold_case))
    if scheme is not None and scheme not in SCHEMES_OF[rule.domain]:
        allowed = ", ".join(f"{name}:" for name in SCHEMES_OF[rule.domain])
        raise PatternError(_NEVER(pattern=repr(rule.pattern), domain=repr(rule.domain), allowed=allowed))
    schemes = (scheme,) if scheme is not None else SCHEMES_OF[rule.domain]
    return tuple(f"(?s:{name}:{_value_expression(value, name, scheme is not None)})" for name in schemes)


def file_globs(rule: Rule, *, fold_case: bool = False) -> dict[Scheme, str]:
    """The globs over absolute paths that a rule about files comes down to, by scheme; none for `regex:`."""
    if is_regex(rule) or rule.domain not in ("read", "edit"):
        return {}
    scheme, value = split_scheme(folded(rule.pattern, fold_case))
    if scheme is None and value in ("*", "**"):
        return {}
    schemes = (scheme,) if scheme is not None else SCHEMES_OF[rule.domain]
    return {name: _absolute(value, scheme is not None) for name in schemes}


def split_scheme(pattern: str) -> tuple[Scheme | None, str]:
    """`vault:/a` -> ("vault", "/a"); `git *` -> (None, "git *")."""
    head, colon, rest = pattern.partition(":")
    if colon and head in SCHEMES:
        return head, rest
    return None, pattern


def _value_expression(value: str, scheme: Scheme, explicit: bool) -> str:
    if scheme not in _PATH_SCHEMES:
        # `git status *` also means `git status`: an argument list may be empty.
        if value.endswith(" *") and len(value) > 2 and not _ends_escaping(value[:-2]):
            return f"{_text_glob(value[:-2])}(?:[ \\t\\n].*)?"
        return _text_glob(value)
    if value in ("*", "**") and not explicit:
        return ".*"
    if scheme == "url":
        return _path_glob(value if "://" in value else "{http,https}://" + value)
    if scheme == "mcp":
        return _path_glob(value if "/" in value or value == "**" else value + "/*")
    return _path_glob(_absolute(value, explicit))


def _absolute(value: str, explicit: bool) -> str:
    """`a/b` -> `/a/b`; a name alone, without a scheme, means that name anywhere."""
    if value.startswith("/") or has_drive(value):
        return value
    bare_name = not explicit and "/" not in value
    return ("/**/" if bare_name else "/") + value


def _ends_escaping(text: str) -> bool:
    """Whether the next character is escaped: an odd number of backslashes stands at the end."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _literal(char: str) -> str:
    return "\\" + char if char in _SPECIAL else char


def _bracket(text: str, start: int, *, path: bool) -> tuple[str, int] | None:
    """A `[...]` class beginning at `start`: its expression and the index behind it, or None if never closed.

    In a path no class matches `/`: a name stays a name.
    """
    i = start + 1
    negate = i < len(text) and text[i] in "!^"
    i += negate
    members: list[str] = ["/"] if negate and path else []
    first = True
    while i < len(text) and (first or text[i] != "]"):
        first = False
        if text[i] == "\\" and i + 1 < len(text):
            i += 1
        low = high = text[i]
        if i + 2 < len(text) and text[i + 1] == "-" and text[i + 2] != "]":
            high = text[i + 2]
            i += 2
        i += 1
        members.extend(_ranges(low, high, without_slash=path))
    if i >= len(text):
        return None
    if not members:
        return (".", i + 1) if negate else ("[^\\s\\S]", i + 1)
    return f"[{'^' if negate else ''}{''.join(members)}]", i + 1


def _ranges(low: str, high: str, *, without_slash: bool) -> list[str]:
    if low > high:
        return []
    if without_slash and low <= "/" <= high:
        return [*_ranges(low, ".", without_slash=False), *_ranges("0", high, without_slash=False)]
    return [_literal(low) if low == high else f"{_literal(low)}-{_literal(high)}"]


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
        elif char == "[" and (found := _bracket(pattern, i, path=False)):
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


@lru_cache(maxsize=4096)  # the same globs stand in the rules of several domains, and come again with every reload
def _path_glob(pattern: str) -> str:
    """Paths, URLs and MCP names: `*` stops at `/`, `**` as a whole component crosses it, `{a,b}` chooses.

    `/a/**` covers `/a` too: listing or searching a folder touches what is in it.
    """
    out: list[str] = []
    depth = 0
    i = 0
    while i < len(pattern):
        char = pattern[i]
        if char == "/" and pattern[i:] == "/**":
            out.append("(?:/.*)?")
            break
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
        elif char == "[" and (found := _bracket(pattern, i, path=True)):
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


def _as_python(expression: str) -> str:
    """RE2's meaning in `re`: classes are ASCII, `$` and `\\z` are the very end, also before a last line break."""
    out: list[str] = []
    in_class = False
    i = 0
    while i < len(expression):
        char = expression[i]
        if char == "\\" and i + 1 < len(expression):
            out.append("\\Z" if expression[i + 1] == "z" else expression[i : i + 2])
            i += 2
            continue
        if in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        out.append("\\Z" if char == "$" and not in_class else char)
        i += 1
    return f"(?a:{''.join(out)})"


@lru_cache(maxsize=65536)
def _compiled(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(expression)
    except re.error as error:
        raise PatternError(_INVALID(expression=repr(expression), error=error)) from None


def matches(rule: Rule, target: Target, *, fold_case: bool = False) -> bool:
    """Whether the rule's pattern covers the target, ignoring its domain."""
    if is_regex(rule):
        (expression,) = expressions(rule, fold_case=fold_case)
        pattern = _compiled(_as_python(expression))
        text = normal(str(target))
        return bool(pattern.search(text) or pattern.search(text.partition(":")[2]))
    text = folded(str(target), fold_case)
    return any(_compiled(expression).fullmatch(text) for expression in expressions(rule, fold_case=fold_case))


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
        return next(iter(self.all_matches(domain, target)), None)
