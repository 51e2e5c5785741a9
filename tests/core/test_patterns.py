"""Globs and expressions over targets: what each means, and that none means more (PE3)."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.core.patterns import (
    LinearMatcher,
    PatternError,
    Rule,
    at_home,
    escaped,
    expressions,
    is_literal,
    matches,
)
from holdfast.core.targets import Target


def covers(domain, pattern, target, *, fold_case=False):
    return matches(Rule(domain, pattern, "allow"), Target.parse(target), fold_case=fold_case)


@pytest.mark.parametrize(
    ("domain", "pattern", "target", "expected"),
    [
        # `*` stops at `/` in paths, URLs and MCP names
        ("read", "vault:/src/*.py", "vault:/src/a.py", True),
        ("read", "vault:/src/*.py", "vault:/src/b/a.py", False),
        ("web_fetch", "url:https://a.org/*", "url:https://a.org/x", True),
        ("web_fetch", "url:https://a.org/*", "url:https://a.org/x/y", False),
        ("mcp", "mcp:github/*", "mcp:github/create_issue", True),
        ("mcp", "mcp:*", "mcp:github/create_issue", True),
        ("mcp", "mcp:git*", "mcp:github/create_issue", True),
        ("mcp", "mcp:github", "mcp:github/create_issue", True),
        ("mcp", "mcp:github", "mcp:github2/create_issue", False),
        # but not in commands and queries
        ("bash", "shell:*", "shell:cat /etc/passwd", True),
        ("bash", "*", "shell:cat /etc/passwd", True),
        ("bash", "shell:*", "shell:printf 'a\nb' /x", True),
        ("bash", "git *", "shell:git log -- a/b", True),
        ("web_search", "*python*", "query:new in python 3.14 / asyncio", True),
        # `**` crosses it, as a whole component only
        ("read", "vault:/**/a.py", "vault:/a.py", True),
        ("read", "vault:/**/a.py", "vault:/x/y/a.py", True),
        ("read", "vault:/src/**", "vault:/src/x/y", True),
        ("read", "vault:/src/**", "vault:/src", True),
        ("read", "vault:/src/**", "vault:/srcs", False),
        ("read", "vault:/src**", "vault:/src/x", False),
        ("read", "vault:/**", "vault:/", True),
        # `vault:**/x` equals `vault:/**/x`
        ("read", "vault:**/*.env*", "vault:/.env", True),
        ("read", "vault:**/*.env*", "vault:.env", True),
        ("read", "vault:**/*.env*", "vault:/a/b/prod.env.local", True),
        ("read", "vault:**/*.md", "vault:/a/b.md", True),
        # without a scheme: every target of the domain
        ("read", "*.pem", "vault:/deep/er/x.pem", True),
        ("read", "*.pem", "fs:/etc/ssl/x.pem", True),
        ("read", "**", "fs:/etc/ssl/x.pem", True),
        ("read", "*", "fs:/etc/ssl/x.pem", True),
        ("read", "/etc/*", "fs:/etc/hosts", True),
        ("read", "/etc/*", "vault:/etc/hosts", True),
        ("read", "/etc/*", "fs:/etc/ssl/x", False),
        ("web_fetch", "*", "url:https://a.org/x/y", True),
        ("web_fetch", "a.org/**", "url:http://a.org/x/y", True),
        # an argument list may be empty; a longer name is another command
        ("bash", "git status *", "shell:git status", True),
        ("bash", "git status *", "shell:git status -s", True),
        ("bash", "git status *", "shell:git status-all", False),
        ("bash", "git status", "shell:git status -s", False),
        ("bash", "shell:git status *", "shell:git stash", False),
        # braces and classes
        ("read", "vault:/{a,b}/*.{py,md}", "vault:/b/x.md", True),
        ("read", "vault:/{a,b}/*.{py,md}", "vault:/c/x.md", False),
        ("read", "vault:/a{,.bak}", "vault:/a", True),
        ("read", "vault:/file[0-9].txt", "vault:/file7.txt", True),
        ("read", "vault:/file[!0-9].txt", "vault:/file7.txt", False),
        ("read", "vault:/a[!x]b", "vault:/a/b", False),
        ("read", "vault:/a[+-9]b", "vault:/a/b", False),
        ("read", "vault:/a[+-9]b", "vault:/a5b", True),
        ("read", "vault:/a[/]b", "vault:/a/b", False),
        ("read", "vault:/a[", "vault:/a[", True),
        ("read", "vault:/a{b", "vault:/a{b", True),
        ("read", r"vault:/a\*b", "vault:/a*b", True),
        ("read", r"vault:/a\*b", "vault:/axb", False),
        ("bash", "awk '{print $1}' *", "shell:awk '{print $1}' x", True),
        ("bash", "echo {a,b}", "shell:echo a", False),
        # a line break in a name changes nothing about where a pattern ends
        ("read", "vault:/*.md", "vault:/a.md\n", False),
        ("read", "vault:/*.md", "vault:/a\nb.md", True),
        ("read", "vault:/a", "vault:/a\n", False),
        # expressions: anywhere, in the whole text or in the value
        ("bash", "regex:^git (status|log)", "shell:git log", True),
        ("bash", "regex:^shell:git ", "shell:git log", True),
        ("bash", "regex:^git$", "shell:git\n", False),
        ("bash", r"regex:^git\z", "shell:git", True),
        ("bash", "regex:push", "shell:git push", True),
        ("bash", "regex:^push", "shell:git push", False),
        ("bash", r"regex:\d", "shell:echo ٣", False),
        # unicode forms of one name
        ("read", "vault:/caf\u00e9.md", "vault:/cafe\u0301.md", True),
        ("read", "vault:/文档/*.md", "vault:/文档/设计.md", True),
    ],
)
def test_PE3_what_a_pattern_covers(domain, pattern, target, expected):
    assert covers(domain, pattern, target) is expected


def test_PE3_a_scheme_that_its_domain_never_has_is_refused():
    with pytest.raises(PatternError, match=r"shell:ls.*domain 'read' begin with vault:, fs:"):
        expressions(Rule("read", "shell:ls", "allow"))


def test_PE3_last_match_wins_and_the_others_are_shadowed():
    first = Rule("read", "vault:/**", "allow")
    second = Rule("read", "*.md", "deny")
    third = Rule("read", "vault:/docs/*", "ask")
    matcher = LinearMatcher([first, second, third])
    assert list(matcher.all_matches("read", Target("vault", "/docs/a.md"))) == [third, second, first]
    assert matcher.match("read", Target("vault", "/a.md")) is second
    assert matcher.match("read", Target("fs", "/a.txt")) is None


def test_PE3_rules_of_another_domain_do_not_count():
    assert LinearMatcher([Rule("edit", "**", "allow")]).match("read", Target("vault", "/a")) is None


@pytest.mark.parametrize(
    ("pattern", "target"),
    [
        ("*.ENV*", "vault:/.env"),
        ("vault:/SRC/**", "vault:/src/a"),
        ("vault:/stra\u00dfe", "vault:/STRASSE"),
        ("regex:^/SRC/", "vault:/src/a"),
    ],
)
def test_PE3_case_is_folded_where_the_disk_folds_it(pattern, target):
    assert covers("read", pattern, target, fold_case=True)
    assert not covers("read", pattern, target)


@pytest.mark.parametrize(
    ("domain", "pattern", "expected"),
    [
        ("bash", "shell:git status", True),
        ("bash", "git status", True),
        ("bash", "awk '{print}' x", True),
        ("bash", "git status *", False),
        ("bash", "git statu?", False),
        ("bash", "regex:^git$", False),
        ("read", "vault:/a.md", True),
        ("read", "a.md", False),
        ("read", "vault:/{a,b}", False),
        ("web_fetch", "url:https://a.org/x", True),
        ("web_fetch", "url:a.org", False),
        ("mcp", "mcp:a/b", True),
        ("mcp", "mcp:a", False),
    ],
)
def test_a_literal_pattern_stands_for_one_target(domain, pattern, expected):
    assert is_literal(Rule(domain, pattern, "allow")) is expected


def test_PE3_a_tilde_stands_for_the_users_home():
    rule = at_home(Rule("read", "~/notes/*.md", "allow"), "/home/u[1]")
    assert matches(rule, Target("fs", "/home/u[1]/notes/a.md"))
    assert not matches(rule, Target("fs", "/home/u1/notes/a.md"))
    assert at_home(Rule("edit", "fs:~/x", "deny"), "/h").pattern == "fs:/h/x"
    assert at_home(Rule("bash", "~/x", "deny"), "/h").pattern == "~/x"


values = st.text(st.sampled_from("ab/*?[]{}!,\\-^. \nÀé中"), max_size=12)
SCHEME_DOMAIN = {"vault": "read", "fs": "read", "shell": "bash", "query": "web_search"}


@given(st.sampled_from(sorted(SCHEME_DOMAIN)), values, values)
@example("shell", "echo *", "echo \\*")
def test_an_escaped_target_matches_itself_and_nothing_else(scheme, value, other):
    path = scheme in ("vault", "fs")
    target = Target(scheme, "/" + value if path else value)
    rule = Rule(SCHEME_DOMAIN[scheme], escaped(target), "allow")
    assert matches(rule, target)
    different = Target(scheme, "/" + other if path else other)
    # only the unicode form may differ
    if matches(rule, different):
        assert LinearMatcher([Rule(rule.domain, escaped(different), "allow")]).match(rule.domain, target)


@given(values, values)
def test_no_pattern_raises_and_all_mean_the_same_twice(pattern, value):
    for domain, scheme in (("read", "vault"), ("bash", "shell"), ("mcp", "mcp")):
        target = Target(scheme, "/" + value if scheme == "vault" else value)
        rule = Rule(domain, f"{scheme}:{pattern}", "allow")
        assert matches(rule, target) == matches(rule, target)


def test_names_that_are_no_text_match_by_their_shape():
    target = Target("vault", "/a\udcff.md")
    assert matches(Rule("read", "vault:/*.md", "allow"), target)
