"""Which rules can never decide; a rule is only called shadowed when the other one wins wherever it matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.patterns import Rule
from holdfast.core.targets import Target
from holdfast.doors.web.shadowing import shadows
from holdfast.rule_index import RuleIndex


def shadowed(*rules):
    return shadows(RuleIndex([Rule(domain, pattern, "ask") for domain, pattern in rules]))


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ((("bash", "git push *"), ("bash", "git *")), {0: 1}),
        ((("bash", "git *"), ("bash", "git push *")), {}),
        ((("bash", "ls"), ("bash", "*")), {0: 1}),
        ((("bash", "ls"), ("bash", "ls")), {0: 1}),
        ((("edit", "vault:/src/**"), ("edit", "vault:/**")), {0: 1}),
        ((("edit", "vault:/src/**"), ("edit", "vault:/src/*")), {}),
        ((("edit", "vault:/src/*"), ("edit", "vault:/src/**")), {0: 1}),
        ((("edit", "vault:/a"), ("read", "vault:/**")), {}),
        ((("edit", "vault:/a.py"), ("edit", "fs:/**")), {}),
        ((("bash", "regex:^git"), ("bash", "*")), {}),
        ((("bash", "a*"), ("bash", "a?")), {}),
        ((("bash", "a?"), ("bash", "a*")), {0: 1}),
        ((("web_fetch", "url:https://a.org/*"), ("web_fetch", "url:https://a.org/**")), {0: 1}),
        ((("mcp", "mcp:github/create_issue"), ("mcp", "mcp:github/*")), {0: 1}),
        ((("bash", "git *"), ("bash", "ls"), ("bash", "*")), {0: 2, 1: 2}),
    ],
)
def test_PE3_what_a_later_rule_covers_is_shadowed(rules, expected):
    assert shadowed(*rules) == expected


def test_PE3_a_rule_that_does_not_always_count_shadows_nothing():
    rules = [
        Rule("bash", "ls", "deny"),
        Rule("bash", "*", "allow", only="read_only"),
        Rule("bash", "*", "ask", expires=9),
    ]
    assert shadows(RuleIndex(rules)) == {}


TEXT = st.lists(st.sampled_from(["a", "b", " ", "*", "?", "**"]), min_size=1, max_size=5).map("".join)


@given(TEXT, TEXT, st.lists(st.sampled_from("ab "), max_size=6).map("".join))
def test_PE3_no_target_of_a_shadowed_command_is_decided_by_it(first, second, text):
    index = RuleIndex([Rule("bash", f"shell:{first}", "allow"), Rule("bash", f"shell:{second}", "ask")])
    matching = index.all_matches("bash", Target("shell", text))
    if 0 in shadows(index) and matching:
        assert matching[0] is index.rules[1]


PATH = st.lists(st.sampled_from(["a", "b", "*", "?", "**", "a*"]), min_size=1, max_size=4).map("/".join)


@given(PATH, PATH, st.lists(st.sampled_from(["a", "b", "ab"]), max_size=4).map("/".join))
def test_PE3_no_file_of_a_shadowed_rule_is_decided_by_it(first, second, path):
    index = RuleIndex([Rule("edit", f"vault:/{first}", "allow"), Rule("edit", f"vault:/{second}", "ask")])
    matching = index.all_matches("edit", Target("vault", f"/{path}"))
    if 0 in shadows(index) and matching:
        assert matching[0] is index.rules[1]
