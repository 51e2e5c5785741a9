"""Which rules can never decide, because a later one of their domain always wins.

A rule is tried with made-up targets that it matches, its wildcards filled with signs that no other pattern names. A
later rule that matches all of them covers it. What cannot be tried (an expression behind `regex:`) is left open: it is
better to miss a rule that is shadowed than to call one shadowed that is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from holdfast.core.patterns import SCHEMES_OF, Rule, is_regex, split_scheme
from holdfast.core.targets import Target
from holdfast.rule_index import RuleIndex

MOST_TRIED = 1000
_SIGN = "\ue000"
_WILDCARD = re.compile(r"\*\*/|\*\*|\*|\?|\\.", re.DOTALL)
_NAME = 3 * _SIGN
# What a wildcard may stand for: nothing, a sign, a name, much; the last with a step into a folder.
_FILLINGS = (
    {"**/": "", "**": "", "*": ""},
    {"**/": f"{_SIGN}/", "**": _SIGN, "*": _SIGN},
    {"**/": f"{_NAME}/{_NAME}/", "**": f"{_NAME}/{_NAME}.{_SIGN}", "*": f"{_SIGN} {_NAME}"},
    {"**/": f"{_NAME}/{_SIGN}/{_NAME}/", "**": f"{_NAME}/{_SIGN}/{_NAME}", "*": f"{_SIGN}/{_SIGN} -{_NAME}"},
)
# A pattern that ends so also means what stands before it: `git status *` a bare `git status`, `docs/**` the folder.
_OPEN_ENDS = (" *", "/**")
_STARTS = ("", "/", f"/{_SIGN}/{_SIGN}/")


@lru_cache(maxsize=4)
def shadows(index: RuleIndex, first: int = 0) -> Mapping[int, int]:
    """The order of each rule that never decides, with the order of the rule that always wins over it.

    Rules below the place `first` are not looked at. An index never changes, so the answer is kept for the next look.
    """
    order = {id(rule): place for place, rule in enumerate(index.rules)}
    found: dict[int, int] = {}
    for place, rule in list(enumerate(index.rules))[first:][-MOST_TRIED:]:
        winner = _winner(index, rule, place, order)
        if winner is not None:
            found[place] = winner
    return found


def _winner(index: RuleIndex, rule: Rule, place: int, order: dict[int, int]) -> int | None:
    common: set[int] | None = None
    for target in _samples(rule):
        matching = [order[id(other)] for other in index.all_matches(rule.domain, target)]
        if place in matching:
            later = {other for other in matching if other > place and _always_counts(index.rules[other])}
            common = later if common is None else common & later
            if not common:
                return None
    return max(common) if common else None


def _always_counts(rule: Rule) -> bool:
    """A rule that expires, or that counts for some commands only, does not always win."""
    return rule.expires is None and not rule.only


def _samples(rule: Rule) -> Iterator[Target]:
    if is_regex(rule) or "{" in rule.pattern or "[" in rule.pattern:
        return
    given, value = split_scheme(rule.pattern)
    schemes = (given,) if given is not None else SCHEMES_OF[rule.domain]
    values = [value]
    while end := next((end for end in _OPEN_ENDS if values[-1].endswith(end)), ""):
        values.append(values[-1].removesuffix(end))
    for text in dict.fromkeys(_filled(value, filling) for value in values for filling in _FILLINGS):
        for scheme in schemes:
            for start in _STARTS if rule.domain in ("read", "edit") else ("",):
                yield Target(scheme, start + text)


def _filled(value: str, filling: Mapping[str, str]) -> str:
    """`?` is one sign always; a backslash takes the sense from what follows it."""
    known = {**filling, "?": _SIGN}
    return _WILDCARD.sub(lambda found: known.get(found[0], found[0][1:]), value)
