"""Whether a permission rule can work at all: its scheme fits its domain, and RE2 takes its expression (PE3)."""

from __future__ import annotations

import re
from functools import lru_cache

from holdfast.core.messages import Message, Phrase
from holdfast.core.patterns import REGEX_PREFIX, PatternError, expressions
from holdfast.core.settings import RuleSetting

_LOOKAROUND = Phrase(
    "rule.lookaround",
    "RE2 has no lookaround {operator}; write the wide pattern as one rule and the exception as another one below it: "
    "the last rule that matches decides",
    "RE2 不支持环视 {operator}；请把宽泛的模式写成一条规则，把例外写成它下面的另一条：最后一条匹配的规则作出决定",
)
_BACKREFERENCE = Phrase(
    "rule.backreference",
    "RE2 has no backreference {operator}; write the alternatives out, as in (?:aa|bb)",
    "RE2 不支持反向引用 {operator}；请把各种情况写出来，例如 (?:aa|bb)",
)
_POSSESSIVE = Phrase(
    "rule.possessive",
    "RE2 has no possessive or atomic group {operator}; leave it out: RE2 never backtracks, so nothing is gained by it",
    "RE2 不支持占有量词或原子组 {operator}；请去掉它：RE2 从不回溯，不需要它",
)
_CONDITIONAL = Phrase(
    "rule.conditional",
    "RE2 has no conditional {operator}; write one rule for each case",
    "RE2 不支持条件组 {operator}；请为每种情况各写一条规则",
)
_COMMENT = Phrase(
    "rule.comment",
    "RE2 has no comment in an expression {operator}; put the comment into config.jsonc, above the rule",
    "RE2 不支持表达式内的注释 {operator}；请把注释写在 config.jsonc 中该规则的上方",
)
_REPETITION = Phrase(
    "rule.repetition",
    "RE2 has no repetition {operator}; repeat at most 1000 times, counting nested repetitions together",
    "RE2 不支持重复 {operator}；最多重复 1000 次，嵌套的重复合并计算",
)
_ESCAPE = Phrase(
    "rule.escape",
    "RE2 has no escape {operator}; write \\z for the end of the text",
    "RE2 不支持转义 {operator}；文本结尾请写 \\z",
)
_CLASS = Phrase(
    "rule.class",
    "RE2 has no character class {operator}; use a Unicode category or script, such as \\p{{L}} or \\p{{Han}}",
    "RE2 不支持字符类 {operator}；请用 Unicode 类别或文字，例如 \\p{{L}} 或 \\p{{Han}}",
)
_REFUSED_BY_RE2 = Phrase(
    "rule.refused",
    "expected an RE2 expression, but {what} {operator}",
    "应为 RE2 表达式，但 RE2 报告：{what} {operator}",
)
_NO_PATTERN = Phrase("rule.no_pattern", "expected a pattern, got ''", "应有模式，实际为空")
# what RE2 refuses -> what it is called, and the way out
_REFUSED = (
    (r"\(\?<?[=!]$", _LOOKAROUND),
    (r"\\[1-9]$|\\k$|\(\?P=?$|\\g$", _BACKREFERENCE),
    (r"\(\?>$|[*+?}]\+$", _POSSESSIVE),
    (r"\(\?\($", _CONDITIONAL),
    (r"\(\?#$", _COMMENT),
    (r"^\{\d+(,\d*)?\}$", _REPETITION),
    (r"\\Z$", _ESCAPE),
    (r"\\[pP]\{", _CLASS),
)


def rule_problem(rule: RuleSetting) -> Message | None:
    """What is wrong with the rule, or None."""
    return _pattern_problem(rule.domain, rule.pattern) if rule.pattern else _NO_PATTERN()


@lru_cache(maxsize=65536)
def _pattern_problem(domain: str, pattern: str) -> Message | None:
    rule = RuleSetting(domain, pattern, "ask").rule("", None, 0)  # type: ignore[arg-type]
    try:
        made = expressions(rule)
    except PatternError as error:
        return error.message
    if pattern.startswith(REGEX_PREFIX):
        return _refusal(pattern[len(REGEX_PREFIX) :])
    # a glob becomes an expression of ours; only brackets and braces could make one that RE2 refuses
    if any(char in pattern for char in "[{"):
        return next((said for text in made if (said := _refusal(text))), None)
    return None


def _refusal(expression: str) -> Message | None:
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 (most configurations hold no expression)

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(expression, options)
    except re2.error as error:
        said = error.args[0]
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        what, _, operator = said.rpartition(": ")
        for pattern, phrase in _REFUSED:
            if re.search(pattern, operator):
                return phrase(operator=repr(operator))
        return _REFUSED_BY_RE2(what=what or said, operator=repr(operator))
    return None
