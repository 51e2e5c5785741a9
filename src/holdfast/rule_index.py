"""Finding the rules about a target among ten thousand, in the time of a few.

Plain path globs are looked up by the names they insist on (`path_rules`). For the others RE2's filter finds the literal
pieces of all patterns in the target at once; only patterns whose pieces are there are tried. RE2 takes linear time
whatever the pattern, so a hostile `regex:` cannot stall a decision. The answers are those of
`core.patterns.LinearMatcher`; a property test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import re2  # type: ignore[import-untyped]

from holdfast.core.default_rules import default_rules
from holdfast.core.patterns import PatternError, Rule, at_home, expressions, file_globs, folded, is_regex, normal
from holdfast.core.rule_templates import template_rules
from holdfast.core.settings import PermissionSettings
from holdfast.core.targets import DOMAINS, Domain, Scheme, Target
from holdfast.path_rules import PathRules, PlainGlob, plain_glob


class RuleIndex:
    """The matcher that decides in earnest. Building it checks every rule; `PatternError` names all bad ones."""

    def __init__(self, rules: Iterable[Rule], *, fold_case: bool = False) -> None:
        self._fold_case = fold_case
        self.rules: tuple[Rule, ...] = tuple(rules)
        problems: list[str] = []
        self._domains: dict[Domain, _DomainIndex] = {
            domain: _DomainIndex([rule for rule in self.rules if rule.domain == domain], fold_case, problems)
            for domain in DOMAINS
        }
        if problems:
            raise PatternError("\n".join(problems))

    def all_matches(self, domain: Domain, target: Target) -> Sequence[Rule]:
        """Every matching rule, the deciding one first; those after it are shadowed."""
        return self._domains[domain].all_matches(target)

    def match(self, domain: Domain, target: Target) -> Rule | None:
        found = self._domains[domain].all_matches(target)
        return found[0] if found else None


def covers(rule: Rule, target: Target, *, fold_case: bool = False) -> bool:
    """Whether one rule covers a target, whatever its domain: `core.patterns.matches`, by the same engine."""
    return bool(_alone(rule, fold_case).all_matches(rule.domain, target))


@lru_cache(maxsize=256)
def _alone(rule: Rule, fold_case: bool) -> RuleIndex:
    return RuleIndex([rule], fold_case=fold_case)


@lru_cache(maxsize=4096)  # most rules are the same in every index: the built-in ones, and the old ones of a new file
def _parts(rule: Rule, fold_case: bool) -> tuple[tuple[Scheme, str, PlainGlob | None], ...]:
    """What a rule comes down to: its expressions, each as a plain glob too where it is one."""
    found = expressions(rule, fold_case=fold_case)
    no_glob: list[tuple[Scheme, str]] = [("vault", "")]
    globs = list(file_globs(rule, fold_case=fold_case).items()) or no_glob * len(found)
    return tuple(
        (scheme, expression, plain_glob(glob)) for (scheme, glob), expression in zip(globs, found, strict=True)
    )


class _DomainIndex:
    def __init__(self, rules: Sequence[Rule], fold_case: bool, problems: list[str]) -> None:
        self._rules = rules
        self._fold_case = fold_case
        self._globs = _Filter()
        self._regexes = _Filter()
        plain: dict[Scheme, list[tuple[int, PlainGlob]]] = {"vault": [], "fs": []}
        waiting: dict[tuple[Scheme, int], str] = {}
        for position, rule in enumerate(rules):
            try:
                for scheme, expression, glob in _parts(rule, fold_case):
                    if glob is not None:
                        plain[scheme].append((position, glob))
                        waiting[scheme, position] = expression
                    else:
                        self._add(rule, expression, position)
            except (PatternError, re2.error) as error:
                problems.append(f"{_place(rule)}: {_said(rule, error)}")
        self._paths = {scheme: PathRules(globs) for scheme, globs in plain.items()}
        for scheme, paths in self._paths.items():
            for position in paths.refused:
                self._add(rules[position], waiting[scheme, position], position)
        self._globs.compile()
        self._regexes.compile()

    def _add(self, rule: Rule, expression: str, position: int) -> None:
        if is_regex(rule):
            self._regexes.add(expression, position)
        else:
            self._globs.add(f"^{expression}$", position)

    def all_matches(self, target: Target) -> Sequence[Rule]:
        whole = str(target)
        text = folded(whole, self._fold_case)
        positions = self._globs.found(text)
        paths = self._paths.get(target.scheme)
        if paths is not None:
            value = text.partition(":")[2]
            if value.startswith("/"):
                positions |= paths.found(value)
        if self._regexes.size:
            plain = normal(whole)
            positions |= self._regexes.found(plain) | self._regexes.found(plain.partition(":")[2])
        rules = self._rules
        return [rules[position] for position in sorted(positions, reverse=True)]


class _Filter:
    """Patterns by position; several patterns may belong to one position."""

    __slots__ = ("_filter", "_options", "_positions", "size")

    def __init__(self) -> None:
        self._filter = re2.Filter()
        self._options = re2.Options()
        self._options.log_errors = False
        self._options.never_capture = True
        self._positions: list[int] = []
        self.size = 0

    def add(self, expression: str, position: int) -> None:
        try:
            self._filter.Add(expression, self._options)
        except re2.error:
            re2.compile(expression, self._options)  # says what is wrong, which the filter does not
            raise
        self._positions.append(position)

    def compile(self) -> None:
        self.size = len(self._positions)
        if self.size:
            self._filter.Compile()

    def found(self, text: str) -> set[int]:
        """Positions of the patterns that match."""
        if not self.size:
            return set()
        positions = self._positions
        return {positions[index] for index in self._filter.Match(text.encode("utf-8")) or ()}


def _place(rule: Rule) -> str:
    if rule.line is not None:
        return f"{rule.source}:{rule.line}"
    return rule.source if rule.index is None else f"{rule.source}, rule {rule.index + 1}"


def _said(rule: Rule, error: Exception) -> str:
    if isinstance(error, PatternError):
        return str(error)
    said = error.args[0] if error.args else ""
    reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return (
        f"RE2 cannot take the pattern {rule.pattern!r}: {reason}. Lookaround, backreferences and possessive operators "
        "do not exist there: write the exception as a rule of its own below this one, for the last match wins"
    )


def rule_list(
    permission: PermissionSettings,
    *,
    user_rules: Iterable[Rule],
    inline_rules: Iterable[Rule] = (),
    mcp_servers: Iterable[str] = (),
    readable: Iterable[str] = (),
    home: str = "",
) -> list[Rule]:
    """All rules in force, in their order: built-in, templates, user, inline (PE3). `home` is what `~` stands for."""
    own = [*user_rules, *inline_rules]
    return [
        *default_rules(outside_edit=permission.outside_edit, mcp_servers=mcp_servers, readable=readable),
        *template_rules(permission.templates),
        *((at_home(rule, home) for rule in own) if home else own),
    ]
