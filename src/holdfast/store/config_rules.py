"""Whether a permission rule can work at all: its scheme fits its domain, and RE2 takes its expression (PE3)."""

from __future__ import annotations

import re
from functools import lru_cache

from holdfast.core.patterns import REGEX_PREFIX, PatternError, expressions
from holdfast.core.settings import RuleSetting

_EXCEPTION = (
    "write the wide pattern as one rule and the exception as another one below it: the last rule that matches decides"
)
# what RE2 refuses -> what it is called, and the way out
_REFUSED = (
    (r"\(\?<?[=!]$", "lookaround", _EXCEPTION),
    (r"\\[1-9]$|\\k$|\(\?P=?$|\\g$", "backreference", "write the alternatives out, as in (?:aa|bb)"),
    (
        r"\(\?>$|[*+?}]\+$",
        "possessive or atomic group",
        "leave it out: RE2 never backtracks, so nothing is gained by it",
    ),
    (r"\(\?\($", "conditional", "write one rule for each case"),
    (r"\(\?#$", "comment in an expression", "put the comment into config.jsonc, above the rule"),
    (r"^\{\d+(,\d*)?\}$", "repetition", "repeat at most 1000 times, counting nested repetitions together"),
    (r"\\Z$", "escape", r"write \z for the end of the text"),
    (r"\\[pP]\{", "character class", r"use a Unicode category or script, such as \p{L} or \p{Han}"),
)


def rule_problem(rule: RuleSetting) -> str | None:
    """What is wrong with the rule, or None."""
    return _pattern_problem(rule.domain, rule.pattern) if rule.pattern else "expected a pattern, got ''"


@lru_cache(maxsize=65536)
def _pattern_problem(domain: str, pattern: str) -> str | None:
    rule = RuleSetting(domain, pattern, "ask").rule("", None, 0)  # type: ignore[arg-type]
    try:
        made = expressions(rule)
    except PatternError as error:
        return str(error)
    if pattern.startswith(REGEX_PREFIX):
        return _refusal(pattern[len(REGEX_PREFIX) :])
    # a glob becomes an expression of ours; only brackets and braces could make one that RE2 refuses
    if any(char in pattern for char in "[{"):
        return next((said for text in made if (said := _refusal(text))), None)
    return None


def _refusal(expression: str) -> str | None:
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 (most configurations hold no expression)

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(expression, options)
    except re2.error as error:
        said = error.args[0]
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        what, _, operator = said.rpartition(": ")
        for pattern, name, way_out in _REFUSED:
            if re.search(pattern, operator):
                return f"RE2 has no {name} {operator!r}; {way_out}"
        return f"expected an RE2 expression, but {what or said} {operator!r}"
    return None
