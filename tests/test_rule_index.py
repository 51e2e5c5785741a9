"""The index answers what the reference answers, and cannot be stalled (PE3)."""

import random
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.core.patterns import LinearMatcher, PatternError, Rule
from holdfast.core.settings import PermissionSettings
from holdfast.core.targets import Target
from holdfast.rule_index import RuleIndex, rule_list

pytestmark = pytest.mark.slow

SCHEMES = {
    "read": ("vault", "fs"),
    "edit": ("vault", "fs"),
    "bash": ("shell",),
    "web_fetch": ("url",),
    "web_search": ("query",),
    "mcp": ("mcp",),
}
LETTERS = "abAB1/.*?[]{}!^-,\\ \n$+()|~#&_éÉe\u0301ß中文\U0001f600"
pieces = st.text(st.sampled_from(LETTERS), max_size=8)
names = st.sampled_from(
    ["src", "a.py", "*.py", "**", "*", ".env", "{a,b}", "[a-c]x", "x?z", "é", "https://a.org", "git"]
)
glob_values = st.one_of(pieces, st.lists(names, min_size=1, max_size=4).map("/".join))
regex_bodies = st.sampled_from(
    [
        "^a",
        "b$",
        "a.b",
        "[a-c]+",
        "(a|b)*c",
        r"\.env",
        "^/src/",
        "^$",
        r"\d",
        r"^git\b",
        "a{2,3}",
        r"\z",
        "x|^b",
        "[^/]$",
    ]
)


@st.composite
def rules_and_targets(draw):
    domain = draw(st.sampled_from(sorted(SCHEMES)))
    scheme = draw(st.sampled_from(SCHEMES[domain]))
    patterns = st.one_of(
        glob_values.map(lambda value: f"{scheme}:{value}"),
        glob_values.filter(lambda value: ":" not in value),
        regex_bodies.map("regex:".__add__),
    )
    decisions = st.sampled_from(["allow", "ask", "deny"])
    rules = draw(st.lists(st.builds(Rule, st.just(domain), patterns, decisions), max_size=12))
    made = [Rule(r.domain, r.pattern, r.decision, "user", None, i) for i, r in enumerate(rules)]
    values = draw(st.lists(glob_values, min_size=1, max_size=4))
    return domain, made, [Target(scheme, "/" + value if scheme in ("vault", "fs") else value) for value in values]


def order(rules):
    return [rule.index for rule in rules]


@settings(max_examples=500)
@given(rules_and_targets())
@example(("read", [Rule("read", "vault:/*.md", "allow", index=0)], [Target("vault", "/a.md\n")]))
@example(("read", [Rule("read", "vault:/A", "allow", index=0)], [Target("vault", "/a")]))
@example(("read", [Rule("read", "vault:/é", "allow", index=0)], [Target("vault", "/É"), Target("vault", "/e\u0301")]))
def test_PE3_the_index_equals_the_reference(case):
    domain, rules, targets = case
    index, reference = RuleIndex(rules), LinearMatcher(rules)
    for target in targets:
        assert order(index.all_matches(domain, target)) == order(reference.all_matches(domain, target))
        assert index.match(domain, target) is reference.match(domain, target)


@settings(max_examples=200)
@given(rules_and_targets())
def test_PE3_the_index_equals_the_reference_where_case_is_folded(case):
    domain, rules, targets = case
    index, reference = RuleIndex(rules, fold_case=True), LinearMatcher(rules, fold_case=True)
    for target in targets:
        assert order(index.all_matches(domain, target)) == order(reference.all_matches(domain, target))


PARTS = st.sampled_from(
    ["a", "b", "c", "src", "*", "**", "a*", "*b", "a*b", "*.py", "x.py", "", "a**", "**b", "***", "é"]
)
PATHS = st.lists(st.sampled_from(["a", "b", "c", "src", "ab", "aXb", "x.py", "", "é"]), max_size=6).map("/".join)


@settings(max_examples=500)
@given(
    st.lists(st.lists(PARTS, min_size=1, max_size=6).map("/".join), min_size=1, max_size=60),
    st.lists(PATHS, min_size=1, max_size=6),
    st.sampled_from(["vault:", "vault:/", ""]),
)
def test_PE3_the_index_equals_the_reference_on_plain_globs(globs, paths, lead):
    # more rules than one name may tell apart, too
    rules = [Rule("read", lead + glob, "allow", "user", None, i) for i, glob in enumerate(globs)]
    index, reference = RuleIndex(rules), LinearMatcher(rules)
    for path in paths:
        target = Target("vault", "/" + path)
        assert order(index.all_matches("read", target)) == order(reference.all_matches("read", target))


def test_PE3_the_index_equals_the_reference_on_thousands_of_rules():
    chance = random.Random(7)
    words = [f"w{number}" for number in range(40)]

    def path(extra=()):
        return "/".join(chance.choice([*words, *extra]) for _ in range(chance.randint(1, 5)))

    wild = ("*", "**", "w1*", "*2", "w?", "{w1,w2}", "[w]3", "regex")
    rules = [Rule("edit", f"vault:/{path(wild)}", "deny", "user", None, i) for i in range(3000)]
    index, reference = RuleIndex(rules), LinearMatcher(rules)
    for _ in range(60):
        target = Target("vault", "/" + path())
        assert order(index.all_matches("edit", target)) == order(reference.all_matches("edit", target))


def test_PE3_the_index_equals_the_reference_on_all_built_in_rules():
    rules = rule_list(
        PermissionSettings(templates=("read-only-commands", "package-tests", "git-read", "web-docs")),
        user_rules=[],
        mcp_servers=["github", "a*b"],
        readable=["/home/u/.holdfast/data/outputs"],
    )
    index, reference = RuleIndex(rules), LinearMatcher(rules)
    for text in (
        "vault:/.env", "vault:/a/b.PEM", "fs:/home/u/.ssh", "fs:/home/u/.ssh/known_hosts", "vault:/", "fs:/",
        "fs:/home/u/.holdfast/data/outputs/1.txt", "vault:/config/Login Data", "vault:/a\nb.key",
    ):  # fmt: skip
        for domain in ("read", "edit"):
            target = Target.parse(text)
            assert order(index.all_matches(domain, target)) == order(reference.all_matches(domain, target))
    for domain, text in (
        ("bash", "shell:npm test"),
        ("mcp", "mcp:a*b/c"),
        ("mcp", "mcp:axb/c"),
        ("web_fetch", "url:https://docs.rs/x"),
    ):
        target = Target.parse(text)
        assert order(index.all_matches(domain, target)) == order(reference.all_matches(domain, target))


def test_PE3_a_hostile_expression_cannot_stall_a_decision():
    rules = [Rule("bash", "regex:^(a+)+$", "deny"), Rule("bash", "*a*a*a*a*a*a*a*a*a*a*a*a*b", "deny")]
    index = RuleIndex(rules)
    started = time.perf_counter()
    assert index.match("bash", Target("shell", "a" * 5000 + "!")) is None
    # `re` would need longer than the universe has time; RE2 takes milliseconds
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    ("pattern", "operator"),
    [(r"regex:^(?!rm)", "(?!"), (r"regex:(a)\1", r"\1"), (r"regex:(?<=x)y", "(?<="), ("regex:(", "missing )")],
)
def test_PE3_what_RE2_cannot_take_is_named_with_its_place_and_the_way_out(pattern, operator):
    rule = Rule("bash", pattern, "deny", source="/home/u/.holdfast/config.jsonc", line=12)
    with pytest.raises(PatternError) as caught:
        RuleIndex([Rule("bash", "*", "ask"), rule])
    text = str(caught.value)
    assert "/home/u/.holdfast/config.jsonc:12" in text
    assert operator in text
    assert "the last match wins" in text


def test_PE3_every_bad_rule_is_named_not_only_the_first():
    with pytest.raises(PatternError) as caught:
        RuleIndex([Rule("bash", "regex:(", "ask", "a", 1), Rule("read", "shell:x", "ask", "a", 2)])
    assert "a:1" in str(caught.value)
    assert "a:2" in str(caught.value)


def test_names_that_are_no_text_do_not_raise():
    index = RuleIndex([Rule("read", "vault:/*.md", "allow")])
    assert index.match("read", Target("vault", "/a\udcff.md")) is not None


def test_PE3_order_is_built_in_templates_user_inline():
    user = [Rule("bash", "u", "ask", "config.jsonc")]
    inline = [Rule("bash", "i", "deny", "inline")]
    rules = rule_list(PermissionSettings(templates=("git-read",)), user_rules=user, inline_rules=inline)
    sources = list(dict.fromkeys(rule.source for rule in rules))
    assert sources == ["built-in", "template git-read", "config.jsonc", "inline"]
