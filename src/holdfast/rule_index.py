"""Finding the rules about a target among ten thousand, in the time of a few.

RE2 takes linear time whatever the pattern, so a hostile `regex:` cannot stall a decision. Its filter first finds the
literal pieces of all patterns in the target at once; only the patterns whose pieces are there are tried. The answers
are those of `core.patterns.LinearMatcher`; a property test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import re2  # type: ignore[import-untyped]

from holdfast.core.default_rules import default_rules
from holdfast.core.patterns import PatternError, Rule, expressions, folded, is_regex, normal
from holdfast.core.rule_templates import template_rules
from holdfast.core.settings import PermissionSettings
from holdfast.core.targets import DOMAINS, Domain, Target


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

    def all_matches(self, domain: Domain, target: Target) -> Iterator[Rule]:
        """Every matching rule, the deciding one first; those after it are shadowed."""
        return self._domains[domain].all_matches(target)

    def match(self, domain: Domain, target: Target) -> Rule | None:
        return next(self._domains[domain].all_matches(target), None)


class _DomainIndex:
    def __init__(self, rules: Sequence[Rule], fold_case: bool, problems: list[str]) -> None:
        self._rules = rules
        self._fold_case = fold_case
        self._globs = _Filter()
        self._regexes = _Filter()
        for position, rule in enumerate(rules):
            try:
                for expression in expressions(rule, fold_case=fold_case):
                    if is_regex(rule):
                        self._regexes.add(expression, position)
                    else:
                        self._globs.add(f"^{expression}$", position)
            except (PatternError, re2.error) as error:
                problems.append(f"{_place(rule)}: {_said(rule, error)}")
        self._globs.compile()
        self._regexes.compile()

    def all_matches(self, target: Target) -> Iterator[Rule]:
        whole = str(target)
        text = folded(whole, self._fold_case)
        if self._regexes.patterns:
            plain = normal(whole)
            value = plain.partition(":")[2]
            return self._merged(text, plain, value)
        return self._from_globs(text)

    def _from_globs(self, text: str) -> Iterator[Rule]:
        rules = self._rules
        for position in self._globs.found(text):
            yield rules[position]

    def _merged(self, text: str, plain: str, value: str) -> Iterator[Rule]:
        positions = {*self._globs.found(text), *self._regexes.found(plain), *self._regexes.found(value)}
        for position in sorted(positions, reverse=True):
            yield self._rules[position]


class _Filter:
    """Patterns by position; several patterns may belong to one position."""

    __slots__ = ("_filter", "_options", "_positions", "patterns")

    def __init__(self) -> None:
        self._filter = re2.Filter()
        self._options = re2.Options()
        self._options.log_errors = False
        self._options.never_capture = True
        self._positions: list[int] = []
        self.patterns: list[re2._Regexp] = []

    def add(self, expression: str, position: int) -> None:
        try:
            self._filter.Add(expression, self._options)
        except re2.error:
            re2.compile(expression, self._options)  # says what is wrong, which the filter does not
            raise
        self._positions.append(position)

    def compile(self) -> None:
        if self._positions:
            self._filter.Compile()
        self.patterns = [self._filter.re(index) for index in range(len(self._positions))]

    def found(self, text: str) -> Iterator[int]:
        """Positions of the patterns that match, highest first."""
        if not self.patterns:
            return
        encoded = text.encode("utf-8")
        last = -1
        for index in sorted(self._filter.Match(encoded, True) or (), reverse=True):
            position = self._positions[index]
            if position != last and self.patterns[index].search(encoded) is not None:
                last = position
                yield position


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
) -> list[Rule]:
    """All rules in force, in their order: built-in, templates, user, inline (PE3)."""
    return [
        *default_rules(outside_edit=permission.outside_edit, mcp_servers=mcp_servers, readable=readable),
        *template_rules(permission.templates),
        *user_rules,
        *inline_rules,
    ]
